//! Invariants of recognizing the SOAP version of a message: the body of the fuzz target, and the replay of its corpus.

use tollgate_wire::soap::{Version, action, write_content_type};

/// A `Content-Type`, and behind a line feed a `SOAPAction`: an action is in one of them, and is read again where it is
/// written.
pub(crate) fn content_type(text: &str) {
    let (content_type, field) = text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let _ = Version::of_content_type(content_type);
    let Some(found) = action(Some(content_type), field) else { return };
    assert!(!found.is_empty() && text.contains(found) && !found.contains(['"', '\\']));
    let mut written = Vec::new();
    write_content_type(&mut written, Version::V12, Some(found));
    let written = String::from_utf8(written).expect("an action is text");
    let printable: String = found.chars().filter(|letter| !letter.is_ascii_control()).collect();
    assert_eq!(action(Some(&written), None).unwrap_or_default(), printable, "{text:?}");
}

#[cfg(test)]
mod replay {
    use super::*;
    use crate::corpus;
    use proptest::prelude::*;

    const TARGETS: &[&str] = &["soap_content_type"];

    fn run(bytes: &[u8]) {
        // Texts only: a field that is none is not looked at.
        if let Ok(text) = std::str::from_utf8(bytes) {
            content_type(text);
        }
    }

    #[test]
    fn the_corpus_of_content_types_holds() {
        corpus::files(TARGETS[0]).iter().for_each(|bytes| run(bytes));
    }

    proptest! {
        #[test]
        fn damaged_content_types_are_read_or_refused((_, bytes) in corpus::damaged(TARGETS)) {
            run(&bytes);
        }
    }
}
