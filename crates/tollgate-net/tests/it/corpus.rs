//! The corpus of the fuzz targets, replayed as a plain test.

use std::path::Path;

use super::fuzzed;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 0, "{target} has a corpus");
}

#[test]
fn request_heads() {
    replay("request_head", fuzzed::request_head);
}

#[test]
fn response_heads() {
    replay("response_head", fuzzed::response_head);
}

#[test]
fn chunked_bodies() {
    replay("chunked", fuzzed::chunked);
}
