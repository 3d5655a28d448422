//! Patterns of texts: `*` means any number of characters; all others are literal.

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Text between the stars; a single piece is the whole pattern.
    pieces: Box<[Box<str>]>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Pattern {
        Pattern { pieces: text.split('*').map(Box::from).collect() }
    }

    /// Whether the whole of `text` matches the pattern.
    pub(super) fn matches(&self, text: &str) -> bool {
        let [first, between @ .., last] = &*self.pieces else { return *self.pieces[0] == *text };
        let Some(rest) = text.strip_prefix(&**first) else { return false };
        let Some(mut rest) = rest.strip_suffix(&**last) else { return false };
        // The first place of each is the best one: it leaves the most for those behind it.
        between.iter().all(|piece| match rest.find(&**piece) {
            Some(at) => {
                rest = &rest[at + piece.len()..];
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by trying all possibilities.
    fn naive(pattern: &str, text: &str) -> bool {
        match pattern.chars().next() {
            None => text.is_empty(),
            Some('*') => {
                let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
                places.into_iter().any(|at| naive(&pattern[1..], &text[at..]))
            }
            Some(letter) => text.strip_prefix(letter).is_some_and(|rest| naive(&pattern[letter.len_utf8()..], rest)),
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_trying_everything_matches(pattern in "[ab*]{0,8}", text in "[ab]{0,12}") {
            prop_assert_eq!(Pattern::new(&pattern).matches(&text), naive(&pattern, &text));
        }
    }

    #[test]
    fn stars_mean_anything() {
        for (pattern, text, expected) in [
            ("IBM", "IBM", true),
            ("IBM", "IBMX", false),
            ("IB*", "IB", true),
            ("*/echo", "/a/echo", true),
            ("a*a", "a", false),
            ("", "", true),
            ("*", "", true),
            ("é*", "écu", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} {text}");
        }
    }
}
