//! Inserts in a run: what a trial of transfers is asked, and how many blocks a cell gets.
//!
//! What it deliberately does not do: warm up, survey, or note where errors begin; each has a file of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::trial::{Asked, Asking};
use super::watched::Watched;
use crate::experiment::{Mode, Variant};
use crate::load::insert::{Closeness, Records, Transfer};
use crate::load::model::{Closed, End};
use crate::plan::TRIALS_PER_BLOCK;

/// With fewer blocks there is no interval.
pub(super) const BLOCKS_LEAST: u32 = 2;
/// Transfers of more records are compared record by record in the survey only; their rows are counted every time.
const COMPARED_RECORDS_MAX: u64 = 1000;

/// What a run of inserts knows beyond its plan.
#[derive(Debug)]
pub(super) struct Inserting {
    /// The records of every transfer.
    pub(super) records: Arc<Records>,
    /// The least level at which a variant's errors have begun.
    pub(super) onsets: HashMap<usize, u64>,
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

    /// So many transfers, settled so closely.
    pub(super) fn asked(
        &self,
        variant: &Variant,
        subject: &Watched,
        level: u64,
        end: End,
        closeness: Closeness,
    ) -> Asked {
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
pub(super) fn waits(mode: Mode, level: u64) -> u64 {
    level.div_ceil(mode.records_per_request(level)).div_ceil(connections(mode, level))
}

/// How many blocks a cell gets whose trials take so long; none where they would be too few.
pub(super) fn blocks_within(cell: Duration, trial: Duration, planned: u32) -> u32 {
    let block = trial * TRIALS_PER_BLOCK;
    let fitting = (cell.as_nanos() / block.as_nanos().max(1)).min(u128::from(planned)) as u32;
    if fitting < BLOCKS_LEAST.min(planned) { 0 } else { fitting }
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
