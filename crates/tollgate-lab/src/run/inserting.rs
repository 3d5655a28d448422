//! Inserts in a run: a survey finds for each variant where errors begin and how long a transfer takes, so that the blocks
//! can be dealt out before anything is measured; and what a trial of transfers is asked.
//!
//! The survey is in no figure but the settlement of its transfers, which are compared record by record at every level.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::options::Progress;
use super::session::{Halt, Session};
use super::trial::{Asked, Asking};
use super::watched::Watched;
use super::{WARM_UP_LEAST, WARM_UP_REQUESTS};
use crate::experiment::{Mode, Variant};
use crate::load::insert::{Closeness, Records, Transfer};
use crate::load::model::{Closed, End};
use crate::load::recorder::Course;
use crate::plan::TRIALS_PER_BLOCK;
use crate::results::{Gap, GapKind};
use crate::schedule::{self, Block};
use crate::secret;

/// With fewer blocks there is no interval.
const BLOCKS_LEAST: u32 = 2;
/// Transfers of more records are compared record by record in the survey only; their rows are counted every time.
const COMPARED_RECORDS_MAX: u64 = 1000;
/// Subjects are warmed up by transfers of at most so many records.
const WARM_UP_RECORDS_MAX: u64 = 100;

/// What a run of inserts knows beyond its plan.
#[derive(Debug)]
pub(super) struct Inserting {
    /// The records of every transfer.
    pub(super) records: Arc<Records>,
    /// The least level at which a variant's errors have begun.
    onsets: HashMap<usize, u64>,
}

impl Inserting {
    /// The records of the largest level.
    pub(super) fn new(seed: u64, level_max: u64) -> Inserting {
        let count = usize::try_from(level_max).expect("levels are bounded");
        Inserting { records: Arc::new(Records::generate(seed, count)), onsets: HashMap::new() }
    }

    /// A measured trial.
    pub(super) fn trial(&self, variant: &Variant, subject: &Watched, level: u64, end: End) -> Asked {
        let closeness = if level <= COMPARED_RECORDS_MAX { Closeness::Compare } else { Closeness::Count };
        self.asked(variant, subject, level, end, closeness)
    }

    fn asked(&self, variant: &Variant, subject: &Watched, level: u64, end: End, closeness: Closeness) -> Asked {
        let mode = variant.mode.expect("every variant of an insert has a mode");
        let beside = subject.beside.clone().expect("an insert asks beside its transfers");
        let transfer = Transfer {
            mode,
            count: level as usize,
            records: Arc::clone(&self.records),
            places: beside.places,
            reading: beside.reading,
            emptying: beside.emptying,
            permission: beside.permission,
            clocks: subject.clocks.clone(),
            closeness,
        };
        let load = Closed { users: connections(mode, level) as usize, end };
        Asked { work: Asking::Insert(Box::new(transfer)), load }
    }
}

/// Connections that a transfer uses: never more than it has records.
pub(super) fn connections(mode: Mode, level: u64) -> u64 {
    u64::from(mode.connections()).min(level)
}

/// How often a transfer waits for an answer before it can go on.
fn waits(mode: Mode, level: u64) -> u64 {
    level.div_ceil(mode.records_per_request(level)).div_ceil(connections(mode, level))
}

/// How many blocks a cell gets whose trials take so long; none where they would be too few.
fn blocks_within(cell: Duration, trial: Duration, planned: u32) -> u32 {
    let block = trial * TRIALS_PER_BLOCK;
    let fitting = (cell.as_nanos() / block.as_nanos().max(1)).min(u128::from(planned)) as u32;
    if fitting < BLOCKS_LEAST.min(planned) { 0 } else { fitting }
}

impl Session<'_> {
    /// One transfer of each variant at each level, the smallest first, until errors begin or it takes too long.
    pub(super) fn survey(&mut self, subjects: &mut [Option<Watched>]) -> Result<Vec<Block>, Halt> {
        let mut blocks_of: HashMap<(usize, u64), u32> = HashMap::new();
        for (slot, site) in self.sites.iter().enumerate() {
            let Some(subject) = &mut subjects[slot] else { continue };
            let name = &self.options.experiment.variants[site.variant].name;
            self.observer.progress(&Progress::Surveying { variant: name });
            self.survey_one(slot, site.variant, subject, &mut blocks_of)?;
        }
        let blocks = |variant, level| blocks_of.get(&(variant, level)).copied().unwrap_or(0);
        Ok(schedule::blocks(self.plan, self.result.seed, blocks))
    }

    fn survey_one(
        &mut self,
        slot: usize,
        variant: usize,
        subject: &mut Watched,
        blocks_of: &mut HashMap<(usize, u64), u32>,
    ) -> Result<(), Halt> {
        let shape = &self.options.experiment.variants[variant];
        let mode = shape.mode.expect("every variant of an insert has a mode");
        let cell = self.plan.cell.expect("an insert has a bound on a cell's time");
        // The time of the last transfer by what it waited for: more records take at least as long again.
        let mut wait = Duration::ZERO;
        for level in self.plan.levels.clone() {
            let projected = wait * u32::try_from(waits(mode, level)).unwrap_or(u32::MAX);
            if blocks_within(cell, projected, self.plan.blocks) == 0 {
                self.too_long(variant, level, projected, "would take at least");
                continue;
            }
            let Some(inserting) = &self.inserting else { return Ok(()) };
            let end = End { after: None, units: Some(1) };
            let asked = inserting.asked(shape, subject, level, end, Closeness::Compare);
            let measured = self.load(slot, variant, subject, asked, Course::Unrecorded, level)?;
            let tally = &measured.recorder.tally;
            let failure = tally.errors.first().map(|error| error.example.clone());
            let time = tally.unit_times.first().copied();
            self.book.surveyed(variant, level, &tally.transfers);
            self.generator.keep(measured.recorder);
            match (failure, time) {
                (Some(failure), _) if shape.baseline.is_none() && level == self.plan.levels[0] => {
                    let url = secret::hide(&subject.target.target.to_string());
                    return Err(self.failed(variant, format!("gives no valid answer at {url}: {failure}")));
                }
                (Some(failure), _) => {
                    self.note_onset(variant, level, failure);
                    return Ok(());
                }
                (None, None) => {}
                (None, Some(time)) => {
                    wait = time / u32::try_from(waits(mode, level)).unwrap_or(u32::MAX);
                    let blocks = blocks_within(cell, time.max(self.plan.slice), self.plan.blocks);
                    blocks_of.insert((variant, level), blocks);
                    if blocks == 0 {
                        self.too_long(variant, level, time, "takes");
                    }
                }
            }
        }
        Ok(())
    }

    /// Transfers in turn, until the bounds of a warm-up are reached.
    pub(super) fn warm_up_inserts(&mut self, subjects: &mut [Option<Watched>]) -> Result<(), Halt> {
        let level = self.plan.levels.iter().copied().filter(|level| *level <= WARM_UP_RECORDS_MAX).max();
        let level = level.unwrap_or(self.plan.levels[0]);
        let began = Instant::now();
        let mut records = 0;
        while began.elapsed() < WARM_UP_LEAST && records < WARM_UP_REQUESTS {
            let before = records;
            for (slot, site) in self.sites.iter().enumerate() {
                let variant = &self.options.experiment.variants[site.variant];
                let is_near = variant.distance == crate::experiment::Distance::Local;
                if !is_near || self.is_after_onset(site.variant, level) {
                    continue;
                }
                let (Some(subject), Some(inserting)) = (&mut subjects[slot], &self.inserting) else { continue };
                self.observer.progress(&Progress::WarmingUp { variant: &variant.name });
                let end = End { after: Some(self.plan.slice), units: None };
                let asked = inserting.asked(variant, subject, level, end, Closeness::Count);
                let measured = self.load(slot, site.variant, subject, asked, Course::Unrecorded, level)?;
                records += measured.recorder.tally.transfers.records;
                self.generator.keep(measured.recorder);
            }
            if records == before {
                break;
            }
        }
        for site in self.sites {
            self.book.started(site.variant, true);
        }
        Ok(())
    }

    /// Whether a variant's errors have begun at this level or below.
    pub(super) fn is_after_onset(&self, variant: usize, level: u64) -> bool {
        let onset = self.inserting.as_ref().and_then(|inserting| inserting.onsets.get(&variant));
        onset.is_some_and(|onset| *onset <= level)
    }

    /// Errors have begun: this level is where, and what lies above is not measured any more.
    pub(super) fn note_onset(&mut self, variant: usize, level: u64, failure: String) {
        let Some(inserting) = &mut self.inserting else { return };
        inserting.onsets.insert(variant, level);
        let name = &self.options.experiment.variants[variant].name;
        let gap = |level, kind, reason| Gap { variant: name.clone(), level, kind, reason };
        self.book.gap(gap(level, GapKind::ErrorOnset, failure));
        for above in self.plan.levels.iter().filter(|above| **above > level) {
            let reason = format!("errors began at {level} records");
            self.book.gap(gap(*above, GapKind::AfterOnset, reason));
        }
    }

    fn too_long(&mut self, variant: usize, level: u64, time: Duration, verb: &str) {
        let cell = self.plan.cell.unwrap_or_default();
        self.book.gap(Gap {
            variant: self.options.experiment.variants[variant].name.clone(),
            level,
            kind: GapKind::TooLong,
            reason: format!(
                "skipped: a transfer {verb} {:.3} s, and {} of them do not fit into the {} s of a cell",
                time.as_secs_f64(),
                BLOCKS_LEAST * TRIALS_PER_BLOCK,
                cell.as_secs_f64()
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_gets_as_many_blocks_as_fit_and_none_if_they_are_too_few() {
        let check = |cell_ms: u64, trial_ms: u64, expected: u32| {
            let found = blocks_within(Duration::from_millis(cell_ms), Duration::from_millis(trial_ms), 8);
            assert_eq!(found, expected, "{trial_ms} ms in {cell_ms} ms");
        };
        check(1000, 1, 8);
        check(1000, 62, 8);
        check(1000, 63, 7);
        check(1000, 250, 2);
        check(1000, 251, 0);
        check(1000, 0, 8);
    }

    #[test]
    fn a_transfer_waits_for_its_requests_one_after_another_on_each_connection() {
        let check = |mode: &str, level: u64, expected: u64| {
            assert_eq!(waits(mode.parse().unwrap(), level), expected, "{mode} at {level}");
        };
        check("sequential", 100, 100);
        check("parallel-10", 100, 10);
        check("parallel-500", 100, 1);
        check("batch-50", 120, 3);
        check("custom-rest", 20_000, 1);
    }
}
