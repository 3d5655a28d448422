//! What a kind of experiment that loads servers does otherwise than the others.
//!
//! It deliberately has an answer for everything: who does nothing otherwise says nothing.

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

/// A warm-up by users whose connections are open for a trial only has at most so many.
const WARM_UP_USERS_MOST: u64 = 320;

/// A way of loading servers.
pub(crate) trait Way: Sized {
    /// What serves on our side, in words.
    const SERVED_BY: &'static str = "tollgate serve, a process of its own";

    /// What is asked of a subject that only answers.
    const ASKING: fn(Conduct) -> Asking = |_| Asking::Request;

    /// Which processes there are.
    const PROCESSES: Processes = Processes::AsConfigured;

    /// What a link is before, whose round trips the plan has.
    const LINKED: Linked = Linked::RemoteVariants;

    /// How long subjects are warmed up, at least; absent: until their response times are steady.
    const WARM_UP: Option<Duration> = None;

    /// Whether the result is stored behind each trial or each block.
    const STORES: Stores = Stores::EachTrial;

    /// How many units of work a subject is asked for first, one number after the other until it does them.
    const FIRST_LOOKS: &'static [u64] = &[1];

    /// What is said of a subject that answers, but does no whole unit; absent: that is no fault yet.
    const FIRST_UNIT: Option<&'static str> = None;

    /// Whether it asks single requests, of which the user may say what they are and what is answered, or else the first
    /// answers of his servers do.
    const LEARNS: bool = false;

    /// Whether what looks see of a gateway is the question: it is then looked at more often.
    const IS_SEEN: bool = false;

    /// Makes what it needs before any subject, unless something cannot be as it is asked.
    fn begin(beginning: &Beginning<'_>, sites: &[Site], headers: &[(String, String)]) -> Result<Self, RunError>;

    /// The line to the subjects, where they are far away packet by packet.
    fn line(&self) -> Option<&Line> {
        None
    }

    /// Header fields that the subject of a variant wants beside the user's.
    fn headers(&self, _variant: usize) -> &[(String, String)] {
        &[]
    }

    /// What our own gateway has beyond others.
    fn secured(&self) -> Option<&Secured> {
        None
    }

    /// The configuration that a process for blocks of this level has for itself.
    fn laid(&self, _variant: &Variant, _level: u64, _folder: &Path) -> Result<Option<Laid>, String> {
        Ok(None)
    }

    /// At which level a subject is warmed up, and over which time its users come.
    fn warm_up_at(experiment: &Experiment, plan: &Plan) -> (u64, Duration) {
        let is_lasting = experiment.connections != Connections::PerTrial;
        let level = plan.levels.iter().rev().find(|level| is_lasting || **level <= WARM_UP_USERS_MOST);
        (*level.unwrap_or(&plan.levels[0]), Duration::ZERO)
    }

    /// Warms every subject up.
    fn warm_up(run: &mut Session<'_, '_, Self>, subjects: &mut [Watched]) -> Result<(), Halt> {
        run.warm_up_each(subjects)
    }

    /// What a subject is asked first of all.
    fn first(run: &mut Session<'_, '_, Self>) -> Asking {
        run.beforehand()
    }

    /// The blocks, once all is warm.
    fn blocks(run: &mut Session<'_, '_, Self>, _subjects: &mut [Watched]) -> Result<Vec<Block>, Halt> {
        Ok(match Self::PROCESSES {
            Processes::OfEachLevel => schedule::by_level(&run.plan, run.result.seed),
            Processes::AsConfigured | Processes::OfAll => schedule::blocks(&run.plan, run.result.seed),
        })
    }

    /// What a trial asks.
    fn asked(run: &mut Session<'_, '_, Self>, turn: Turn<'_>, subject: &mut Watched, end: End) -> Result<Asked, Halt> {
        run.reading_trial(turn, subject, end)
    }

    /// A trial is written down.
    fn tried(run: &mut Session<'_, '_, Self>, variant: usize, level: u64, tally: &Tally) -> Result<(), Halt> {
        match tally.errors.first().filter(|_| tally.requests == 0) {
            Some(error) => Err(run.failed_at(variant, level, format!("answers no more: {}", error.example))),
            None => Ok(()),
        }
    }

    /// All is over, however it ended.
    fn ended(_run: &mut Session<'_, '_, Self>) {}

    /// What is measured behind all blocks.
    fn behind(_run: &mut Session<'_, '_, Self>, _subjects: &mut [Watched]) -> Result<(), Halt> {
        Ok(())
    }
}
