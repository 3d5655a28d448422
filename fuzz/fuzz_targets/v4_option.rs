//! Options of V4 by themselves: what is read follows the grammar that has no model.
#![no_main]

#[path = "../../crates/tollgate-wire/tests/it/fixture.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod fixture;
#[path = "../../crates/tollgate-wire/tests/it/fuzzed.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|text: &str| fuzzed::v4_option(text));
