//! What of this machine makes figures worse than they need be, or false: the settings that measurements of servers have
//! always been tuned by hand for. One list of checks, each a look at files of /proc and /sys.
//!
//! It deliberately changes nothing, and starts no load: what a run itself meets is judged by [`crate::judge`].

mod files;
mod memory;
mod network;
mod processor;
mod system;
mod time;

use serde::Serialize;

pub use system::{Seen, System};

/// The most requests that a built-in experiment has under way at the same time: the largest level of `mediation`.
const CONNECTIONS_MAX: u64 = 2_560;

/// What is looked at, in the order in which it is told, each with its name in every output.
const CHECKS: &[(&str, Check)] = &[
    ("port-range", network::port_range),
    ("accept-backlog", network::accept_backlog),
    ("syn-backlog", network::syn_backlog),
    ("time-wait-reuse", network::time_wait_reuse),
    ("fin-timeout", network::fin_timeout),
    ("congestion-control", network::congestion_control),
    ("packet-queues", network::packet_queues),
    ("open-files", files::open_files),
    ("cores", processor::cores),
    ("cpu-quota", processor::quota),
    ("sibling-threads", processor::sibling_threads),
    ("governor", processor::governor),
    ("turbo", processor::turbo),
    ("instructions", processor::instructions),
    ("steal", time::steal),
    ("wake-up", time::wake_up),
    ("load-average", time::load_average),
    ("clock-source", time::clock_source),
    ("memory", memory::memory),
];

/// A look at one thing; absent where the system does not tell.
type Check = fn(&System) -> Option<Finding>;

/// How it stands with what was looked at, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing is to be done.
    Ok,
    /// Figures are true, but wider or slower than they need be, or a large level cannot be run.
    Warns,
    /// Figures would be false, or a run would fail.
    Bad,
}

/// What was found of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the check.
    pub name: &'static str,
    /// How it stands.
    pub verdict: Verdict,
    /// What this machine has.
    pub found: String,
    /// What it costs; absent where nothing is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<String>,
    /// What mends it: a command where there is one. Absent where nothing is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Verdict {
    /// Of what is bad below the first number and enough from the second one on.
    fn of(number: u64, fewest: u64, enough: u64) -> Verdict {
        match number {
            _ if number < fewest => Verdict::Bad,
            _ if number < enough => Verdict::Warns,
            _ => Verdict::Ok,
        }
    }

    /// What it costs where it is bad, and where it is not that bad.
    fn costs(self, bad: &str, otherwise: &str) -> String {
        if self == Verdict::Bad { bad } else { otherwise }.to_owned()
    }

    /// Whether it would be better otherwise.
    fn warns_if(is_worse: bool) -> Verdict {
        if is_worse { Verdict::Warns } else { Verdict::Ok }
    }
}

impl Finding {
    /// What costs nothing; the list adds the name of the check.
    fn ok(found: impl Into<String>) -> Finding {
        Finding { name: "", verdict: Verdict::Ok, found: found.into(), costs: None, mend: None }
    }

    /// What costs so much and is mended so, unless it is in order.
    fn told(verdict: Verdict, found: String, costs: impl Into<String>, mend: impl Into<String>) -> Finding {
        match verdict {
            Verdict::Ok => Finding::ok(found),
            _ => Finding { verdict, costs: Some(costs.into()), mend: Some(mend.into()), ..Finding::ok(found) },
        }
    }
}

/// Looks at everything.
pub fn examine(system: &System) -> Vec<Finding> {
    let of = |(name, check): &(&'static str, Check)| {
        // A kernel that does not say is not blamed: what it hides from us it also keeps from being mended.
        let found = check(system).unwrap_or_else(|| Finding::ok("this system does not tell"));
        Finding { name, ..found }
    };
    CHECKS.iter().map(of).collect()
}

#[cfg(test)]
mod tests;
