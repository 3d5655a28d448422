//! Invariants for all input and all sharing: the bodies of the fuzz targets with their corpora, and threads.
#![allow(clippy::unwrap_used, reason = "all of this is tests, its helpers too")]

#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod fuzzed;
mod replay;
mod threads;
