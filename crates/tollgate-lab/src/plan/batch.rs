//! How long a batch likely takes: documents are counted off so that a trial lasts about a slice, but of a far database there
//! are at least a few for each process.
//!
//! Estimates from runs on two cores, with a PostgreSQL of our own.

use std::time::Duration;

use super::{Plan, TRIALS_PER_BLOCK};
use crate::experiment::{Experiment, Location};

/// Fewest documents of a trial for each of its processes: with fewer the last one decides.
pub(crate) const DOCUMENTS_LEAST: u64 = 6;

/// To make a cluster and start it, and to see what the link keeps.
pub(super) const WARM_UP: Duration = Duration::from_secs(8);
/// Time of a document without distance, and the round trips for which it is away.
const DOCUMENT: Duration = Duration::from_micros(2_000);
const ROUND_TRIPS: u32 = 7;
/// To start the batch, make its documents wait and connect, to ask the link twice, and to store the result.
const TRIAL: Duration = Duration::from_millis(150);
/// Round trips of all that beside the documents: connections, their authentication, the sample, messages to the echo.
const ROUND_TRIPS_BESIDE: u32 = 70;

/// All trials, those that count the documents off and those of presets among them.
pub(super) fn trials(experiment: &Experiment, plan: &Plan) -> Duration {
    let mut sum = Duration::ZERO;
    let of_cell = plan.blocks * TRIALS_PER_BLOCK;
    for position in &plan.variants {
        let Location::Link(away) = experiment.variants[*position].at else { continue };
        sum += trial(plan, away) * plan.levels.len() as u32 * (of_cell + 1);
    }
    // Presets lie near, and are run beside the link without delay.
    sum + trial(plan, Duration::ZERO) * (plan.presets + 1) * (of_cell + 1)
}

fn trial(plan: &Plan, away: Duration) -> Duration {
    let documents = (DOCUMENT + away * ROUND_TRIPS) * DOCUMENTS_LEAST as u32;
    TRIAL + away * ROUND_TRIPS_BESIDE + plan.slice.max(documents)
}
