//! Checks of settings of this machine that make figures worse than necessary, or false: the ones that are usually tuned
//! by hand for server benchmarks. Each check reads files of /proc and /sys.
//!
//! It changes nothing, and starts no load: effects during a run are judged by [`crate::judge`].

mod files;
mod memory;
mod network;
mod processor;
mod system;
mod time;

use serde::Serialize;

pub use system::{Seen, System};

/// Most simultaneous requests of a built-in experiment: the largest level of `mediation`.
const CONNECTIONS_MAX: u64 = 2_560;

/// All checks in the order of the output, each with its name in every output.
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

/// A check; absent if the system does not report the value.
type Check = fn(&System) -> Option<Finding>;

/// Result of a check, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing to do.
    Ok,
    /// Figures are true, but wider or slower than necessary, or a large level cannot be run.
    Warns,
    /// Figures would be false, or a run would fail.
    Bad,
}

/// Finding of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub name: &'static str,
    /// Result of the check.
    pub verdict: Verdict,
    /// Value on this machine.
    pub found: String,
    /// Effect on figures; absent if there is nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<String>,
    /// Remedy, a command if there is one; absent if there is nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Verdict {
    /// Returns `Bad` below the first number, and `Ok` from the second one on.
    fn of(number: u64, fewest: u64, enough: u64) -> Verdict {
        match number {
            _ if number < fewest => Verdict::Bad,
            _ if number < enough => Verdict::Warns,
            _ => Verdict::Ok,
        }
    }

    /// Returns the effect text for `Bad`, or the other one.
    fn costs(self, bad: &str, otherwise: &str) -> String {
        if self == Verdict::Bad { bad } else { otherwise }.to_owned()
    }

    /// Returns `Warns` if a setting is worse than necessary.
    fn warns_if(is_worse: bool) -> Verdict {
        if is_worse { Verdict::Warns } else { Verdict::Ok }
    }
}

impl Finding {
    /// Creates a finding with nothing to do; the list adds the name of the check.
    fn ok(found: impl Into<String>) -> Finding {
        Finding { name: "", verdict: Verdict::Ok, found: found.into(), costs: None, mend: None }
    }

    /// Creates a finding with its effect and its remedy, unless the verdict is `Ok`.
    fn told(verdict: Verdict, found: String, costs: impl Into<String>, mend: impl Into<String>) -> Finding {
        match verdict {
            Verdict::Ok => Finding::ok(found),
            _ => Finding { verdict, costs: Some(costs.into()), mend: Some(mend.into()), ..Finding::ok(found) },
        }
    }
}

/// Runs all checks.
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
