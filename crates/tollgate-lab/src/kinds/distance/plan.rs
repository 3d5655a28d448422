//! Estimates the time of a batch: a trial has as many documents as fill a slice, but for a distant database at least a
//! few for each process.
//!
//! Estimates from runs on two cores, with a PostgreSQL of our own.

use std::time::Duration;

use super::file::{Away, Preset};
use crate::experiment::{Experiment, Variant};
use crate::plan::{Note, Plan, PlanOptions, TRIALS_PER_BLOCK, goes_through};

/// Fewest documents of a trial for each of its processes: with fewer the last one decides the time.
pub(super) const DOCUMENTS_LEAST: u64 = 6;

/// Time to make and start a cluster, and to measure the accuracy of the link.
const WARM_UP: Duration = Duration::from_secs(8);
/// Time of a document without distance, and its round trips.
const DOCUMENT: Duration = Duration::from_micros(2_000);
const ROUND_TRIPS: u32 = 7;
/// Time to start the batch, make its documents wait, connect, measure the link twice and store the result.
const TRIAL: Duration = Duration::from_millis(150);
/// Round trips of all that beside the documents: connections, their authentication, the sample, messages to the echo.
const ROUND_TRIPS_BESIDE: u32 = 70;

/// The plan.
pub(super) fn plan(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    goes_through(experiment, options, "it computes what its distances need from all of them")?;
    let mut plan = Plan::draft(experiment, options, &options.extent.defaults())?;
    plan.presets = experiment.own().map_or(0, |presets: &Vec<Preset>| presets.len() as u32);
    plan.subjects = 1;
    plan.warm_up = WARM_UP;
    // All trials, those that count the documents off and those of presets among them.
    let of_cell = plan.blocks * TRIALS_PER_BLOCK;
    let away = plan.variants_of(experiment).filter_map(Variant::own::<Away>);
    let trials: Duration = away.map(|Away(away)| trial(&plan, *away)).sum();
    plan.trials_least += trials * plan.levels.len() as u32 * (of_cell + 1);
    // Presets lie near, and are run beside the link without delay.
    plan.trials_least += trial(&plan, Duration::ZERO) * (plan.presets + 1) * (of_cell + 1);
    Ok(plan)
}

/// Notes on the plan.
pub(super) fn notes(_experiment: &Experiment, plan: &Plan) -> Vec<Note> {
    let trials = (plan.presets + 1) * plan.blocks * TRIALS_PER_BLOCK;
    let told = ("presets", format!("{}, computed from those: at most {trials} trials more", plan.presets));
    if plan.presets > 0 { vec![told] } else { Vec::new() }
}

fn trial(plan: &Plan, away: Duration) -> Duration {
    let documents = (DOCUMENT + away * ROUND_TRIPS) * DOCUMENTS_LEAST as u32;
    TRIAL + away * ROUND_TRIPS_BESIDE + plan.slice.max(documents)
}
