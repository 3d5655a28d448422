//! JSON by itself.
#![no_main]

#[path = "../../crates/tollgate-wire/tests/it/documents.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod documents;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| documents::json(bytes));
