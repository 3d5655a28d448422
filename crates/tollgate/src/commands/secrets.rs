//! What of a command line may be stored: everything but the secrets in it.
//!
//! It works on the words as they were typed, so that a stored run can be repeated by copying its command line.

/// Flags whose value is a secret as a whole, in all their spellings.
const SECRET_FLAGS: &[&str] = &["--basic"];
/// Flags whose value is a header field: the name is kept.
const HEADER_FLAGS: &[&str] = &["--header"];
/// What stands in the place of a secret.
const HIDDEN: &str = "…";

/// The command line with every secret replaced, and the program's path reduced to its name.
pub(crate) fn without_secrets(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept = vec!["tollgate".to_owned()];
    let mut secret_follows: Option<fn(&str) -> String> = None;
    for argument in arguments.into_iter().skip(1) {
        if let Some(hide) = secret_follows.take() {
            kept.push(hide(&argument));
            continue;
        }
        let (flag, value) = match argument.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => (argument.as_str(), None),
        };
        let hide: Option<fn(&str) -> String> = match flag {
            _ if SECRET_FLAGS.contains(&flag) => Some(hidden),
            _ if HEADER_FLAGS.contains(&flag) => Some(without_value),
            _ => None,
        };
        kept.push(match (hide, value) {
            (Some(hide), Some(value)) => format!("{flag}={}", hide(value)),
            _ => without_user(&argument),
        });
        secret_follows = hide.filter(|_| value.is_none());
    }
    kept
}

/// A text with the user and password of every URL in it replaced.
pub(crate) fn without_user(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        kept.push_str(before);
        let authority = after.find(['/', '?', '#']).unwrap_or(after.len());
        rest = match after[..authority].rfind('@') {
            Some(user) => {
                kept.push_str(HIDDEN);
                &after[user..]
            }
            None => after,
        };
    }
    kept.push_str(rest);
    kept
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
        check(&["t", "--header=X-Key:x=y"], &["tollgate", "--header=X-Key: …"]);
        check(
            &["t", "run", "--subject", "a=https://me:secret@sap.example/x?y=1"],
            &["tollgate", "run", "--subject", "a=https://…@sap.example/x?y=1"],
        );
        check(&["t", "--subject=a=http://me@h/"], &["tollgate", "--subject=a=http://…@h/"]);
    }

    #[test]
    fn a_url_without_user_stays_as_it_is() {
        let check = |text: &str| assert_eq!(without_user(text), text);
        check("a=http://127.0.0.1:8080/x@y");
        check("http://h?next=me@there");
        check("protocol");
    }
}
