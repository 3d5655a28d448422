//! The names of rules of validity that say which figures a finding concerns, and a rule's finding.

use crate::results::{Validity, Verdict};

/// Rules that say that the generator or the machine was at its limit together with the subject: a time then belongs to
/// both, and nothing is claimed of it.
pub const JOINT_RULES: [&str; 4] = ["client-saturation", "run-queue", "joint", "backend"];

/// Rules that are about the load at equal rate alone: they say nothing of the closed one.
pub const RATE_RULES: [&str; 14] = [
    "lateness",
    "rate",
    "rate-errors",
    "rate-generator-errors",
    "rate-content",
    "rate-fresh-connections",
    "rate-handshakes",
    "rate-client-saturation",
    "rate-run-queue",
    "rate-stalls",
    "rate-joint",
    "rate-listen-overflow",
    "rate-retransmissions",
    "rate-steal",
];

/// Every rule of runs, their tolls, batches and single loads.
pub const NAMES: [&str; 45] = [
    "errors",
    "generator-errors",
    "settlement",
    "content",
    "littles-law",
    "different-backend",
    "different-host",
    "samples",
    "few-rounds",
    "rows",
    "unstarted",
    "begun-late",
    "settling",
    "client-saturation",
    "run-queue",
    "stalls",
    "joint",
    "backend",
    "fresh-connections",
    "listen-overflow",
    "retransmissions",
    "handshakes",
    "lateness",
    "rate",
    "rate-errors",
    "rate-generator-errors",
    "rate-content",
    "rate-fresh-connections",
    "rate-handshakes",
    "rate-client-saturation",
    "rate-run-queue",
    "rate-stalls",
    "rate-joint",
    "rate-listen-overflow",
    "rate-retransmissions",
    "rate-steal",
    "warm-up",
    "steal",
    "subject-died",
    "ranks",
    "drift",
    "documents",
    "link",
    "answers",
    "log",
];

/// The rule whose finding says that a trial was no steady state: it refuses the toll on time, and the level no law.
pub const FEW_ROUNDS: &str = "few-rounds";

/// With more than this of all cores' time used, generator and subject were at the limit together.
pub const CORES_BUSY_MAX: f64 = 0.95;

/// The rule whose finding refuses the tolls of the cell on time and CPU: they would compare two backends.
pub const DIFFERENT_BACKEND: &str = "different-backend";

/// Stands for all rules where none finds anything.
pub const ALL: &str = "all";

/// A rule's finding, before it is known of which cell it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Whether the figure may be read.
    pub verdict: Verdict,
    /// The finding in words.
    pub reason: String,
    /// The remedy.
    pub remedy: &'static str,
    /// The number that decided.
    pub value: f64,
    /// Its bound.
    pub bound: f64,
}

impl Finding {
    /// The finding of `rule` in one cell, as it is stored.
    pub fn of(self, variant: &str, level: u64, rule: &str) -> Validity {
        Validity {
            variant: variant.to_owned(),
            level,
            rule: rule.to_owned(),
            verdict: self.verdict,
            reason: self.reason,
            remedy: self.remedy.to_owned(),
            value: self.value,
            bound: self.bound,
        }
    }
}
