//! Arrays of entities, cut into parts as long as the first byte says.
#![no_main]

#[path = "../../crates/tollgate-wire/tests/it/bodies.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod bodies;
#[path = "../../crates/tollgate-wire/tests/it/fixture.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod fixture;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::array(bytes));
