//! File descriptors: every connection takes one at each end.

use super::{CONNECTIONS_MAX, Finding, System, Verdict};

/// With fewer, even a run of a few hundred users cannot open the connections of all its variants.
const FEWEST: u64 = 1_024;
/// At the largest level a mediator has a connection to each caller and one to the backend; the rest are files, pipes and
/// queues.
const ENOUGH: u64 = 2 * CONNECTIONS_MAX + 64;
/// Suggested limit: a power of two that is enough, and that every system allows.
const ASKED: u64 = 65_536;

/// Checks the limit of open files: the hard one, since a run raises its soft limit to that, and its subjects inherit
/// it.
pub(super) fn open_files(system: &System) -> Option<Finding> {
    let limits = system.field("/proc/self/limits", "Max open files")?;
    let mut limits = limits.split_ascii_whitespace().map(limit);
    let (soft, hard) = (limits.next()??, limits.next()??);
    let found = if soft < hard { format!("{}, which a run raises to {}", told(soft), told(hard)) } else { told(hard) };
    let mend = format!("ulimit -n {ASKED}, as root; for good: `* - nofile {ASKED}` in /etc/security/limits.conf");
    let verdict = Verdict::of(hard, FEWEST, ENOUGH);
    let costs = verdict.costs(
        "a run cannot open the connections of its users and ends",
        &format!(
            "a mediator cannot have {CONNECTIONS_MAX} callers, since it needs two files for each: it refuses some"
        ),
    );
    Some(Finding::told(verdict, found, costs, mend))
}

/// Parses a limit; `unlimited` is more than any number.
fn limit(text: &str) -> Option<u64> {
    if text == "unlimited" { Some(u64::MAX) } else { text.parse().ok() }
}

fn told(limit: u64) -> String {
    if limit == u64::MAX { "no limit".to_owned() } else { format!("{limit} open files") }
}
