//! Column of a condition (`CHECK`), to name the wrong property in an error: the one in its expression, if it is the
//! only one.
//!
//! It reads words, not SQL: a word that is a column's name is that column, as in SQLite.

/// The single one of `columns` that the expression names; `None` for none or several.
pub(super) fn only_column<'c>(expression: &str, columns: impl Iterator<Item = &'c str> + Clone) -> Option<&'c str> {
    let mut found: Option<&str> = None;
    for word in words(expression) {
        let Some(column) = columns.clone().find(|column| column.eq_ignore_ascii_case(&word.text)) else { continue };
        if *found.get_or_insert(column) != column {
            return None;
        }
    }
    found
}

/// The expression of the named condition in the `CREATE` text of its table.
pub(super) fn named<'t>(table: &'t str, name: &str) -> Option<&'t str> {
    let mut words = words(table);
    while let Some(word) = words.next() {
        if !word.is("CONSTRAINT") || words.next()?.text != name {
            continue;
        }
        let check = words.next()?;
        if check.is("CHECK") {
            let open = check.end + table[check.end..].find('(')?;
            return Some(&table[open + 1..closing(table, open)?]);
        }
    }
    None
}

/// A word of SQL: a name, bare or in its quotes, a keyword or a number.
struct Word {
    text: String,
    quoted: bool,
    /// End of its text.
    end: usize,
}

impl Word {
    fn is(&self, keyword: &str) -> bool {
        !self.quoted && self.text.eq_ignore_ascii_case(keyword)
    }
}

/// The words of a piece of SQL, without literals and comments.
fn words(sql: &str) -> impl Iterator<Item = Word> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = sql.as_bytes().get(at) {
            let begin = at;
            at = token_end(sql, begin);
            match byte {
                b'"' | b'`' | b'[' => {
                    let close = if *byte == b'[' { ']' } else { char::from(*byte) };
                    let inner = sql[begin + 1..at].strip_suffix(close).unwrap_or(&sql[begin + 1..at]);
                    let text = inner.replace(&[close, close].iter().collect::<String>(), &close.to_string());
                    return Some(Word { text, quoted: true, end: at });
                }
                byte if is_of_a_word(*byte) => {
                    return Some(Word { text: sql[begin..at].to_owned(), quoted: false, end: at });
                }
                _ => {}
            }
        }
        None
    })
}

/// End of the token that begins at `begin`.
fn token_end(sql: &str, begin: usize) -> usize {
    let rest = &sql.as_bytes()[begin..];
    let behind = |found: Option<usize>, length: usize| found.map_or(sql.len(), |at| begin + at + length);
    match rest {
        [quote @ (b'\'' | b'"' | b'`'), ..] => {
            let mut at = 1;
            while at < rest.len() {
                if rest[at] != *quote {
                    at += 1;
                } else if rest.get(at + 1) == Some(quote) {
                    at += 2;
                } else {
                    return begin + at + 1;
                }
            }
            sql.len()
        }
        [b'[', ..] => behind(rest.iter().position(|byte| *byte == b']'), 1),
        [b'-', b'-', ..] => behind(rest.iter().position(|byte| *byte == b'\n'), 1),
        [b'/', b'*', ..] => behind(sql[begin + 2..].find("*/"), 4),
        [first, ..] if is_of_a_word(*first) => behind(rest.iter().position(|byte| !is_of_a_word(*byte)), 0),
        _ => begin + 1,
    }
}

/// Position of the parenthesis that closes the one at `open`.
fn closing(sql: &str, open: usize) -> Option<usize> {
    let (mut at, mut depth) = (open, 0_usize);
    while at < sql.len() {
        match sql.as_bytes()[at] {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
        at = token_end(sql, at);
    }
    None
}

fn is_of_a_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: [&str; 4] = ["price", "size", "full name", "größe"];

    fn check(expression: &str, expected: Option<&str>) {
        assert_eq!(only_column(expression, COLUMNS.into_iter()), expected, "{expression}");
    }

    #[test]
    fn a_condition_is_about_the_only_column_that_it_names() {
        check("price >= 0", Some("price"));
        check("PRICE BETWEEN 1 AND 9 OR Price IS NULL", Some("price"));
        check("length(\"full name\") > 2", Some("full name"));
        check("[full name] <> `full name`", Some("full name"));
        check("größe > 1", Some("größe"));
        check("price > size", None);
        check("prices > 0", None);
        check("'price' = 'size'", None);
        check("size /* not price */ > 0 -- price", Some("size"));
        check("1", None);
        check("\"price", Some("price"));
    }

    #[test]
    fn a_condition_with_a_name_is_found_in_its_table() {
        let table = r#"CREATE TABLE t (price INT CONSTRAINT "is positive" CHECK (price > (1 - ')')), size INT,
            CONSTRAINT other UNIQUE (size), CONSTRAINT both CHECK(price > size))"#;
        assert_eq!(named(table, "is positive"), Some("price > (1 - ')')"));
        assert_eq!(named(table, "both"), Some("price > size"));
        assert_eq!(named(table, "other"), None);
        assert_eq!(named(table, "price"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", name in "[a-z]?") {
            let _ = only_column(&text, COLUMNS.into_iter());
            let _ = named(&text, &name);
            let _ = named(&format!("CONSTRAINT {name} CHECK {text}"), &name);
        }
    }
}
