//! Bodies in the chunked transfer coding.
#![no_main]

#[path = "../../crates/tollgate-net/tests/it/fuzzed.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::chunked(bytes));
