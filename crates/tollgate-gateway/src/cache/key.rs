//! What a request is kept under: its path and query byte for byte, the scheme and host where the answer names them, and
//! what was chosen among the answers that the resource has, and what the rules say of who asks.
//!
//! Nothing is normalised: two spellings of one target are kept twice, and never is one answered with the other.

use std::hash::Hasher;

/// What a request asks for, without a copy of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key<'r> {
    /// The scheme and host that the answer's links begin with; `None` where it has none.
    pub(crate) origin: Option<(&'static str, &'r str)>,
    /// Path and query.
    pub(crate) target: &'r str,
    /// Which of the resource's forms was chosen; empty where there is one, or where fields choose.
    pub(crate) selected: &'static str,
    /// What the rules say of who asks.
    pub(crate) outcome: u64,
}

/// The same as one text: `http://host/path?query form`. No part but the last holds a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyText {
    text: Box<str>,
    target_begin: usize,
    outcome: u64,
}

impl Key<'_> {
    /// Hashes it.
    pub(crate) fn hash(&self, hasher: &mut impl Hasher) {
        for part in self.parts() {
            hasher.write(part.as_bytes());
        }
        hasher.write_u64(self.outcome);
    }

    /// As it is kept.
    pub(crate) fn to_text(self) -> KeyText {
        let parts = self.parts();
        let target_begin = parts[..3].iter().map(|part| part.len()).sum();
        KeyText { text: parts.concat().into(), target_begin, outcome: self.outcome }
    }

    fn parts(&self) -> [&str; 6] {
        let [scheme, colon, host] = match self.origin {
            Some((scheme, host)) => [scheme, "://", host],
            None => [""; 3],
        };
        let space = if self.selected.is_empty() { "" } else { " " };
        [scheme, colon, host, self.target, space, self.selected]
    }
}

impl KeyText {
    /// Whether it is that of `key`.
    pub(crate) fn is(&self, key: &Key<'_>) -> bool {
        let left = key.parts().iter().try_fold(&*self.text, |left, part| left.strip_prefix(part));
        left == Some("") && self.outcome == key.outcome
    }

    /// All of it.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Path and query, and what was chosen.
    pub(crate) fn target(&self) -> &str {
        &self.text[self.target_begin..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_own_text_and_no_other() {
        let bare = Key { origin: None, target: "/fibonacci?n=3", selected: "", outcome: 0 };
        let keys = [
            (bare, "/fibonacci?n=3", "/fibonacci?n=3"),
            (Key { selected: "json", ..bare }, "/fibonacci?n=3 json", "/fibonacci?n=3 json"),
            (Key { origin: Some(("https", "a:1")), ..bare }, "https://a:1/fibonacci?n=3", "/fibonacci?n=3"),
            (Key { origin: Some(("http", "a:1")), ..bare }, "http://a:1/fibonacci?n=3", "/fibonacci?n=3"),
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
}
