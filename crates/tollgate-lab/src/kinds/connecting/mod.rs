//! The cost of encryption and of connections: users connect in the way that a variant names, to an address of its own.
//!
//! It does not make a key or a hash (see [`super::http::subjects::secured`]).

mod file;
mod observing;
mod page;
mod plan;
mod rate;

use std::time::Duration;

pub(super) use file::at_rate;

use super::http;
use super::http::encrypting::Encrypting;
use super::http::line::Line;
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

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "encryption",
    workload: "request",
    factors: &[Factor { name: "encryption", unit: "", about: "Ways of encrypting." }],
    keys: file::KEYS,
    read: file::read,
    elsewhere: file::on_one_listener,
    plan: plan::plan,
    page: page::page,
    notes: plan::notes,
    ..http::kind::<Connecting>()
};

/// Additional state of a run about encryption.
struct Connecting {
    /// Certificates, user and configuration of our own gateway; absent if no variant is measured on it.
    secured: Option<Secured>,
    /// The line to the subjects, where they are far away packet by packet.
    line: Option<Line>,
}

impl Way for Connecting {
    // One gateway with many listeners.
    const PROCESSES: Processes = Processes::OfAll;

    const LEARNS: bool = true;

    fn begin(beginning: &Beginning<'_>, sites: &[Site], _headers: &[(String, String)]) -> Result<Connecting, RunError> {
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

    fn line(&self) -> Option<&Line> {
        self.line.as_ref()
    }

    fn secured(&self) -> Option<&Secured> {
        self.secured.as_ref()
    }

    // Of one gateway with many listeners the first place warms all of it up.
    fn warm_up_at(experiment: &Experiment, plan: &Plan) -> (u64, Duration) {
        let ramp_up = experiment.own::<Encrypting>().map(|encrypting| encrypting.ramp_up);
        (plan.levels[0], ramp_up.unwrap_or_default())
    }

    fn behind(run: &mut Session<'_, '_, Self>, subjects: &mut [Watched]) -> Result<(), Halt> {
        run.at_equal_rate(subjects)?;
        run.observe(subjects);
        Ok(())
    }
}
