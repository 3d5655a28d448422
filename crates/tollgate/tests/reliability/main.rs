//! Events that must never happen: a lost record that was acknowledged, half a change set, a server that stays broken or
//! grows without bound. Each test does real damage: kill -9, a full disk, a database that restarts.
//!
//! The short form runs with every `cargo test`; `TOLLGATE_RELIABILITY=full` runs the long one and prints its figures.
//! These tests do not look inside, or measure time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]
#![allow(clippy::print_stderr, reason = "figures of the long form, and what was skipped and why")]

mod client;
#[path = "../../../tollgate-store/tests/it/cluster.rs"]
#[allow(dead_code, reason = "it is shared with the store's tests, which need more of it")]
mod cluster;
mod full_disk;
mod generate;
mod generate_harmed;
#[path = "../it/helper.rs"]
#[allow(dead_code, reason = "it is shared, and no test binary needs all of it")]
mod helper;
mod kill;
mod large;
mod ledger;
mod restart;
mod two_writers;

/// The amount of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// With every `cargo test`.
    Short,
    /// By hand.
    Long,
}

fn form() -> Form {
    match std::env::var_os("TOLLGATE_RELIABILITY").is_some_and(|value| value == "full") {
        true => Form::Long,
        false => Form::Short,
    }
}
