//! Text for every format: on one line, without control characters that move a cursor, and cut or broken to a width.

/// Text from outside on one line, without control characters: a subject must not be able to move the cursor.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Adds a full stop at the end.
pub fn stopped(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Capitalizes the first letter, but for that of a percentile such as p99.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    match letters.clone().next().is_some_and(|second| second.is_ascii_digit()) {
        true => text.to_owned(),
        false => first.to_uppercase().chain(letters).collect(),
    }
}

/// Limits a text to this many characters: a longer one is cut, and ends in an ellipsis.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A text as a part of a name or an address: its ASCII letters and digits in lower case, with hyphens between words.
pub fn slug(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// Lines of at most `most` characters, broken between words, after the prefix `first` or, from the second line on,
/// `others`. A longer word has a line of its own.
pub fn broken(text: &str, most: usize, first: &str, others: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let fits = |line: &&mut String| line.chars().count() + 1 + word.chars().count() <= most;
        match lines.last_mut().filter(fits) {
            Some(line) => line.extend([" ", word]),
            None => lines.push([if lines.is_empty() { first } else { others }, word].concat()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_its_words() {
        let check = |text: &str, expected: &[&str]| assert_eq!(broken(text, 12, "", ""), expected);
        check("ServerHello, encrypted × 4", &["ServerHello,", "encrypted ×", "4"]);
        check("a", &["a"]);
        check("", &[""]);
        check("unbreakable-and-long b", &["unbreakable-and-long", "b"]);
        assert_eq!(broken("one two three", 8, "- ", "  "), ["- one", "  two", "  three"]);
    }

    #[test]
    fn a_text_that_is_cut_says_so() {
        assert_eq!([cut("abcd", 4), cut("abcde", 4), cut("ab", 0)], ["abcd", "abc…", "…"]);
    }

    #[test]
    fn a_name_is_made_of_words() {
        assert_eq!([slug("Doubts about these: figures?"), slug("é <&>")], ["doubts-about-these-figures", ""]);
    }
}
