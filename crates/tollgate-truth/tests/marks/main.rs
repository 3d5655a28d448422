//! Every mark seen to fire: the fault that it is for is made, grossly, and the load must show it. That no mark is there
//! without a fault takes a quiet machine, and stands in a test that is run by hand: `cargo test --release -p
//! tollgate-lab --test marks -- --ignored`.
//!
//! What only a program of its own can suffer (a stopped generator, a stopped server) is in the tests of the command line.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test says what it left out and what it found")]

mod batch;
mod burning;
mod faults;
mod namespace;
mod page;
mod runs;
mod server;
