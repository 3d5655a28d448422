//! CSV files that feed a load.
#![no_main]

#[path = "../../crates/tollgate-lab/tests/feed/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::feed_csv(bytes));
