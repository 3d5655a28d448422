//! Truth tests: the lab's figures compared with a server that records its own actions (`tollgate-truth`).
//!
//! Counts and bytes must be equal, with difference 0. A time that the lab reports can never be below the server's own;
//! how far above it may be depends on the machine, so narrow bounds on that are in `truths`, which are run by hand on a
//! quiet one: `bench/truth/report.py`, or `cargo test --release -p tollgate-truth --test truth -- --ignored --nocapture
//! --test-threads 1 truths`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../../fuzz/corpus.rs"]
mod corpus;

mod account;
mod bare;
mod burden;
mod doubts;
mod figures;
mod frozen;
mod fuzzed;
mod insert;
mod load;
mod open;
mod run;
mod scenario;
mod server;
mod truths;
