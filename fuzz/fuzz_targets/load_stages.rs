//! Stages of a load as a command line has them.
#![no_main]

#[path = "../../crates/tollgate-lab/tests/feed/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::load_stages(bytes));
