//! Basic authentication (RFC 7617): credentials of a client, and the challenge. Names and passwords are UTF-8.
//!
//! It verifies nothing.

use std::sync::Arc;

use tollgate_wire::base64;

use super::password::PASSWORD_BYTES_MAX;

/// Longest base64 that is decoded: the longest name and password, twice over.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// A name and a password sent by a client.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Claimed user name.
    pub name: String,
    /// The password.
    pub password: String,
}

impl Credentials {
    /// Reads the text after `Basic `; `None` if it is no name and password.
    pub fn parse(text: &str) -> Option<Credentials> {
        let bytes = if text.len() <= TEXT_BYTES_MAX { base64::decode(text)? } else { return None };
        let decoded = String::from_utf8(bytes).ok()?;
        // Neither may hold control characters (section 2).
        if decoded.chars().any(char::is_control) {
            return None;
        }
        let (name, password) = decoded.split_once(':')?;
        // No hash is made of a longer one, so that trying it is no guess.
        if password.len() > PASSWORD_BYTES_MAX {
            return None;
        }
        Some(Credentials { name: name.to_owned(), password: password.to_owned() })
    }
}

/// Text after `Basic ` in a field `Authorization`; `None` for every other scheme.
pub(super) fn text(authorization: &str) -> Option<&str> {
    let (scheme, text) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("basic").then(|| text.trim())
}

/// Challenge for a client (`WWW-Authenticate`).
pub(super) fn challenge(realm: &str) -> Arc<str> {
    let mut challenge = String::from("Basic realm=\"");
    for character in realm.chars() {
        if matches!(character, '"' | '\\') {
            challenge.push('\\');
        }
        challenge.push(character);
    }
    challenge.push_str("\", charset=\"UTF-8\"");
    challenge.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut text = Vec::new();
        base64::encode(&mut text, bytes);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn name_and_password_end_at_the_first_colon() {
        let check = |bytes: &[u8], expected: Option<(&str, &str)>| {
            let found = Credentials::parse(&encoded(bytes));
            let found = found.as_ref().map(|found| (found.name.as_str(), found.password.as_str()));
            assert_eq!(found, expected, "{bytes:?}");
        };
        check(b"Aladdin:open sesame", Some(("Aladdin", "open sesame")));
        check(b"ann:a:b:c", Some(("ann", "a:b:c")));
        check("test:123\u{a3}".as_bytes(), Some(("test", "123\u{a3}")));
        check(b":", Some(("", "")));
        check(b"ann", None);
        check(b"ann:a\nb", None);
        check(b"ann:\xa3", None);
        assert!(Credentials::parse("%%%").is_none() && Credentials::parse("").is_none());
        assert!(Credentials::parse(&encoded(&[b':'; TEXT_BYTES_MAX])).is_none());
    }

    #[test]
    fn the_scheme_is_told_from_others_in_any_case() {
        assert_eq!(text("Basic YTpi"), Some("YTpi"));
        assert_eq!(text("bASIC  YTpi "), Some("YTpi"));
        assert_eq!((text("Bearer YTpi"), text("Basic"), text("")), (None, None, None));
    }

    #[test]
    fn the_challenge_quotes_the_realm() {
        assert_eq!(&*challenge("a \"b\" \\"), r#"Basic realm="a \"b\" \\", charset="UTF-8""#);
    }

    proptest::proptest! {
        #[test]
        fn credentials_round_trip(name in "[^:\\p{Cc}]{0,20}", password in "\\P{Cc}{0,20}") {
            let found = Credentials::parse(&encoded(format!("{name}:{password}").as_bytes()));
            let same = found == Some(Credentials { name, password });
            proptest::prop_assert!(same);
        }

        #[test]
        fn any_field_is_read_without_panic(field in "\\PC{0,60}") {
            let _ = text(&field).and_then(Credentials::parse);
        }
    }
}
