//! The corpora of the fuzz targets: replayed as they are, and damaged.

use proptest::prelude::*;

use super::{corpus, fuzzed};

const TARGETS: &[&str] = &["xml_document", "xml_xpath", "xml_stylesheet"];

fn check(target: &str, bytes: &[u8]) {
    match target {
        "xml_document" => fuzzed::document(bytes),
        "xml_xpath" => fuzzed::xpath(bytes),
        _ => fuzzed::stylesheet(bytes),
    }
}

#[test]
fn the_corpora_hold() {
    for target in TARGETS {
        corpus::files(target).iter().for_each(|bytes| check(target, bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_read_or_refused((target, bytes) in corpus::damaged(TARGETS)) {
        check(target, &bytes);
    }
}
