//! The gateway's parsers with any bytes, and URLs with rows of the flight service.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[allow(dead_code, reason = "other crates damage the files, too")]
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod fuzzed;
mod replay;
mod urls;
