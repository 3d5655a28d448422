//! The corpora of the fuzz targets, for the plain tests of each crate: their files as they are, and damaged.
//!
//! A part of those tests and not of a fuzz target; it finds nothing new, which is the fuzzer's work.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;

/// The files of a target.
pub(crate) fn files(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // By name: what is drawn among them is the same on each machine then.
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A file of one of these targets with one to three bytes changed, added or lost, or cut off; with it the target.
pub(crate) fn damaged(targets: &'static [&'static str]) -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let files: Vec<_> =
        targets.iter().flat_map(|target| files(target).into_iter().map(move |bytes| (*target, bytes))).collect();
    let changes = proptest::collection::vec((any::<Index>(), any::<u8>(), 0..4_u8), 1..4);
    (proptest::sample::select(files), changes).prop_map(|((target, mut bytes), changes)| {
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
        (target, bytes)
    })
}
