//! The file descriptors and ports that a run needs: every variant keeps the connections of its largest level open, or
//! has them for a trial; a run without enough of them would blame the subject.
//!
//! The soft limit is raised to the hard one, and subjects inherit it; the hard limit is left to the machine's owner.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::remote::Linked;
use crate::experiment::{Connections, Experiment, Variant};
use crate::load::ports;
use crate::load::target::Connection;
use crate::plan::Plan;
use crate::traffic::mode::Mode;
use tollgate_facts::results::Connecting;
use tollgate_facts::results::Distance;

/// Descriptors beside the users' connections: files, pipes of the subjects, event queues, probes.
const OTHERS: u64 = 64;

/// Raises the limit as far as possible, and checks it and the ports: the users of a variant may need no more than the
/// machine has.
///
/// # Errors
/// The limit or the ports are too few, with a remedy.
pub(crate) fn check(experiment: &Experiment, plan: &Plan, linked: Linked) -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    // A failure leaves the soft limit, which is then what counts.
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let allowed = if raised.is_ok() { limit.maximum } else { limit.current };
    enough(needed(experiment, plan, linked), allowed)?;
    // Variants have servers of their own, each of which may be reached from every port.
    let level = plan.levels.iter().max().copied().unwrap_or(0);
    plan.variants_of(experiment).try_for_each(|variant| {
        let users =
            variant.own().map_or(experiment.users_of(variant, level), |mode: &Mode| mode.connections_for(level));
        let opens = variant.own().is_some_and(|connecting: &Connecting| connecting.requests_per_connection.is_some());
        let connection = if opens { Connection::New } else { Connection::KeepAlive };
        ports::check(usize::try_from(users).unwrap_or(usize::MAX), connection)
    })
}

fn needed(experiment: &Experiment, plan: &Plan, linked: Linked) -> u64 {
    let level = plan.levels.iter().max().copied().unwrap_or(0);
    let of = |variant: &Variant| {
        // Through a link each connection is one on either side of it.
        let ends = if variant.distance == Distance::Remote { 3 } else { 1 };
        // Where connections are swept, each level has a place of its own.
        let places = if variant.own::<Connecting>().is_some() { plan.levels.len() as u64 } else { 1 };
        // Each work process is one connection on either side of the link to its database.
        let further = if linked == Linked::Database { 2 * level } else { 0 };
        let users = places * experiment.users_of(variant, level) + further;
        // An insert has one connection beside those of its transfers.
        variant.own().map_or(users, |mode: &Mode| ends * mode.connections_for(level) + 1)
    };
    if experiment.connections == Connections::PerTrial {
        // One variant at a time; a mediator has one connection to its backend for each of a user.
        return 2 * experiment.users(level) + OTHERS;
    }
    plan.variants_of(experiment).map(of).fold(OTHERS, u64::saturating_add)
}

/// Checks a limit; `None` means unlimited.
fn enough(needed: u64, allowed: Option<u64>) -> Result<(), String> {
    match allowed {
        Some(allowed) if needed > allowed => Err(format!(
            "{needed} file descriptors are needed for the connections of all variants, but {allowed} are allowed: \
             take fewer variants (`--only`) or lower levels (`--level`), or raise the limit (`ulimit -Hn`)"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanOptions;

    #[test]
    fn every_variant_keeps_the_connections_of_the_largest_level() {
        let experiment = Experiment::builtin("protocol").unwrap();
        let plan = Plan::new(&experiment, &PlanOptions::default()).unwrap();
        assert_eq!(needed(&experiment, &plan, Linked::RemoteVariants), 6 * 20 + OTHERS);
        assert!(check(&experiment, &plan, Linked::RemoteVariants).is_ok());
    }

    #[test]
    fn a_limit_is_enough_up_to_itself() {
        assert!(enough(1024, Some(1024)).is_ok() && enough(1024, None).is_ok());
        assert!(enough(1025, Some(1024)).unwrap_err().contains("1025 file descriptors"));
    }
}
