//! The corpora of the fuzz targets: replayed as they are, and damaged.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;

use super::fuzzed;

type Check = fn(&[u8]);

const TARGETS: [(&str, Check); 3] =
    [("xml_document", fuzzed::document), ("xml_xpath", fuzzed::xpath), ("xml_stylesheet", fuzzed::stylesheet)];

fn files(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A file with one to three bytes changed, added or lost, or cut off; with it its target.
fn damaged() -> impl Strategy<Value = (Check, Vec<u8>)> {
    let files: Vec<_> = TARGETS
        .iter()
        .flat_map(|(target, check)| files(target).into_iter().map(move |bytes| (*check, bytes)))
        .collect();
    let changes = proptest::collection::vec((any::<Index>(), any::<u8>(), 0..4_u8), 1..4);
    (proptest::sample::select(files), changes).prop_map(|((check, mut bytes), changes)| {
        for (at, byte, change) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        (check, bytes)
    })
}

#[test]
fn the_corpora_hold() {
    for (target, check) in TARGETS {
        files(target).iter().for_each(|bytes| check(bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_read_or_refused((check, bytes) in damaged()) {
        check(&bytes);
    }
}
