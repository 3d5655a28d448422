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

/// What is looked at, in the order in which it is told.
pub const CHECKS: &[Check] = &[
    Check { name: "port-range", examine: network::port_range },
    Check { name: "accept-backlog", examine: network::accept_backlog },
    Check { name: "syn-backlog", examine: network::syn_backlog },
    Check { name: "time-wait-reuse", examine: network::time_wait_reuse },
    Check { name: "fin-timeout", examine: network::fin_timeout },
    Check { name: "open-files", examine: files::open_files },
    Check { name: "cores", examine: processor::cores },
    Check { name: "cpu-quota", examine: processor::quota },
    Check { name: "sibling-threads", examine: processor::sibling_threads },
    Check { name: "governor", examine: processor::governor },
    Check { name: "turbo", examine: processor::turbo },
    Check { name: "steal", examine: time::steal },
    Check { name: "wake-up", examine: time::wake_up },
    Check { name: "load-average", examine: time::load_average },
    Check { name: "clock-source", examine: time::clock_source },
    Check { name: "memory", examine: memory::memory },
];

/// One thing to look at.
#[derive(Debug)]
pub struct Check {
    /// Its name, in every output.
    pub name: &'static str,
    /// Absent where the system does not tell.
    examine: fn(&System) -> Option<Finding>,
}

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
    let of = |check: &Check| {
        // A kernel that does not say is not blamed: what it hides from us it also keeps from being mended.
        let found = (check.examine)(system).unwrap_or_else(|| Finding::ok("this system does not tell"));
        Finding { name: check.name, ..found }
    };
    CHECKS.iter().map(of).collect()
}

#[cfg(test)]
mod tests;
