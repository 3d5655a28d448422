//! The link of remote variants, and whether it is as long as asked: measured before the first trial and after the last,
//! stored, and a doubt of every remote cell if it was not.
//!
//! The link between generator and subject is not measured itself, but another of the same kind, so that the subjects
//! see nothing of it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use tollgate_net::link::{Effort, Link, LinkSpec, RoundTrips, Side, verify};

use super::subjects::sites::{Origin, Site};
use crate::cores::{self, Cores};
use crate::experiment::{Experiment, Variant};
use crate::plan::Plan;
use crate::subject::check_loadable;
use tollgate_facts::results::{Distance, LinkCheck, Moment, Validity};
use tollgate_facts::rules::{LINK, marked};

/// Starts a link of this round trip to a server; its thread runs on the generator's cores, as the subject's are its
/// own.
///
/// # Errors
/// The link cannot be made here.
pub(crate) fn link(server: SocketAddr, round_trip: Duration, cores: &Cores) -> io::Result<Link> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let generator = cores.generator.clone();
    Link::start_on(any, server, &LinkSpec::of_round_trip(round_trip), move || cores::pin(&generator))
}

/// Measures a link of this round trip.
///
/// # Errors
/// The link cannot be made here.
pub(crate) fn check(moment: Moment, round_trip: Duration) -> Result<LinkCheck, String> {
    let verified = verify(&LinkSpec::of_round_trip(round_trip), Effort::Short)
        .map_err(|error| format!("the link of {round_trip:?} cannot be measured: {error}"))?;
    Ok(checked(moment, verified.asked, (&verified.got, &verified.direct), verified.tolerance()))
}

/// A measurement as results store it: the round trip asked, those with and without the link, and the tolerance.
pub(crate) fn checked(
    moment: Moment,
    asked: Duration,
    (got, direct): (&RoundTrips, &RoundTrips),
    tolerance: Duration,
) -> LinkCheck {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    LinkCheck {
        moment,
        asked_ms: milliseconds(asked),
        got_ms: milliseconds(got.median()),
        direct_ms: milliseconds(direct.median()),
        tolerance_ms: milliseconds(tolerance),
        samples: got.count() as u64,
    }
}

/// The server behind a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linked {
    /// Subjects of remote variants.
    RemoteVariants,
    /// The database behind all subjects.
    Database,
}

/// Whether the plan has a link: to a remote variant, or to the database of a ladder.
pub(crate) fn is_needed(linked: Linked, experiment: &Experiment, plan: &Plan) -> bool {
    behind(linked, experiment, plan).next().is_some()
}

/// The variants whose subject, or the database of it, is behind the link.
fn behind<'e>(linked: Linked, experiment: &'e Experiment, plan: &Plan) -> impl Iterator<Item = &'e Variant> {
    let is_behind = move |variant: &&Variant| linked == Linked::Database || variant.distance == Distance::Remote;
    plan.variants_of(experiment).filter(is_behind)
}

/// Describes the network of a run, with the measured round trips of its links.
pub(crate) fn network(
    (experiment, plan): (&Experiment, &Plan),
    sites: &[Site],
    linked: Linked,
    checks: &[LinkCheck],
) -> String {
    let is_loopback = sites.iter().all(|site| match &site.place {
        Origin::Child(_) => true,
        Origin::There(target) => check_loadable(target.host(), &[]).is_ok(),
    });
    let network = if is_loopback { "loopback" } else { "network" };
    let far = || words(plan.round_trip, checks);
    match linked {
        _ if !is_needed(linked, experiment, plan) => network.to_owned(),
        Linked::RemoteVariants => format!("{network}, and for the remote variants {}", far()),
        Linked::Database => format!("{network}, and to the database {}", far()),
    }
}

/// Targets of the load that are not on this machine, or are behind a line of packets.
pub(crate) fn addresses(sites: &[Site], has_line: bool) -> Vec<SocketAddr> {
    let of = |site: &Site| match &site.place {
        // From here, at its far end, the near end is on the other side.
        Origin::Child(_) => has_line.then(|| SocketAddr::from((Side::Near.address(), 0))),
        Origin::There(target) => (target.host(), target.port()).to_socket_addrs().ok()?.next(),
    };
    sites.iter().filter_map(of).collect()
}

/// Describes a link in a result, with its measured round trips.
fn words(round_trip: Duration, checks: &[LinkCheck]) -> String {
    let asked_ms = round_trip.as_secs_f64() * 1e3;
    let measured: Vec<String> = checks.iter().map(|check| format!("{:.3} ms {}", check.got_ms, check.moment)).collect();
    let measured = if measured.is_empty() { String::new() } else { format!(", measured {}", measured.join(", ")) };
    format!("a link of {asked_ms} ms round trip (a proxy: no handshake, no slow start, no loss){measured}")
}

/// A doubt of every remote cell for each measurement that is off.
pub(crate) fn doubts(checks: &[LinkCheck], linked: Linked, (experiment, plan): (&Experiment, &Plan)) -> Vec<Validity> {
    let mut doubts = Vec::new();
    for check in checks.iter().filter(|check| !check.is_kept()) {
        let without = format!(" ({:.3} ms without it)", check.direct_ms);
        for Variant { name, .. } in behind(linked, experiment, plan) {
            doubts.extend(plan.levels.iter().map(|level| doubt(check, (name, *level), ("link", &without))));
        }
    }
    doubts
}

/// A doubt of one cell for a measurement that is off; `what` names what was measured, and `more` is added to the
/// reason.
pub(crate) fn doubt(check: &LinkCheck, (variant, level): (&str, u64), (what, more): (&str, &str)) -> Validity {
    let LinkCheck { moment, asked_ms, got_ms, tolerance_ms, .. } = *check;
    let reason = format!("the {what} took {got_ms:.3} ms {moment} the trials, where {asked_ms} ms were asked{more}");
    let remedy = "stop what else runs on this machine; `tollgate link verify` shows which delays it keeps";
    marked(reason, remedy, ((got_ms - asked_ms).abs(), tolerance_ms)).of(variant, level, LINK.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanOptions;

    fn link(moment: Moment, got_ms: f64) -> LinkCheck {
        LinkCheck { moment, asked_ms: 20.0, got_ms, direct_ms: 0.04, tolerance_ms: 1.06, samples: 200 }
    }

    #[test]
    fn a_result_says_what_was_asked_and_what_came() {
        let round_trip = Duration::from_millis(20);
        let check = |checks: &[LinkCheck], expected: &str| {
            let words = words(round_trip, checks);
            assert_eq!(
                words,
                format!("a link of 20 ms round trip (a proxy: no handshake, no slow start, no loss){expected}")
            );
        };
        check(&[], "");
        check(&[link(Moment::Before, 20.1)], ", measured 20.100 ms before");
        check(
            &[link(Moment::Before, 20.1), link(Moment::After, 20.25)],
            ", measured 20.100 ms before, 20.250 ms after",
        );
    }

    #[test]
    fn a_link_that_is_off_marks_every_remote_cell_and_no_other() {
        let experiment = Experiment::builtin("batching").unwrap();
        let options =
            PlanOptions { only: vec!["batch-10".to_owned()], levels: Some(vec![5, 10]), ..PlanOptions::default() };
        let plan = Plan::new(&experiment, &options).unwrap();
        assert!(is_needed(Linked::RemoteVariants, &experiment, &plan));
        let found = |checks: &[LinkCheck]| doubts(checks, Linked::RemoteVariants, (&experiment, &plan));
        assert_eq!(found(&[link(Moment::Before, 21.06), link(Moment::After, 18.94)]), []);
        let doubts = found(&[link(Moment::Before, 20.0), link(Moment::After, 21.07)]);
        assert!(doubts.iter().all(|doubt| doubt.variant.ends_with("-remote")), "{doubts:?}");
        assert_eq!((doubts.len(), doubts[0].level, doubts[1].level), (4, 5, 10));
        assert!(doubts[0].reason.starts_with("the link took 21.070 ms after the trials, where 20 ms were asked"));
    }
}
