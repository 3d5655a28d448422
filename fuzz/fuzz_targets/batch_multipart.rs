//! Batches as `multipart/mixed`, and the answers to them.
#![no_main]

#[path = "../../crates/tollgate-wire/tests/it/batches.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod batches;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| batches::multipart(bytes));
