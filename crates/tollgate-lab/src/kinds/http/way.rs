//! Differences between the kinds of experiments that load servers.
//!
//! All but `begin` has a default, so that a kind defines only its differences.

use std::path::Path;
use std::time::Duration;

use super::line::Line;
use super::remote::Linked;
use super::session::Session;
use super::subjects::backends::Laid;
use super::subjects::secured::Secured;
use super::subjects::sites::{Processes, Site};
use super::subjects::watched::Watched;
use super::trial::{Asked, Asking};
use crate::conduct::conductor::{Beginning, Halt, Stores, Turn};
use crate::conduct::options::RunError;
use crate::experiment::{Connections, Experiment, Variant};
use crate::load::record::recorder::Tally;
use crate::load::scenario::Conduct;
use crate::plan::Plan;
use crate::plan::schedule::{self, Block};
use crate::traffic::model::End;

/// Most users of a warm-up whose connections are open for one trial only.
const WARM_UP_USERS_MOST: u64 = 320;

/// A way of loading servers.
pub(crate) trait Way: Sized {
    /// Description of our server.
    const SERVED_BY: &'static str = "tollgate serve, a process of its own";

    /// The work of a trial whose subject only answers.
    const ASKING: fn(Conduct) -> Asking = |_| Asking::Request;

    /// The number of processes.
    const PROCESSES: Processes = Processes::AsConfigured;

    /// The server behind a link whose round trips are in the plan.
    const LINKED: Linked = Linked::RemoteVariants;

    /// Least time of a warm-up; absent: until response times are steady.
    const WARM_UP: Option<Duration> = None;

    /// The time of storing the result: after each trial or each block.
    const STORES: Stores = Stores::EachTrial;

    /// Numbers of units of work for the first request of a subject, tried in order until it does them.
    const FIRST_LOOKS: &'static [u64] = &[1];

    /// Error of a subject that answers without completing a unit; absent: that is no error yet.
    const FIRST_UNIT: Option<&'static str> = None;

    /// Whether it sends single requests: the user may describe them and their answers, or else the first answers of the
    /// user's servers are the model.
    const LEARNS: bool = false;

    /// Whether observations of a gateway are studied themselves: it is then looked at more often.
    const IS_SEEN: bool = false;

    /// Makes what it needs before any subject; fails if something cannot be as asked.
    fn begin(beginning: &Beginning<'_>, sites: &[Site], headers: &[(String, String)]) -> Result<Self, RunError>;

    /// The line to the subjects, if there is one.
    fn line(&self) -> Option<&Line> {
        None
    }

    /// Header fields that the subject of a variant needs beside the user's.
    fn headers(&self, _variant: usize) -> &[(String, String)] {
        &[]
    }

    /// Certificates and user of our own gateway.
    fn secured(&self) -> Option<&Secured> {
        None
    }

    /// The own configuration of a process for blocks of this level.
    fn laid(&self, _variant: &Variant, _level: u64, _folder: &Path) -> Result<Option<Laid>, String> {
        Ok(None)
    }

    /// Sets the user's servers for blocks of the current level, before any subject begins.
    fn set(_run: &mut Session<'_, '_, Self>) -> Result<(), Halt> {
        Ok(())
    }

    /// The processes of a server of the user's that are watched.
    fn processes(&self, site: &Site) -> Vec<u32> {
        site.processes.clone()
    }

    /// Longest time until a subject gives its first valid answer, beyond the first attempt.
    fn patience(&self) -> Duration {
        Duration::ZERO
    }

    /// Level of a subject's warm-up, and the time over which its users come.
    fn warm_up_at(experiment: &Experiment, plan: &Plan) -> (u64, Duration) {
        let is_lasting = experiment.connections != Connections::PerTrial;
        let level = plan.levels.iter().rev().find(|level| is_lasting || **level <= WARM_UP_USERS_MOST);
        (*level.unwrap_or(&plan.levels[0]), Duration::ZERO)
    }

    /// Warms every subject up.
    fn warm_up(run: &mut Session<'_, '_, Self>, subjects: &mut [Watched]) -> Result<(), Halt> {
        run.warm_up_each(subjects)
    }

    /// The first work of a subject.
    fn first(run: &mut Session<'_, '_, Self>) -> Asking {
        run.beforehand()
    }

    /// The blocks, after the warm-up.
    fn blocks(run: &mut Session<'_, '_, Self>, _subjects: &mut [Watched]) -> Result<Vec<Block>, Halt> {
        Ok(match Self::PROCESSES {
            Processes::OfEachLevel => schedule::by_level(&run.plan, run.result.seed),
            Processes::AsConfigured | Processes::OfAll => schedule::blocks(&run.plan, run.result.seed),
        })
    }

    /// Work and load of a trial.
    fn asked(run: &mut Session<'_, '_, Self>, turn: Turn<'_>, subject: &mut Watched, end: End) -> Result<Asked, Halt> {
        run.reading_trial(turn, subject, end)
    }

    /// Called once a trial is recorded.
    fn tried(run: &mut Session<'_, '_, Self>, variant: usize, level: u64, tally: &Tally) -> Result<(), Halt> {
        match tally.errors.first().filter(|_| tally.requests == 0) {
            Some(error) => Err(run.failed_at(variant, level, format!("answers no more: {}", error.example))),
            None => Ok(()),
        }
    }

    /// Called at the end, however it ended.
    fn ended(_run: &mut Session<'_, '_, Self>) {}

    /// Measurements after all blocks.
    fn behind(_run: &mut Session<'_, '_, Self>, _subjects: &mut [Watched]) -> Result<(), Halt> {
        Ok(())
    }
}
