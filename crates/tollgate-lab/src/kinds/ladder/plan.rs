//! The plan of a ladder: each variant has a process at each level, warmed up by at least one pass.

use std::time::Duration;

use super::file::Limit;
use crate::experiment::Experiment;
use crate::kinds::http::between;
use crate::plan::{BLOCKS_LEAST, Note, Plan, PlanOptions, TRIALS_PER_BLOCK, blocks_within, goes_through, seconds};

/// Least time of the passes before anything counts: they open the connections to the database.
pub(super) const WARM_UP: Duration = Duration::from_millis(500);
/// Entities in the list of flights; a pass requests all of them.
const DETAILS_LIKELY: u32 = 400;
/// Expected time of a ladder's gateway and database for an answer, and for a list, beside the round trip.
const WORK_LIKELY: Duration = Duration::from_micros(800);
const LIST_LIKELY: Duration = Duration::from_millis(10);

/// Time to make, start and fill the database of a ladder.
const DATABASE: Duration = Duration::from_secs(4);
/// Time of a load that lasts at least `least` and ends on a whole pass.
fn whole_passes(pass: Duration, least: Duration) -> Duration {
    let count = least.as_nanos().div_ceil(pass.as_nanos().max(1)).max(1);
    pass * u32::try_from(count).unwrap_or(u32::MAX)
}

/// Plans the run.
pub(super) fn plan(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    goes_through(experiment, options, "each of its levels is measured by itself")?;
    let mut plan = Plan::draft(experiment, options, &options.extent.defaults())?;
    let cell = plan.cell_of(experiment);
    plan.cell = Some(cell);
    plan.starts = 1;
    plan.subjects = plan.cells() as u32;
    for level in plan.levels.clone() {
        for position in plan.variants.clone() {
            // As many at once as all that is counted lets through; the list comes before.
            let limit = experiment.variants[position].own().map_or(u64::MAX, |Limit(limit)| u64::from(*limit));
            let at_once = level.min(experiment.users(level)).min(limit).max(1) as u32;
            let (answer, list) = (plan.round_trip + WORK_LIKELY, plan.round_trip + LIST_LIKELY);
            let pass = list + answer * DETAILS_LIKELY / at_once;
            // As many as a cell has time for, but two in any case.
            let blocks = blocks_within(cell, pass.max(plan.slice), plan.blocks).max(BLOCKS_LEAST.min(plan.blocks));
            plan.blocks_of.insert((position, level), blocks);
            plan.trials_least += whole_passes(pass, plan.slice) * (blocks * TRIALS_PER_BLOCK);
            plan.warm_up += whole_passes(pass, WARM_UP);
        }
    }
    plan.between = between::of_blocks(experiment, &plan) + DATABASE + between::LINK * 2;
    Ok(plan)
}

/// Notes on the plan.
pub(super) fn notes(experiment: &Experiment, plan: &Plan) -> Vec<Note> {
    let (users, round_trip) = (experiment.users(1), plan.round_trip.as_millis());
    let cell = seconds(plan.cell.unwrap_or_default());
    vec![
        ("users", format!("{users}, over a PostgreSQL of the run's own that is {round_trip} ms away")),
        (
            "cells",
            format!(
                "about {cell} of trials each: what takes longer gets fewer blocks, at least two; a trial ends on a whole pass"
            ),
        ),
    ]
}
