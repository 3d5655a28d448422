//! Stylesheets: compiled and run within a small budget.
#![no_main]

#[path = "../../crates/tollgate-xml/tests/robust/fuzzed.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::stylesheet(bytes));
