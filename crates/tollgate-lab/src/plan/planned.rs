//! The plan of a run, and the figures that follow from it.
//!
//! It does not make decisions (see [`super::make`]).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::extent::Extent;
use crate::experiment::{Experiment, Variant};
use tollgate_facts::stats::sequential;

/// Minimum duration of a warm-up.
pub const WARM_UP_LEAST: Duration = Duration::from_secs(2);
/// Maximum duration of a warm-up: no steady state until then is a mark.
pub const WARM_UP_MOST: Duration = Duration::from_secs(20);

/// Answers per user in a trial, where slices grow with the users. It exceeds
/// [`crate::judge::bounds::ANSWERS_PER_USER_MIN`], as nobody knows beforehand how fast a trial will be.
pub const ANSWERS_PER_USER: f64 = 12.0;
/// Trials of one variant in one block: once there, once back.
pub const TRIALS_PER_BLOCK: u32 = 2;
/// Minimum number of blocks for an interval.
pub const BLOCKS_LEAST: u32 = 2;

/// The plan of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The extent it was made from.
    pub extent: Extent,
    /// Positions of the measured variants in [`Experiment::variants`], in the order of the file.
    pub variants: Vec<usize>,
    /// Variants that are offered the throughput of others: in the first block of a level they come after these.
    pub followers: BTreeSet<usize>,
    /// The measured levels, ascending.
    pub levels: Vec<u64>,
    /// Blocks for each level.
    pub blocks: u32,
    /// Least length of a trial.
    pub slice: Duration,
    /// Maximum planned length of a trial: more than the slice only where slices grow with the users.
    pub slice_most: Duration,
    /// Whether each of several users must be answered often in a trial: in a shorter one they only start and end.
    pub counts_rounds: bool,
    /// Starts of each subject.
    pub starts: u32,
    /// Time for the trials of one cell, for workloads whose units may take any time.
    pub cell: Option<Duration>,
    /// Round trip of the link of remote variants.
    pub round_trip: Duration,
    /// Number of measured processes: all variants of an insert and of one configuration share one for each peer, and
    /// one of ours.
    pub subjects: u32,
    /// Approximate warm-up time at each start of the subjects.
    pub warm_up: Duration,
    /// Estimated time between and before trials: storing, connections, handshakes, starts.
    pub between: Duration,
    /// Variants without enough time for their transfers, as those wait for the link too often, each with the lowest
    /// such level.
    pub too_far: Vec<(usize, u64)>,
    /// Minimum total duration of the trials, including a survey of inserts.
    pub trials_least: Duration,
    /// Time before a trial in which its users already send requests and nothing counts, where connections are opened
    /// during measurement.
    pub settle: Duration,
    /// Time over which the users of a trial arrive before anything counts, where they wait and do not think.
    pub ramp: Duration,
    /// The measurement at equal rate after the closed load; absent: none.
    pub equal_rate: Option<RatePlan>,
    /// Blocks of a variant at a level where it has time for fewer than the others, or none; these are the first ones.
    pub blocks_of: BTreeMap<(usize, u64), u32>,
    /// Number of named distances of a batch, each run at the lowest level in as many blocks as the others.
    pub presets: u32,
    /// Stop when every toll's interval reaches at most this far to either side, in millionths; absent: after all
    /// blocks.
    pub until_width_ppm: Option<u32>,
    /// Half the width of the band of "no toll", in millionths; absent: the usual one.
    pub equivalence_ppm: Option<u32>,
}

/// A note about a plan: a word or two as its title, and its text.
pub type Note = (&'static str, String);

/// A time in a note.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// The measurement at equal rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatePlan {
    /// Blocks for each level.
    pub blocks: u32,
    /// Length of a trial.
    pub slice: Duration,
}

/// Number of blocks of a cell for trials of this length; 0 if there would be too few.
pub fn blocks_within(cell: Duration, trial: Duration, planned: u32) -> u32 {
    let block = trial * TRIALS_PER_BLOCK;
    let fitting = (cell.as_nanos() / block.as_nanos().max(1)).min(u128::from(planned)) as u32;
    if fitting < BLOCKS_LEAST.min(planned) { 0 } else { fitting }
}

impl Plan {
    /// The measured variants, in the order of the file.
    pub fn variants_of<'e>(&self, experiment: &'e Experiment) -> impl Iterator<Item = &'e Variant> {
        self.variants.iter().map(|position| &experiment.variants[*position])
    }

    /// Blocks of a variant at a level.
    pub fn blocks_at(&self, variant: usize, level: u64) -> u32 {
        self.blocks_of.get(&(variant, level)).copied().unwrap_or(self.blocks)
    }

    /// Length of a trial of this many users at this throughput. Where slices grow, it lasts until each user is answered
    /// several times: in a shorter trial, users would only start and end.
    pub fn slice_of(&self, users: u64, answers_per_second: Option<f64>) -> Duration {
        // One user alone never waits for another.
        let rate = answers_per_second.filter(|_| users > 1);
        let wanted_s = rate.map_or(0.0, |rate| ANSWERS_PER_USER * users as f64 / rate);
        let most_s = self.slice_most.as_secs_f64();
        self.slice.max(Duration::from_secs_f64(if wanted_s < most_s { wanted_s } else { most_s }))
    }

    /// The start of the subjects that a block belongs to, from 0. Starts split the blocks evenly; the first ones take
    /// the remainder. With interim looks, each look comes after whole starts.
    pub fn start_of(&self, block: u32) -> u32 {
        match self.until_width_ppm {
            Some(_) => (block / sequential::BLOCKS_OF_A_START).min(self.starts.saturating_sub(1)),
            None => (u64::from(block) * u64::from(self.starts) / u64::from(self.blocks.max(1))) as u32,
        }
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.variants.len() * self.levels.len()
    }

    /// The number of trials, without those at equal rate.
    pub fn trials(&self) -> usize {
        let of_level = |level: &u64| self.variants.iter().map(|variant| self.blocks_at(*variant, *level)).sum::<u32>();
        self.levels.iter().map(of_level).sum::<u32>() as usize * TRIALS_PER_BLOCK as usize
    }

    /// The number of trials at equal rate.
    pub fn rate_trials(&self) -> usize {
        self.equal_rate.map_or(0, |rate| self.cells() * rate.blocks as usize * TRIALS_PER_BLOCK as usize)
    }

    /// Approximate duration: the trials, the warm-up, and the time between them. A slower machine takes longer.
    pub fn duration(&self) -> Duration {
        self.trials_least + self.between + self.warm_up * self.starts
    }
}
