//! The store compared with a naive evaluation in memory, over rows with nulls, Unicode and extreme numbers, and its
//! answers to paths, hostile requests and other special cases.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod applied;
mod cluster;
mod collections;
#[allow(dead_code, reason = "other crates damage the files, too")]
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod derived;
mod expansions;
mod files;
mod found;
mod fuzzed;
mod hostile;
mod locks;
mod moments;
mod naive;
mod paging;
mod paths;
mod plans;
mod postgres_only;
mod random_plans;
mod relations;
mod replay;
mod statements;
mod stores;
mod world;
mod writing;
