//! The part of a plan that all kinds share, made from the file and the command line.
//!
//! It does not order trials (see [`super::schedule`]) or know what else a kind needs.

use std::time::Duration;

use super::asked;
use super::extent::{Extent, ExtentDefaults};
use super::planned::Plan;
use crate::experiment::{Experiment, UpTo};
use tollgate_facts::stats::sequential;

/// The command line's choices, including the extent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanOptions {
    /// The amount of measurement.
    pub extent: Extent,
    /// Blocks for each level.
    pub blocks: Option<u32>,
    /// Names of variants, with their baselines; empty means all.
    pub only: Vec<String>,
    /// Levels; any number is valid, not only the experiment's own levels.
    pub levels: Option<Vec<u64>>,
    /// Stop when every toll's interval reaches at most this far to either side, in millionths; then blocks are looked
    /// at as [`sequential`] says.
    pub until_width_ppm: Option<u32>,
    /// Half the width of the band of "no toll", in millionths; absent: the usual one.
    pub equivalence_ppm: Option<u32>,
}

/// Default time for the trials of one cell.
const CELL_DEFAULT: Duration = Duration::from_secs(60);

impl Plan {
    /// Plans `experiment` under `options`, with these defaults where neither specifies a value; the kind itself says
    /// how long this takes.
    ///
    /// # Errors
    /// A sentence that names the unknown variant or the level out of range.
    pub(crate) fn draft(
        experiment: &Experiment,
        options: &PlanOptions,
        defaults: &ExtentDefaults,
    ) -> Result<Plan, String> {
        let overrides = options.extent.of(experiment);
        let looked_at = options.until_width_ppm.map(|_| sequential::INTERIM_LOOKS[sequential::INTERIM_LOOKS.len() - 1]);
        let blocks =
            options.blocks.or(looked_at).or(overrides.blocks.map(|UpTo(blocks)| blocks)).unwrap_or(defaults.blocks);
        if blocks == 0 {
            return Err("there must be at least 1 block (--blocks)".to_owned());
        }
        let of_extent: Vec<u64> = overrides.levels.iter().flatten().map(|level| *level.as_ref()).collect();
        let levels = match &options.levels {
            Some(levels) => asked::checked_levels(levels, experiment)?,
            None if of_extent.is_empty() => experiment.levels.clone(),
            None => asked::checked_levels(&of_extent, experiment)?,
        };
        let starts = match overrides.starts.map_or(defaults.starts, |UpTo(starts)| starts) {
            several if several > 1 && looked_at.is_some() => blocks / sequential::BLOCKS_OF_A_START,
            starts => starts.min(blocks),
        };
        let slice = overrides.slice_ms.as_ref().map_or(defaults.slice_ms, |slice| slice.as_ref().0);
        let slice = Duration::from_millis(slice.into());
        let round_trip_ms =
            overrides.round_trip_ms.map(|UpTo(number)| number).or(experiment.round_trip_ms).unwrap_or(0);
        Ok(Plan {
            extent: options.extent,
            variants: asked::chosen(experiment, options)?,
            levels,
            blocks,
            slice,
            slice_most: slice,
            counts_rounds: false,
            ramp: overrides.ramp_ms.map_or(Duration::ZERO, |ramp| ramp.as_ref().milliseconds()),
            starts,
            round_trip: Duration::from_millis(round_trip_ms.into()),
            until_width_ppm: options.until_width_ppm,
            equivalence_ppm: options.equivalence_ppm.or(experiment.equivalence_ppm),
            ..Plan::default()
        })
    }

    /// Time for the trials of one cell, for a kind whose units of work may take any time.
    pub(crate) fn cell_of(&self, experiment: &Experiment) -> Duration {
        self.extent.of(experiment).cell_ms.map_or(CELL_DEFAULT, UpTo::milliseconds)
    }
}
