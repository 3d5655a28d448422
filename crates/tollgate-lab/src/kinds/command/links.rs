//! The emulated networks between commands and their servers, one for each variant that has a link, for the whole run;
//! and a check that links are as long as asked.
//!
//! It carries bytes, and does not know what a server is.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use tollgate_net::link::Link;

use super::file::{LinkTo, Words};
use crate::conduct::options::{RunError, RunOptions};
use crate::cores::Cores;
use crate::experiment::{Experiment, Variant};
use crate::judge::bounds::{LINK_OFF_US, LINK_SHARE_MAX};
use crate::kinds::http::remote;
use crate::plan::Plan;
use crate::subject::{check_loadable, reached};
use tollgate_facts::results::{LinkCheck, Moment, Validity};
use tollgate_facts::rules::{LINK, marked};

/// Least difference of two lengths, in milliseconds: they were rounded to whole nanoseconds.
const SAME_MS: f64 = 1e-6;

/// Links by variant.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<usize, Link>);

/// The variants of a plan that have a link, each with its link.
fn linked<'e>(experiment: &'e Experiment, plan: &Plan) -> impl Iterator<Item = (usize, &'e Variant, &'e LinkTo)> {
    let of = |place: &usize| {
        let variant = &experiment.variants[*place];
        Some((*place, variant, variant.own::<Words>()?.link.as_ref()?))
    };
    plan.variants.iter().filter_map(of).collect::<Vec<_>>().into_iter()
}

/// Checks that the servers of the links may be loaded.
pub(super) fn check(options: &RunOptions, plan: &Plan) -> Result<(), RunError> {
    linked(&options.experiment, plan).try_for_each(|(_, variant, link)| {
        let may = check_loadable(&link.server.0, &options.may_load);
        may.map_err(|message| RunError::Usage(format!("`{}`: {message}", variant.name)))
    })
}

impl Links {
    /// Starts all links; a server must listen behind each, since a link accepts connections in any case.
    pub(super) fn start(experiment: &Experiment, plan: &Plan, cores: &Cores) -> Result<Links, String> {
        let one = |(place, variant, link): (usize, &Variant, &LinkTo)| {
            let started = remote::link(server(variant, link)?, link.round_trip, cores);
            Ok((place, started.map_err(|error| format!("`{}`: no link: {error}", variant.name))?))
        };
        linked(experiment, plan).map(one).collect::<Result<_, String>>().map(Links)
    }

    /// The address on which the link of a variant listens.
    pub(super) fn of(&self, variant: usize) -> Option<SocketAddr> {
        self.0.get(&variant).map(Link::address)
    }
}

/// A measured link, and by how much its round trip exceeds that of a link without delay.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) check: LinkCheck,
    added_ms: f64,
}

/// Measures a link of each length, the shortest first: its delay is its round trip less that of a link without delay,
/// by which the baseline reaches its server.
pub(super) fn measured(moment: Moment, experiment: &Experiment, plan: &Plan) -> Result<Vec<Measured>, String> {
    let lengths: BTreeSet<Duration> = linked(experiment, plan).map(|(_, _, link)| link.round_trip).collect();
    if lengths.is_empty() {
        return Ok(Vec::new());
    }
    let without_ms = remote::check(moment, Duration::ZERO)?.got_ms;
    let of_length = |round_trip: Duration| {
        let check = remote::check(moment, round_trip)?;
        Ok(Measured { check, added_ms: check.got_ms - without_ms })
    };
    lengths.into_iter().filter(|length| !length.is_zero()).map(of_length).collect()
}

impl Measured {
    /// Describes the delay that it added.
    pub(super) fn words(&self) -> String {
        let LinkCheck { moment, asked_ms, .. } = self.check;
        format!("{asked_ms} ms added {:.3} ms {moment} the trials", self.added_ms)
    }

    /// A doubt for each cell whose link did not add the delay asked.
    pub(super) fn doubts(&self, experiment: &Experiment, plan: &Plan) -> Vec<Validity> {
        let Measured { check: LinkCheck { asked_ms, .. }, added_ms } = *self;
        let (off_ms, bound_ms) = ((added_ms - asked_ms).abs(), (LINK_OFF_US / 1e3).max(asked_ms * LINK_SHARE_MAX));
        if off_ms <= bound_ms {
            return Vec::new();
        }
        let reason = format!("a link that was to add {}", self.words());
        let found = marked(reason, "stop what else runs on this machine", (off_ms, bound_ms));
        let is_so_long = |link: &LinkTo| (link.round_trip.as_secs_f64() * 1e3 - asked_ms).abs() < SAME_MS;
        let variants = linked(experiment, plan).filter(|(_, _, link)| is_so_long(link));
        let cells = variants.flat_map(|(_, variant, _)| plan.levels.iter().map(|level| (&*variant.name, *level)));
        cells.map(|(variant, level)| found.clone().of(variant, level, LINK.name)).collect()
    }
}

/// An address of the server that the link of a variant leads to.
fn server(variant: &Variant, link: &LinkTo) -> Result<SocketAddr, String> {
    let (host, port) = &link.server;
    reached(host, *port).map_err(|error| format!("`{}`: {error}", variant.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanOptions;

    #[test]
    fn a_link_that_adds_something_else_than_was_asked_marks_the_cells_of_its_length() {
        let variant = |name: &str, us: u32| {
            format!(
                "[[variant]]\nname = \"{name}\"\ncommand = [\"ask\", \"{{host}}\"]\nlink = {{ to = \"h:1\", round_trip_us = {us} }}\n"
            )
        };
        let text = format!(
            "name = \"asking\"\nquestion = \"How far?\"\nworkload = {{ kind = \"command\" }}\nfactor = {{ name = \"argument\", levels = [1, 2] \
             }}\n{}{}{}",
            variant("none", 0),
            variant("near", 100),
            variant("far", 5_000)
        );
        let experiment = Experiment::parse(&text, "asking.toml").unwrap();
        let plan = Plan::new(&experiment, &PlanOptions::default()).unwrap();
        let check = |asked_ms: f64, added_ms: f64, expected: &[(&str, u64)]| {
            let moment = Moment::Before;
            let check = LinkCheck { moment, asked_ms, got_ms: 0.0, direct_ms: 0.0, tolerance_ms: 0.0, samples: 1 };
            let doubts = Measured { check, added_ms }.doubts(&experiment, &plan);
            let cells: Vec<(&str, u64)> = doubts.iter().map(|doubt| (&*doubt.variant, doubt.level)).collect();
            assert_eq!(cells, expected, "{doubts:?}");
        };
        // 30 µs are what waking up varies by, and a tenth of what was asked may be off.
        check(0.1, 0.129, &[]);
        check(0.1, 0.14, &[("near", 1), ("near", 2)]);
        check(5.0, 5.4, &[]);
        check(5.0, 4.4, &[("far", 1), ("far", 2)]);
    }
}
