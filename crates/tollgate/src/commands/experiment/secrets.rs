//! What of a command line may be stored: everything but the secrets in it.
//!
//! It works on the words as they were typed, so that a stored run can be repeated by copying its command line.

use tollgate_lab::secret::{HIDDEN, hide};

/// Flags whose value is a secret as a whole, in all their spellings.
const SECRET_FLAGS: &[&str] = &["--basic", "-A", "-C", "-P"];
/// Flags whose value is a header field: the name is kept.
const HEADER_FLAGS: &[&str] = &["--header", "-H"];

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
            // The value of a letter may stand right behind it.
            _ => match argument.split_at_checked(2) {
                Some((letter, value)) if is_letter(letter) && !value.is_empty() => (letter, Some(value)),
                _ => (argument.as_str(), None),
            },
        };
        let replace: Option<fn(&str) -> String> = match flag {
            _ if SECRET_FLAGS.contains(&flag) => Some(hidden),
            _ if HEADER_FLAGS.contains(&flag) => Some(without_value),
            _ => None,
        };
        kept.push(match (replace, value) {
            (Some(replace), Some(value)) if is_letter(flag) => format!("{flag}{}", replace(value)),
            (Some(replace), Some(value)) => format!("{flag}={}", replace(value)),
            _ => hide(&argument),
        });
        secret_follows = replace.filter(|_| value.is_none());
    }
    kept
}

fn is_letter(flag: &str) -> bool {
    flag.len() == 2 && !flag.starts_with("--")
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
        check(&["t", "-Ame:secret", "-HX-Key:x", "-c20"], &["tollgate", "-A…", "-HX-Key: …", "-c20"]);
        check(&["t", "--header=X-Key:x=y"], &["tollgate", "--header=X-Key: …"]);
        check(
            &["t", "run", "--subject", "a=https://me:secret@sap.example/x?y=1&sap-password=x"],
            &["tollgate", "run", "--subject", "a=https://…@sap.example/x?y=1&sap-password=…"],
        );
        check(&["t", "--subject=a=http://me@h/"], &["tollgate", "--subject=a=http://…@h/"]);
    }
}
