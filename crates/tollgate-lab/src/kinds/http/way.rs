//! What a kind of experiment that loads servers does otherwise than the others.
//!
//! It deliberately has an answer for everything: who does nothing otherwise says nothing.

use std::path::Path;
use std::time::Duration;

use super::cells::Cells;
use super::remote::Linked;
use super::session::Session;
use super::shape::LoadShape;
use super::subjects::backends::Laid;
use super::subjects::secured::Secured;
use super::subjects::sites::{Processes, Site};
use super::subjects::watched::Watched;
use super::trial::{Asked, Asking, Generator};
use crate::conduct::conductor::{Beginning, Halt, Stores, Turn};
use crate::conduct::options::{RunError, RunOptions};
use crate::experiment::{Connections, Experiment, Variant};
use crate::load::record::recorder::Tally;
use crate::load::scenario::Conduct;
use crate::plan::Plan;
use crate::plan::schedule::{self, Block};
use crate::traffic::model::End;
use tollgate_facts::results::Moment;
use tollgate_net::link::Door;

/// A warm-up by users whose connections are open for a trial only has at most so many.
const WARM_UP_USERS_MOST: u64 = 320;

/// A way of loading servers.
pub(crate) trait Way: Sized {
    /// What serves on our side, in words.
    const SERVED_BY: &'static str = "tollgate serve, a process of its own";

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

    /// Whether a variant and its baseline on one host of the user's are one system, by whatever ports.
    const IS_ONE_HOST_ONE_SYSTEM: bool = false;

    /// Which processes there are; of a configuration there is one.
    fn processes(experiment: &Experiment) -> Processes {
        if experiment.configuration.is_some() { Processes::OfAll } else { Processes::OfEach }
    }

    /// Connections at a level beside those of users, by descriptors that they take.
    fn further_descriptors(_level: u64) -> u64 {
        0
    }

    /// What cannot be as it is asked, before anything is made.
    fn check(_options: &RunOptions, _sites: &[Site], _headers: &[(String, String)]) -> Result<(), RunError> {
        Ok(())
    }

    /// Makes what it needs before any subject.
    fn begin(beginning: &Beginning<'_>, sites: &[Site]) -> Result<Self, RunError>;

    /// The generator, as it is to look at subjects.
    fn generator(generator: Generator) -> Generator {
        generator
    }

    /// What is known of cells, as it is to be kept.
    fn cells(cells: Cells) -> Cells {
        cells
    }

    /// From where subjects are loaded, if not from here.
    fn door(&self) -> Option<&Door> {
        None
    }

    /// What our own gateway has beyond others.
    fn secured(&self) -> Option<&Secured> {
        None
    }

    /// How far the link of its subjects is, at a level.
    fn set_link(&self, _level: u64) -> Result<(), String> {
        Ok(())
    }

    /// Measures what the link to subjects does.
    fn check_link(run: &mut Session<'_, '_, Self>, moment: Moment) -> Result<(), Halt> {
        run.check_remote(moment)
    }

    /// The configuration that a process for blocks of this level has for itself.
    fn laid(&self, _variant: &Variant, _level: u64, _folder: &Path) -> Result<Option<Laid>, String> {
        Ok(None)
    }

    /// A subject is there.
    fn begun(_run: &mut Session<'_, '_, Self>, _subject: &mut Watched) {}

    /// How often subjects were started, once more than this.
    fn starts(before: u32) -> u32 {
        before + 1
    }

    /// Levels of the places that a variant is asked at.
    fn places(plan: &Plan) -> Vec<u64> {
        plan.levels[..1].to_vec()
    }

    /// At which level a subject is warmed up, and over which time its users come.
    fn warm_up_at(experiment: &Experiment, plan: &Plan) -> (u64, Duration) {
        let is_lasting = experiment.connections == Connections::Kept;
        let level = plan.levels.iter().rev().find(|level| is_lasting || **level <= WARM_UP_USERS_MOST);
        (*level.unwrap_or(&plan.levels[0]), Duration::ZERO)
    }

    /// Warms every subject up.
    fn warm_up(run: &mut Session<'_, '_, Self>, subjects: &mut [Option<Watched>]) -> Result<(), Halt> {
        run.warm_up_each(subjects)
    }

    /// How users are loaded who do not simply wait.
    fn shape(_experiment: &Experiment) -> Option<&LoadShape> {
        None
    }

    /// What is asked of a subject that only answers.
    fn asking(_conduct: Conduct) -> Asking {
        Asking::Request
    }

    /// What a subject is asked first of all.
    fn first(run: &mut Session<'_, '_, Self>) -> Asking {
        run.beforehand()
    }

    /// A subject was started and warmed up.
    fn started(run: &mut Session<'_, '_, Self>, variant: usize, is_steady: bool) {
        run.kind.cells.started(variant, is_steady);
    }

    /// The blocks, once all is warm.
    fn blocks(run: &mut Session<'_, '_, Self>, _subjects: &mut [Option<Watched>]) -> Result<Vec<Block>, Halt> {
        Ok(schedule::blocks(&run.plan, run.result.seed, |_, _| u32::MAX))
    }

    /// Whether a variant is still measured at a level.
    fn is_measured(&self, _variant: usize, _level: u64) -> bool {
        true
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

    /// What is measured behind all blocks.
    fn behind(_run: &mut Session<'_, '_, Self>, _subjects: &mut [Option<Watched>]) -> Result<(), Halt> {
        Ok(())
    }
}
