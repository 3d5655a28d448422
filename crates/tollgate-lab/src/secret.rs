//! Removes secrets from URLs that are stored or printed, and draws the secrets of a run.
//!
//! It recognizes a secret by its place (the user and password of a URL) or by the name of its query option. It does not
//! look into paths or bodies, where nothing marks a secret.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Replacement of a secret.
pub const HIDDEN: &str = "…";

/// A query option whose name contains one of these has a secret as its value. Hiding too much does no harm.
const NAMES: &[&str] = &["pass", "pwd", "token", "key", "secret", "sig", "auth", "credential", "session"];

/// Replaces the secrets of every URL in a text.
pub fn hide(text: &str) -> String {
    let Some(scheme_end) = text.find("://") else { return text.to_owned() };
    let (before, rest) = text.split_at(scheme_end + "://".len());
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let mut kept = before.to_owned();
    match authority.rfind('@') {
        Some(user_end) => kept.extend([HIDDEN, &authority[user_end..]]),
        None => kept.push_str(authority),
    }
    // A URL may hold another one.
    kept.push_str(&hide(path));
    for option in query.split_inclusive(['?', '&', ';']) {
        match option.split_once('=') {
            Some((name, value)) if is_secret(name) => {
                kept.extend([name, "=", HIDDEN, &value[value.trim_end_matches(['?', '&', ';']).len()..]]);
            }
            _ => kept.push_str(&hide(option)),
        }
    }
    kept
}

/// Draws a password that cannot be guessed.
///
/// # Errors
/// This machine gives no random bytes.
pub fn drawn() -> Result<String, String> {
    let mut bytes = [0; 16];
    let read = fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| format!("needs random bytes from /dev/urandom: {error}"))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Writes a new file that no other user can read.
///
/// # Errors
/// The file exists already, or cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

/// Whether a query option is a secret. OData's own options are not, whatever their names: `$skiptoken` is only a place
/// in a list.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.starts_with(['$', '%']) && NAMES.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(hide(text), expected);
    }

    #[test]
    fn the_user_of_a_url_is_hidden() {
        check("https://me:hunter2@sap.example/x?y=1", "https://…@sap.example/x?y=1");
        check("a=http://me@h/", "a=http://…@h/");
        check("http://h/to?next=https://me:pw@other/", "http://h/to?next=https://…@other/");
    }

    #[test]
    fn options_named_like_secrets_are_hidden() {
        check(
            "https://h/x?sap-user=me&sap-password=hunter2&sap-client=100",
            "https://h/x?sap-user=me&sap-password=…&sap-client=100",
        );
        check("http://h?Access_Token=abc", "http://h?Access_Token=…");
        check("http://h/?a=1;apikey=b=c;d", "http://h/?a=1;apikey=…;d");
        check("http://h/?sv=1&sig=a%2Fb&se=2", "http://h/?sv=1&sig=…&se=2");
        check("http://h/?next=http://i/?token=abc", "http://h/?next=http://i/?token=…");
    }

    #[test]
    fn what_holds_no_secret_stays_as_it_is() {
        let check = |text: &str| check(text, text);
        check("a=http://127.0.0.1:8080/x@y");
        check("http://h?next=me@there");
        check("http://h/F(url='a://b')?$skiptoken=4&$filter=x eq 1");
        check("protocol");
        check("password=1");
    }
}
