//! Every mark seen to fire: its fault is made, grossly, and the load must show it. The absence of marks without a fault
//! needs a quiet machine, and is a test that is run by hand: `cargo test --release -p tollgate-lab --test marks --
//! --ignored`.
//!
//! Faults that need their own program (a stopped generator, a stopped server) are in the tests of the command line.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test says what it left out and what it found")]

mod batch;
mod burning;
mod faults;
mod namespace;
mod page;
mod runs;
mod server;
