//! The parsers of feeds with their fuzz targets' corpora, as they are and damaged.
//!
//! It finds nothing new; that is the fuzzer's work.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod fuzzed;

use proptest::prelude::*;

const TARGETS: &[&str] = &["feed_csv", "feed_template", "load_stages"];

fn replay(target: &str, bytes: &[u8]) {
    match target {
        "feed_csv" => fuzzed::feed_csv(bytes),
        "load_stages" => fuzzed::load_stages(bytes),
        _ => fuzzed::feed_template(bytes),
    }
}

#[test]
fn the_corpora_are_replayed() {
    for target in TARGETS {
        corpus::files(target).iter().for_each(|bytes| replay(target, bytes));
    }
}

proptest! {
    #[test]
    fn damaged_files_break_nothing((target, bytes) in corpus::damaged(TARGETS)) {
        replay(target, &bytes);
    }
}
