//! The corpora of the gateway's own fuzz targets, replayed.
//!
//! It finds nothing new; that is the fuzzer's work.

use std::path::Path;

use crate::fuzzed;

#[test]
fn the_corpora_are_replayed() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, target) in [
        ("postgres_url", fuzzed::postgres_url as fn(&[u8])),
        ("users_file", fuzzed::users_file),
        ("authorization", fuzzed::authorization),
        ("cache_control", fuzzed::cache_control),
    ] {
        let replayed = std::fs::read_dir(corpora.join(name)).unwrap();
        let replayed = replayed.map(|entry| target(&std::fs::read(entry.unwrap().path()).unwrap()));
        assert!(replayed.count() > 0, "there is a corpus of {name}");
    }
}
