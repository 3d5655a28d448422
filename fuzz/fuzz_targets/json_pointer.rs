//! A pointer or path, and the JSON that it is looked for in.
#![no_main]

#[path = "../../crates/tollgate-gateway/tests/it/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::json_pointer(bytes));
