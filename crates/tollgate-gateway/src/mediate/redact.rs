//! Messages made safe for a log: on one line, and without secrets.
//!
//! It reads no format: a body may be cut off, or be broken. The value after a name with a word like `password` in it is
//! left out, as the text of an element, the value of an attribute, in JSON or in a form. It hides too much rather than
//! too little.

/// Words that make a field or a value a secret, anywhere in its name.
const SECRET_WORDS: [&str; 8] =
    ["password", "passwd", "secret", "token", "credential", "authorization", "cookie", "api-key"];

const HIDDEN: &str = "******";

/// A field's value, made safe.
pub(super) fn field(name: &str, value: &[u8]) -> String {
    let name = name.to_ascii_lowercase();
    if SECRET_WORDS.iter().any(|word| name.contains(word)) {
        return HIDDEN.to_owned();
    }
    one_line(&String::from_utf8_lossy(value))
}

/// The beginning of a body, made safe.
pub(super) fn body(body: &[u8], bytes_max: usize) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(bytes_max)]);
    let lower = text.to_ascii_lowercase();
    let mut told = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((word, length)) = next_word(&lower, at) {
        let behind = word + length + name_length(&lower[word + length..]);
        let (begin, end) = secret(&lower, word, behind).unwrap_or((behind, behind));
        told.push_str(&text[at..begin]);
        if begin < end {
            told.push_str(HIDDEN);
        }
        at = end;
    }
    told.push_str(&text[at..]);
    one_line(&told)
}

/// The next of the words from a place on, and its length.
fn next_word(lower: &str, from: usize) -> Option<(usize, usize)> {
    let found = SECRET_WORDS.iter().filter_map(|word| Some((from + lower[from..].find(word)?, word.len())));
    found.min()
}

/// Begin and end of the secret for the name with a word at `word`, which ends at `behind`.
fn secret(lower: &str, word: usize, behind: usize) -> Option<(usize, usize)> {
    let rest = &lower[behind..];
    let unquoted = rest.strip_prefix(['"', '\'']).unwrap_or(rest).trim_start();
    if let Some(value) = unquoted.strip_prefix([':', '=']) {
        let value = value.trim_start();
        let begin = lower.len() - value.len();
        return Some(match value.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
            Some(quote) => (begin + 1, begin + 1 + quoted_length(&value[1..], quote)),
            None => (begin, begin + value.find(['&', ',', ';', '}', ']', '<', '\n', ' ']).unwrap_or(value.len())),
        });
    }
    // The name of an element, or something in its start tag.
    let tag = lower[..word].rfind('<')?;
    if lower[tag..word].contains('>') || lower[tag + 1..].starts_with('/') {
        return None;
    }
    let begin = behind + rest.find('>')? + 1;
    let is_empty = lower[..begin].ends_with("/>");
    (!is_empty).then(|| (begin, begin + lower[begin..].find('<').unwrap_or(lower.len() - begin)))
}

/// Length of a quoted text; to the end, if it is cut off.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, letter)| {
        let ends = *letter == quote && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// Length of the rest of a name.
fn name_length(text: &str) -> usize {
    text.find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '-' | '.')).unwrap_or(text.len())
}

fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' if line.ends_with(' ') => {}
            '\n' | '\r' | '\t' => line.push(' '),
            letter if letter.is_control() => line.push(char::REPLACEMENT_CHARACTER),
            letter => line.push(letter),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_are_left_out_wherever_they_stand() {
        for (text, expected) in [
            ("<a><Password>s3cret</Password><b>c</b></a>", "<a><Password>******</Password><b>c</b></a>"),
            (
                "<wsse:Password Type='x#PasswordText'>s3cret</wsse:Password> t",
                "<wsse:Password Type='x#PasswordText'>******</wsse:Password> t",
            ),
            ("<login user='u' password='s3cret' x='y'/>", "<login user='u' password='******' x='y'/>"),
            (r#"{"user":"u","userPassword": "s3\"cret","n":1}"#, r#"{"user":"u","userPassword": "******","n":1}"#),
            (r#"{"token":12345,"n":1}"#, r#"{"token":******,"n":1}"#),
            ("user=u&password=s3cret&n=1", "user=u&password=******&n=1"),
            ("<password>s3cr", "<password>******"),
            ("<password/>open", "<password/>open"),
            ("a password is needed", "a password is needed"),
            ("line\r\n  two", "line   two"),
            ("bell\u{7}", "bell\u{FFFD}"),
        ] {
            let told = body(text.as_bytes(), 1000);
            assert_eq!(told, expected);
            assert!(!told.contains("s3cr"), "{told}");
        }
        assert_eq!(body("<a>büro</a>".as_bytes(), 5), "<a>b\u{FFFD}");
    }

    #[test]
    fn fields_with_credentials_are_hidden() {
        for name in ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-CSRF-Token"] {
            assert_eq!(field(name, b"s3cret"), HIDDEN, "{name}");
        }
        assert_eq!(field("X-Symbol", b"IBM"), "IBM");
    }

    proptest! {
        #[test]
        fn any_body_becomes_one_line(text in "(password|token|[<>\"':={}&/ é\n]|[a-z]{1,3}){0,20}", bytes_max in 0..60_usize) {
            prop_assert!(!body(text.as_bytes(), bytes_max).contains('\n'));
        }
    }
}
