//! What encryption costs, and connections: users connect in the way that a variant names, at places of their own.
//!
//! What it deliberately does not do: make a key or a hash (see [`super::http::subjects::secured`]).

mod file;
mod line;
mod observing;
mod page;
mod plan;
mod rate;

use std::time::Duration;

use tollgate_net::link::Door;

use super::http;
use super::http::encrypting::Encrypting;
use super::http::session::Session;
use super::http::subjects::secured::Secured;
use super::http::subjects::sites::{Origin, Processes, Site};
use super::http::subjects::watched::Watched;
use super::http::way::Way;
use super::listed::Listed;
use crate::conduct::conductor::{Beginning, Halt};
use crate::conduct::options::RunError;
use crate::experiment::{Experiment, Factor};
use crate::plan::Plan;
use line::Line;
use tollgate_facts::results::{LinkCheck, Moment, Piece};

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "encryption",
    workload: "request",
    about: "",
    factors: &[Factor { name: "encryption", unit: "", about: "Ways of encrypting." }],
    unit_of_work: "request",
    piece: Piece::Request,
    instead: "",
    keys: file::KEYS,
    read: file::read,
    elsewhere: file::on_one_listener,
    plan: plan::plan,
    page: page::page,
    notes: plan::notes,
    check: http::check::<Connecting>,
    run: http::run::<Connecting>,
};

/// What such a run has beyond others.
struct Connecting {
    /// Certificates, user and configuration of our own gateway; absent where nothing is measured on one.
    secured: Option<Secured>,
    /// The line to the subjects, where they are far away packet by packet.
    line: Option<Line>,
}

impl Way for Connecting {
    // Plain and encrypted are two ports of one server.
    const IS_ONE_HOST_ONE_SYSTEM: bool = true;

    // One gateway with many listeners.
    fn processes(_experiment: &Experiment) -> Processes {
        Processes::OfAll
    }

    fn begin(beginning: &Beginning<'_>, sites: &[Site]) -> Result<Connecting, RunError> {
        let Beginning { options, plan, store, .. } = beginning;
        let experiment = &options.experiment;
        // Before keys are made: who has no right to a line is told so at once.
        let line = Line::open(experiment, plan, sites, &beginning.cores)?;
        let is_ours =
            |site: &Site| matches!(site.place, Origin::Child(_)) && experiment.variants[site.variant].peer.is_none();
        let secured = match sites.iter().any(is_ours) {
            true => Secured::make(experiment, &plan.levels, store.directory(), &options.serve_program)
                .map_err(RunError::Failed)?,
            false => None,
        };
        Ok(Connecting { secured, line })
    }

    fn door(&self) -> Option<&Door> {
        self.line.as_ref().map(Line::near)
    }

    fn secured(&self) -> Option<&Secured> {
        self.secured.as_ref()
    }

    fn set_link(&self, level: u64) -> Result<(), String> {
        self.line.as_ref().map_or(Ok(()), |line| line.at(level))
    }

    fn check_link(run: &mut Session<'_, '_, Self>, moment: Moment) -> Result<(), Halt> {
        let Some(line) = &run.kind.way.line else { return run.check_remote(moment) };
        let checks = line.check(moment).map_err(Halt::Ours)?;
        // A cell is doubtful once, whether its line was off before or after.
        let is_known = |check: &LinkCheck| {
            let mut off = run.result.links.iter().filter(|known| !known.is_kept());
            off.any(|known| known.asked_ms.total_cmp(&check.asked_ms).is_eq())
        };
        let fresh: Vec<LinkCheck> = checks.iter().filter(|check| !is_known(check)).copied().collect();
        run.book.faults.extend(line.doubts(&fresh, &run.options.experiment, &run.plan));
        run.result.links.extend(checks);
        run.result.settings.network = line.words();
        Ok(())
    }

    fn places(plan: &Plan) -> Vec<u64> {
        plan.levels.clone()
    }

    // Of one gateway with many listeners the first place warms all of it up.
    fn warm_up_at(experiment: &Experiment, plan: &Plan) -> (u64, Duration) {
        let ramp_up = experiment.own::<Encrypting>().map(|encrypting| encrypting.ramp_up);
        (plan.levels[0], ramp_up.unwrap_or_default())
    }

    fn behind(run: &mut Session<'_, '_, Self>, subjects: &mut [Option<Watched>]) -> Result<(), Halt> {
        run.at_equal_rate(subjects)?;
        run.observe(subjects);
        Ok(())
    }
}
