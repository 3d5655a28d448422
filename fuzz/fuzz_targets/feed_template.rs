//! Texts with places for a feed's values.
#![no_main]

#[path = "../../crates/tollgate-lab/tests/feed/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::feed_template(bytes));
