//! `Cache-Control` of requests and answers.
#![no_main]

#[path = "../../crates/tollgate-gateway/tests/it/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::cache_control(bytes));
