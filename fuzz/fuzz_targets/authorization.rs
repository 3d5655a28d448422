//! Names and passwords as clients send them.
#![no_main]

#[path = "../../crates/tollgate-gateway/tests/it/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::authorization(bytes));
