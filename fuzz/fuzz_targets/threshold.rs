//! Thresholds, as they stand on a command line.
#![no_main]

#[path = "../../crates/tollgate-lab/tests/truth/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|text: &str| fuzzed::threshold(text));
