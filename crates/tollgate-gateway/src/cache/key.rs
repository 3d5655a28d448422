//! Key of a stored answer: path and query byte for byte, scheme and host where the answer names them, the chosen form
//! of the resource, and the read rules that permit the caller.
//!
//! A host is the same in any case, and with the port that its scheme has anyway (RFC 9110, section 4.2.3). Nothing else
//! is normalised: two spellings of one target are stored twice, and never answered with each other.

use std::borrow::Cow;
use std::hash::Hasher;

/// Borrowed key of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key<'r> {
    /// The scheme and host that the answer's links begin with; `None` where it has none.
    pub(crate) origin: Option<Origin<'r>>,
    /// Path and query.
    pub(crate) target: &'r str,
    /// The chosen form of the resource; empty where there is one, or where fields choose.
    pub(crate) selected: &'static str,
    /// Read rules that permit the caller.
    pub(crate) outcome: u64,
}

/// A scheme and a host, without the port that the scheme has anyway.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'r> {
    scheme: &'static str,
    host: &'r str,
}

/// The same as one text: `http://host/path?query form`. No part but the last contains a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyText {
    text: Box<str>,
    target_begin: usize,
    outcome: u64,
}

impl<'r> Origin<'r> {
    /// Origin of a host as it was named.
    pub(crate) fn new(scheme: &'static str, host: &'r str) -> Origin<'r> {
        let port = if scheme == "https" { ":443" } else { ":80" };
        let host = host.strip_suffix(port).or_else(|| host.strip_suffix(':')).unwrap_or(host);
        Origin { scheme, host }
    }

    /// The path and everything after it of a URL of this origin.
    pub(crate) fn path_of(&self, url: &str) -> Option<String> {
        let (scheme, rest) = url.split_once("://")?;
        let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let is_own = scheme.eq_ignore_ascii_case(self.scheme) && Origin::new(self.scheme, host) == *self;
        is_own.then(|| if path.starts_with('/') { path.to_owned() } else { format!("/{path}") })
    }
}

impl PartialEq for Origin<'_> {
    fn eq(&self, other: &Origin<'_>) -> bool {
        self.scheme == other.scheme && self.host.eq_ignore_ascii_case(other.host)
    }
}

impl Eq for Origin<'_> {}

impl Key<'_> {
    /// Hashes it.
    pub(crate) fn hash(&self, hasher: &mut impl Hasher) {
        let [scheme, colon, host, rest @ ..] = self.parts();
        hasher.write(scheme.as_bytes());
        hasher.write(colon.as_bytes());
        hasher.write(lower_case(host).as_bytes());
        for part in rest {
            hasher.write(part.as_bytes());
        }
        hasher.write_u64(self.outcome);
    }

    /// The owned form, for storing.
    pub(crate) fn to_text(self) -> KeyText {
        let mut parts = self.parts();
        let host = lower_case(parts[2]);
        parts[2] = &host;
        let target_begin = parts[..3].iter().map(|part| part.len()).sum();
        KeyText { text: parts.concat().into(), target_begin, outcome: self.outcome }
    }

    fn parts(&self) -> [&str; 6] {
        let [scheme, colon, host] = match self.origin {
            Some(Origin { scheme, host }) => [scheme, "://", host],
            None => [""; 3],
        };
        let space = if self.selected.is_empty() { "" } else { " " };
        [scheme, colon, host, self.target, space, self.selected]
    }
}

impl KeyText {
    /// Whether it equals `key`.
    pub(crate) fn is(&self, key: &Key<'_>) -> bool {
        self.outcome == key.outcome && self.behind(key) == Some("")
    }

    /// Rest of the text after `key`, if it begins with that.
    fn behind(&self, key: &Key<'_>) -> Option<&str> {
        let [scheme, colon, host, rest @ ..] = key.parts();
        let left = self.text.strip_prefix(scheme)?.strip_prefix(colon)?;
        let (own, left) = left.split_at_checked(host.len())?;
        if !own.eq_ignore_ascii_case(host) {
            return None;
        }
        rest.iter().try_fold(left, |left, part| left.strip_prefix(*part))
    }

    /// The whole text.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Path and query, and the chosen form.
    pub(crate) fn target(&self) -> &str {
        &self.text[self.target_begin..]
    }
}

fn lower_case(host: &str) -> Cow<'_, str> {
    match host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(host.to_ascii_lowercase()),
        false => Cow::Borrowed(host),
    }
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use super::*;

    #[test]
    fn a_key_is_its_own_text_and_no_other() {
        let bare = Key { origin: None, target: "/fibonacci?n=3", selected: "", outcome: 0 };
        let of = |scheme, host| Key { origin: Some(Origin::new(scheme, host)), ..bare };
        let keys = [
            (bare, "/fibonacci?n=3", "/fibonacci?n=3"),
            (Key { selected: "json", ..bare }, "/fibonacci?n=3 json", "/fibonacci?n=3 json"),
            (of("https", "a:1"), "https://a:1/fibonacci?n=3", "/fibonacci?n=3"),
            (of("http", "a:1"), "http://a:1/fibonacci?n=3", "/fibonacci?n=3"),
            (Key { outcome: 1, ..bare }, "/fibonacci?n=3", "/fibonacci?n=3"),
            (Key { target: "/fibonacci?n=30", ..bare }, "/fibonacci?n=30", "/fibonacci?n=30"),
        ];
        for (key, text, target) in &keys {
            let made = key.to_text();
            assert_eq!((made.as_str(), made.target()), (*text, *target));
            for (other, ..) in &keys {
                assert_eq!(made.is(other), key == other, "{text}");
            }
        }
    }

    #[test]
    fn a_host_is_the_same_in_any_case_and_with_the_port_of_its_scheme() {
        fn key<'r>(scheme: &'static str, host: &'r str) -> Key<'r> {
            Key { origin: Some(Origin::new(scheme, host)), target: "/a", selected: "", outcome: 0 }
        }
        let hash = |key: Key<'_>| {
            let mut hasher = DefaultHasher::new();
            key.hash(&mut hasher);
            hasher.finish()
        };
        let check = |scheme, (one, other): (&str, &str), expected: bool| {
            let (one, other) = (key(scheme, one), key(scheme, other));
            assert_eq!((one.to_text().is(&other), one == other), (expected, expected), "{one:?} {other:?}");
            assert_eq!(
                (one.to_text() == other.to_text(), hash(one) == hash(other)),
                (expected, expected),
                "{one:?} {other:?}"
            );
        };
        for same in
            [("shop", "SHOP"), ("shop", "shop:80"), ("Shop:80", "shop"), ("shop", "shop:"), ("[::1]:80", "[::1]")]
        {
            check("http", same, true);
        }
        check("https", ("shop", "Shop:443"), true);
        for (scheme, other) in
            [("http", "shop:443"), ("https", "shop:80"), ("http", "shop2"), ("http", "sho"), ("http", "")]
        {
            check(scheme, ("shop", other), false);
        }
    }

    #[test]
    fn a_url_of_an_origin_has_a_path_there() {
        let origin = Origin::new("http", "shop");
        for (url, expected) in [
            ("http://shop/a?b#c", Some("/a?b#c")),
            ("HTTP://SHOP:80/a", Some("/a")),
            ("http://shop", Some("/")),
            ("http://shop?a", Some("/?a")),
            ("https://shop/a", None),
            ("http://shop:81/a", None),
            ("http://shop.example/a", None),
            ("http://user@shop/a", None),
            ("/a", None),
        ] {
            assert_eq!(origin.path_of(url).as_deref(), expected, "{url}");
        }
    }
}
