//! The corpus of the fuzz targets, replayed as a plain test.

use super::{corpus, fuzzed};

fn replay(target: &str, check: fn(&[u8])) {
    corpus::files(target).iter().for_each(|bytes| check(bytes));
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
