//! Black-box tests: the binary as its users meet it, from the outside only.
//!
//! Modules are tested in their crates; here it is exit codes, texts, files and signals.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ab;
mod command_line;
mod compare;
mod entity_set;
#[allow(dead_code, reason = "it is shared, and no test binary needs all of it")]
mod helper;
mod load;
mod load_daily;
mod marks;
mod report;
mod run;
mod scenarios;
mod serve;
mod setting;
mod shelf;
mod tls;
mod users;
mod versus;
