//! The part of a command line that may be stored: everything but the secrets in it.
//!
//! It works on the words as they were typed, so that a stored run can be repeated by copying its command line.

use tollgate_lab::secret::{HIDDEN, hide};

/// Flags whose value is a secret as a whole, in all their spellings.
const SECRET_FLAGS: &[&str] = &["--basic", "--body", "--json-body", "--form"];
/// Flags whose value is a header field: the name is kept.
const HEADER_FLAGS: &[&str] = &["--header"];
/// The same as letters, which may follow others that have no value.
const SECRET_LETTERS: &str = "ACP";
const HEADER_LETTERS: &str = "H";
const LETTERS_ALONE: &str = "liIkqrdS";

/// The command line with every secret replaced, and the program's path reduced to its name.
pub(crate) fn without_secrets(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept = vec!["tollgate".to_owned()];
    let mut secret_follows: Option<fn(&str) -> String> = None;
    for argument in arguments.into_iter().skip(1) {
        if let Some(replace) = secret_follows.take() {
            kept.push(replace(&argument));
            continue;
        }
        let (flag, value) = match argument.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => (argument.as_str(), None),
        };
        if let Some((before, letter, value)) = bundled(&argument) {
            let replace = if HEADER_LETTERS.contains(letter) { without_value } else { hidden };
            kept.push(format!("{before}{letter}{}", if value.is_empty() { String::new() } else { replace(value) }));
            secret_follows = value.is_empty().then_some(replace);
            continue;
        }
        let replace: Option<fn(&str) -> String> = match flag {
            _ if SECRET_FLAGS.contains(&flag) => Some(hidden),
            _ if HEADER_FLAGS.contains(&flag) => Some(without_value),
            _ => None,
        };
        kept.push(match (replace, value) {
            (Some(replace), Some(value)) => format!("{flag}={}", replace(value)),
            _ => hidden_in(&argument),
        });
        secret_follows = replace.filter(|_| value.is_none());
    }
    kept
}

/// Splits a word of letters at the first one whose value is a secret: the part before, that letter, and the part after.
fn bundled(argument: &str) -> Option<(&str, char, &str)> {
    let letters = argument.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let (at, letter) = letters.char_indices().find(|(_, letter)| !LETTERS_ALONE.contains(*letter))?;
    let is_secret = SECRET_LETTERS.contains(letter) || HEADER_LETTERS.contains(letter);
    is_secret.then(|| (&argument[..=at], letter, &letters[at + letter.len_utf8()..]))
}

/// A word without secrets, if it is a URL; the scheme may be missing.
fn hidden_in(word: &str) -> String {
    const SCHEME: &str = "http://";
    match word.contains("://") || !word.contains('?') {
        true => hide(word),
        false => hide(&format!("{SCHEME}{word}")).split_off(SCHEME.len()),
    }
}

fn hidden(_: &str) -> String {
    HIDDEN.to_owned()
}

fn without_value(field: &str) -> String {
    match field.split_once(':') {
        Some((name, _)) => format!("{name}: {HIDDEN}"),
        None => HIDDEN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_however_they_are_spelled() {
        let check = |line: &[&str], expected: &[&str]| {
            let arguments = line.iter().map(|word| (*word).to_owned());
            assert_eq!(without_secrets(arguments), expected);
        };
        check(&["target/release/tollgate", "run", "protocol"], &["tollgate", "run", "protocol"]);
        check(&["t", "run", "--basic", "me:secret", "--quick"], &["tollgate", "run", "--basic", "…", "--quick"]);
        check(&["t", "run", "--basic=me:secret"], &["tollgate", "run", "--basic=…"]);
        check(&["t", "--header", "Authorization: Bearer x"], &["tollgate", "--header", "Authorization: …"]);
        check(&["t", "versus", "-A", "me:secret", "-C", "s=1"], &["tollgate", "versus", "-A", "…", "-C", "…"]);
        check(&["t", "-lA", "me:secret", "-lIAme:secret"], &["tollgate", "-lA", "…", "-lIA…"]);
        check(&["t", "versus", "h:80/x?key=secret"], &["tollgate", "versus", "h:80/x?key=…"]);
        check(&["t", "-Ame:secret", "-HX-Key:x", "-c20"], &["tollgate", "-A…", "-HX-Key: …", "-c20"]);
        check(&["t", "--header=X-Key:x=y"], &["tollgate", "--header=X-Key: …"]);
        check(
            &["t", "run", "--subject", "a=https://me:secret@sap.example/x?y=1&sap-password=x"],
            &["tollgate", "run", "--subject", "a=https://…@sap.example/x?y=1&sap-password=…"],
        );
        check(&["t", "--subject=a=http://me@h/"], &["tollgate", "--subject=a=http://…@h/"]);
    }
}
