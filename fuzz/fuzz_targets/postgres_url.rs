//! URLs of PostgreSQL databases.
#![no_main]

#[path = "../../crates/tollgate-store/tests/it/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::postgres_url(bytes));
