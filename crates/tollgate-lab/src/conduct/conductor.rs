//! The conductor of a run: measures blocks in their order and stores the growing result, which stays valid whatever
//! happens later.
//!
//! It does not print (an [`Observer`] is notified) and does not know how to measure: that is the kind's.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tollgate_net::tls::TlsChoice;

use super::book::{self, Book};
use super::looking;
use super::options::{Observer, Progress, RunError, RunOptions};
use super::stop::{Broken, StopFlag};
use super::store::Store;
use crate::cores::Cores;
use crate::experiment::Experiment;
use crate::plan::Plan;
use crate::plan::schedule::Block;
use crate::{judge, probe};
use tollgate_facts::results::{self, FORMAT, RunResult, State, Trial};
use tollgate_facts::stats::sequential::Looking;

/// The outcome of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// The stored result.
    pub result: RunResult,
    /// The folder of `result.json`.
    pub directory: PathBuf,
    /// The way in which it ended.
    pub ending: Ending,
}

/// The way in which a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything planned was measured.
    Complete,
    /// It was asked to stop; the measurements so far are kept.
    Interrupted,
    /// A subject failed; the measurements so far are kept.
    SubjectFailed,
    /// The lab could not go on or not store the result, such as on a full disk; the measurements so far are still
    /// shown.
    LabFailed,
}

/// Reason for a run to end before its plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Halt {
    /// It was asked to stop.
    #[error("it was interrupted")]
    Stopped,
    /// The subject failed: the kind of subject, its variant, the level, and the failure.
    #[error("the {doer} `{variant}` {how}")]
    Subject { doer: &'static str, variant: String, level: u64, how: String },
    /// The lab itself cannot go on.
    #[error("{0}")]
    Ours(String),
}

/// A kind of experiment while it is run.
pub(crate) trait Kind: Sized {
    /// The subjects, while they are running.
    type Subjects;

    /// The noun for a subject in messages, before the variant's name.
    const DOER: &'static str;

    /// The times at which the result is stored.
    const STORES: Stores = Stores::EachBlock;

    /// Measures everything, by [`Conductor::measure`] for blocks.
    fn measure(run: &mut Conductor<'_, Self>) -> Result<(), Halt>;

    /// Restarts the subjects, for blocks of this level.
    fn begin_anew(_run: &mut Conductor<'_, Self>, _subjects: &mut Self::Subjects, _level: u64) -> Result<(), Halt> {
        Ok(())
    }

    /// Measures one trial and records it.
    fn trial(run: &mut Conductor<'_, Self>, subjects: &mut Self::Subjects, turn: Turn<'_>) -> Result<(), Halt>;

    /// Whether a run that ended for this reason before its first trial has no result.
    fn leaves_nothing(halt: &Halt) -> bool {
        matches!(halt, Halt::Subject { .. })
    }

    /// Adds cells, doubts and series to a result that has only trials, faults and gaps.
    fn fill(run: &mut Conductor<'_, Self>);

    /// Adds what is computed from tolls, at each save.
    fn conclude(_run: &mut Conductor<'_, Self>) {}

    /// Adds what is computed once, at the end.
    fn close(_run: &mut Conductor<'_, Self>) {}
}

/// A trial that is due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn<'b> {
    /// The block that it belongs to.
    pub(crate) block: &'b Block,
    /// Its place in the block's order.
    pub(crate) place: usize,
    /// Position of the variant.
    pub(crate) variant: usize,
}

impl Turn<'_> {
    /// Its trial, begun at this offset from the start of the run; its findings are still to be filled in.
    pub(crate) fn trial(self, variant: &str, began: Duration) -> Trial {
        Trial {
            variant: variant.to_owned(),
            level: self.block.level,
            start: self.block.start,
            block: self.block.number,
            place: self.place as u32,
            start_ms: began.as_secs_f64() * 1e3,
            ..Trial::default()
        }
    }
}

/// The times at which the result is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stores {
    /// After each trial.
    EachTrial,
    /// After each block, where there are many trials.
    EachBlock,
}

/// Times and counts of trials, to estimate the remaining time.
#[derive(Debug)]
struct Clock {
    began: Instant,
    /// Trials before the start of this clock.
    before: usize,
    /// Total time of restarts, and their number.
    aside: (Duration, u32),
    /// The number of restarts still to come.
    beginnings_left: u32,
    /// Total number of trials.
    planned: usize,
}

impl Clock {
    /// Starts the clock now, after `before` trials of those planned.
    fn new(before: usize, planned: usize) -> Clock {
        Clock { began: Instant::now(), before, aside: (Duration::ZERO, 0), beginnings_left: 0, planned }
    }

    /// The estimated remaining time after this time and this many trials. A restart is assumed to take its mean time so
    /// far, or `warm_up` if there was none yet.
    fn left(&self, elapsed: Duration, done: usize, warm_up: Duration) -> Duration {
        let (aside, beginnings) = self.aside;
        let each = elapsed.saturating_sub(aside) / (done.saturating_sub(self.before) as u32).max(1);
        let beginning = aside.checked_div(beginnings).unwrap_or(warm_up);
        each * self.planned.saturating_sub(done) as u32 + beginning * self.beginnings_left
    }
}

/// A run in progress.
pub(crate) struct Conductor<'a, K> {
    pub(crate) options: &'a RunOptions,
    /// The experiment, with what became known during the run.
    pub(crate) experiment: Experiment,
    pub(crate) plan: Plan,
    pub(crate) cores: Cores,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) stop: &'a StopFlag,
    pub(crate) store: Store,
    pub(crate) result: RunResult,
    pub(crate) book: Book,
    clock: Clock,
    /// The kind of experiment.
    pub(crate) kind: K,
}

/// A run at its beginning: its kind is not yet set.
pub(crate) type Beginning<'a> = Conductor<'a, ()>;

impl<'a> Beginning<'a> {
    /// Chooses the folder of the result, the cores, and the seed of every order.
    ///
    /// # Errors
    /// The folder cannot be used for the result.
    pub(crate) fn new(
        options: &'a RunOptions,
        plan: Plan,
        observer: &'a dyn Observer,
        stop: &'a StopFlag,
    ) -> Result<Beginning<'a>, RunError> {
        let started = jiff::Timestamp::now();
        let store = Store::choose(options.out.as_deref(), &options.experiment.name, started)?;
        let (experiment, cores, book) = (options.experiment.clone(), Cores::divide(), Book::default());
        let result = blank(options, &plan, &cores, started);
        let clock = Clock::new(0, 0);
        Ok(Conductor { options, experiment, plan, cores, observer, stop, store, result, book, clock, kind: () })
    }

    /// Makes the run of a kind, with its variants as in results, and the network in words.
    pub(crate) fn of<K: Kind>(self, kind: K, variants: Vec<results::Variant>, network: String) -> Conductor<'a, K> {
        let Conductor { options, experiment, plan, cores, observer, stop, store, mut result, book, clock, kind: () } =
            self;
        observer.progress(&Progress::Planned { trials: plan.trials(), duration: plan.duration() });
        let is_planned = |name: &str| variants.iter().any(|variant| variant.peer.as_deref() == Some(name));
        let peers = options.peers.iter().filter(|peer| is_planned(&peer.name));
        result.peers = peers.map(|peer| results::Peer { name: peer.name.clone(), title: peer.title.clone() }).collect();
        (result.experiment.variants, result.settings.network) = (variants, network);
        Conductor { options, experiment, plan, cores, observer, stop, store, result, book, clock, kind }
    }
}

impl<K: Kind> Conductor<'_, K> {
    /// Measures everything, as far as possible, and stores the result with its ending.
    ///
    /// # Errors
    /// The reason that nothing was measured.
    pub(crate) fn conduct(mut self) -> Result<RunOutcome, RunError> {
        // Only now: the result says how many cores the machine lent us, not how many this thread keeps.
        let _on_generator_cores = self.cores.pin_to_generator();
        let ending = self.ended().map_err(|halt| RunError::Failed(halt.to_string()))?;
        let directory = self.store.directory().to_owned();
        Ok(RunOutcome { result: self.result, directory, ending })
    }

    fn ended(&mut self) -> Result<Ending, Halt> {
        let mut halted = K::measure(self);
        if let Err(halt) = &halted
            && self.trials() == 0
            && K::leaves_nothing(halt)
        {
            return Err(halt.clone());
        }
        // The measurements are valid, but something could not be restored after them.
        let left_behind = self.result.reason.take();
        let ending = match &mut halted {
            Ok(()) if left_behind.is_some() => Ending::LabFailed,
            Ok(()) => Ending::Complete,
            Err(Halt::Stopped) => Ending::Interrupted,
            Err(Halt::Subject { variant, level, how, .. }) => {
                *how = how.lines().map(str::trim).collect::<Vec<_>>().join(" | ");
                self.book.faults.push(judge::subject_died(variant, *level, how));
                Ending::SubjectFailed
            }
            Err(Halt::Ours(_)) if self.trials() > 0 => Ending::LabFailed,
            Err(halt @ Halt::Ours(_)) => return Err(halt.clone()),
        };
        K::close(self);
        self.result.state = if halted.is_ok() { State::Complete } else { State::Partial };
        let reasons: Vec<String> = halted.err().map(|halt| halt.to_string()).into_iter().chain(left_behind).collect();
        self.result.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        self.result.finished = Some(text(jiff::Timestamp::now()));
        let saved = self.save();
        self.observer.progress(&Progress::Finished);
        match saved {
            Err(halt) if self.trials() > 0 => {
                self.result.reason.get_or_insert_with(|| halt.to_string());
                Ok(Ending::LabFailed)
            }
            saved => saved.map(|()| ending),
        }
    }

    /// Trials so far.
    pub(crate) fn trials(&self) -> usize {
        self.result.trials.len() + self.book.further
    }

    /// Sets the total number of trials from here on.
    pub(crate) fn plan_trials(&mut self, planned: usize) {
        self.clock = Clock::new(self.trials(), planned);
    }

    /// Measures blocks in their order.
    pub(crate) fn blocks(&mut self, blocks: &[Block], subjects: &mut K::Subjects) -> Result<(), Halt> {
        let mut start = 0;
        for (place_of_block, block) in blocks.iter().enumerate() {
            if start != block.start {
                let began = Instant::now();
                K::begin_anew(self, subjects, block.level)?;
                self.clock.aside.0 += began.elapsed();
                self.clock.aside.1 += 1;
                start = block.start;
            }
            let later = blocks[place_of_block..].windows(2);
            self.clock.beginnings_left = later.filter(|pair| pair[0].start != pair[1].start).count() as u32;
            for (place, &variant) in block.order.iter().enumerate() {
                let name = &self.experiment.variants[variant].name;
                if self.result.gaps.iter().any(|gap| gap.variant == *name && gap.level == block.level) {
                    continue;
                }
                let at = self.result.experiment.level_title(block.level);
                self.observer.progress(&Progress::Measuring { variant: name, at: &at });
                K::trial(self, subjects, Turn { block, place, variant })?;
                if K::STORES == Stores::EachTrial {
                    self.save()?;
                }
                self.tell(variant, block.level, self.result.trials.last());
            }
            if K::STORES == Stores::EachBlock {
                self.save()?;
            }
            let is_whole = blocks.get(place_of_block + 1).is_none_or(|next| next.number != block.number);
            if is_whole && looking::is_enough(&mut self.result, block.number + 1) {
                return self.save();
            }
        }
        Ok(())
    }

    /// Tells the observer that a trial is done.
    pub(crate) fn tell(&self, variant: usize, level: u64, trial: Option<&Trial>) {
        let (done, planned) = (self.trials(), &self.clock.planned);
        let left = self.clock.left(self.clock.began.elapsed(), done, self.plan.warm_up);
        let variant = &self.experiment.variants[variant].name;
        let per_second = trial.filter(|trial| trial.duration_ms > 0.0 && trial.variant == *variant);
        let per_second = per_second.map(|trial| trial.requests as f64 / trial.duration_ms * 1e3);
        let at = &self.result.experiment.level_title(level);
        self.observer.progress(&Progress::Trial { done, planned: *planned, variant, at, left, per_second });
    }

    /// Stores everything measured so far.
    pub(crate) fn save(&mut self) -> Result<(), Halt> {
        self.result.validity.clone_from(&self.book.faults);
        self.result.cells.clear();
        self.result.series.clear();
        K::fill(self);
        book::judge(&self.experiment.thresholds, &mut self.result);
        K::conclude(self);
        self.store.write_result(&self.result).map_err(Halt::Ours)
    }

    /// Returns an error if the run is to stop.
    pub(crate) fn goes_on(&self) -> Result<(), Halt> {
        if self.stop.is_stopped() { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// Returns why a trial of a variant did not finish.
    pub(crate) fn broken(&self, variant: usize, level: u64, broken: Broken) -> Halt {
        match broken {
            Broken::Stopped => Halt::Stopped,
            Broken::Failed(how) => self.failed_at(variant, level, how),
        }
    }

    /// Returns a failure of the subject.
    pub(crate) fn failed_at(&self, variant: usize, level: u64, how: String) -> Halt {
        let variant = self.experiment.variants[variant].name.clone();
        Halt::Subject { doer: K::DOER, variant, level, how }
    }
}

fn text(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The result before its variants are known.
fn blank(options: &RunOptions, plan: &Plan, cores: &Cores, started: jiff::Timestamp) -> RunResult {
    let experiment = &options.experiment;
    let heading = experiment.heading;
    let mut choices = experiment.variants.iter().map(|variant| variant.access.choice).chain([options.tls.choice]);
    RunResult {
        format: FORMAT,
        experiment: results::Experiment {
            name: experiment.name.clone(),
            question: experiment.question.clone(),
            factor: heading.factor.name.to_owned(),
            factor_unit: heading.factor.unit.to_owned(),
            levels: plan.levels.clone(),
            named_levels: experiment.named_levels.clone(),
            users: experiment.fixed_users(),
            unit_of_work: heading.unit_of_work.to_owned(),
            piece: heading.piece,
            published_table: experiment.published_table.map(|table| table.to_string()),
            answer: experiment.answer.clone(),
            ..results::Experiment::default()
        },
        version: options.version.clone(),
        started: text(started),
        machine: probe::machine::machine(),
        command: options.command_line.clone(),
        seed: options.seed.unwrap_or_else(|| started.as_nanosecond() as u64),
        settings: results::Settings {
            extent: plan.extent.to_string(),
            blocks: plan.blocks,
            slice_ms: plan.slice.as_secs_f64() * 1e3,
            generator_cores: cores.generator.clone(),
            subject_cores: cores.subjects.clone(),
            equivalence_share: plan
                .equivalence_ppm
                .map_or(tollgate_facts::results::NO_TOLL_BAND, |ppm| f64::from(ppm) / 1e6),
            insecure: choices.any(|choice| choice == TlsChoice::Insecure),
            connections: experiment.connections.stored(),
            ramp_ms: (!plan.ramp.is_zero()).then_some(plan.ramp.as_secs_f64() * 1e3),
            cell_ms: plan.cell.map(|cell| cell.as_secs_f64() * 1e3),
            looks: plan.until_width_ppm.map(|width_ppm| results::Looks {
                width: f64::from(width_ppm) / 1e6,
                done: 0,
                is_reached: false,
                alpha: Looking::Often.alpha(),
            }),
            ..results::Settings::default()
        },
        published: experiment.published.clone(),
        ..RunResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_trials_to_come_and_the_beginnings_to_come() {
        let check = |clock: &Clock, elapsed_s: u64, done: usize, expected_s: u64| {
            let left = clock.left(Duration::from_secs(elapsed_s), done, Duration::from_secs(5));
            assert_eq!(left, Duration::from_secs(expected_s), "{clock:?}");
        };
        let mut clock = Clock::new(2, 12);
        check(&clock, 4, 4, 16);
        clock.beginnings_left = 2;
        check(&clock, 4, 4, 26);
        (clock.aside, clock.beginnings_left) = ((Duration::from_secs(3), 1), 1);
        check(&clock, 13, 7, 13);
        clock.beginnings_left = 0;
        check(&clock, 23, 12, 0);
    }
}
