//! The corpora of the gateway's own fuzz targets, replayed.
//!
//! It finds nothing new; that is the fuzzer's work.

use crate::{corpus, fuzzed};

#[test]
fn the_corpora_are_replayed() {
    for (name, target) in [
        ("users_file", fuzzed::users_file as fn(&[u8])),
        ("authorization", fuzzed::authorization),
        ("cache_control", fuzzed::cache_control),
        ("json_pointer", fuzzed::json_pointer),
    ] {
        corpus::files(name).iter().for_each(|bytes| target(bytes));
    }
}
