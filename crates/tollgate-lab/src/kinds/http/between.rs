//! Estimates the time of a run beside its trials and warm-ups: storing results, opening and closing connections,
//! pending answers and handshakes after a slice, certificates, links.
//!
//! Estimates from runs on two cores: a default run of `encryption` with five variants took 397 s, 234 s in trials and warm-up.

use std::time::Duration;

use crate::experiment::{Connections, Experiment, Variant};
use crate::plan::{Plan, TRIALS_PER_BLOCK};
use tollgate_facts::results::Distance;

/// Time between two trials: the result is stored, workers get orders and report.
const TRIAL: Duration = Duration::from_millis(12);
/// Extra time after a trial for each trial so far: the stored result grows with them.
const STORED_TRIAL: Duration = Duration::from_micros(37);
/// Time to start a process until it listens.
const START: Duration = Duration::from_millis(150);
/// Time for each user whose connection is opened anew: to open and close it, and for the answers that end a slice.
const USER: Duration = Duration::from_micros(150);
/// Time to check the emulated link once.
pub(crate) const LINK: Duration = Duration::from_secs(2);

/// All of that time, for servers whose result is stored after each trial.
pub(crate) fn between(experiment: &Experiment, plan: &Plan) -> Duration {
    let trials = (plan.trials() + plan.rate_trials()) as u32;
    let of_level = plan.blocks * TRIALS_PER_BLOCK * plan.variants.len() as u32;
    let mut sum = of_blocks(experiment, plan) + STORED_TRIAL * trials * trials;
    let users = plan.levels.iter().map(|level| experiment.users(*level)).sum::<u64>() as u32;
    match experiment.connections {
        Connections::PerTrial => sum += USER * users * of_level,
        Connections::PerBlock => sum += USER * users * (of_level / TRIALS_PER_BLOCK),
        Connections::PerStart | Connections::Kept | Connections::OfKind => {}
    }
    sum
}

/// All of that time, if the result is stored after each block.
pub(crate) fn of_blocks(experiment: &Experiment, plan: &Plan) -> Duration {
    let trials = (plan.trials() + plan.rate_trials()) as u32;
    let processes = plan.subjects + experiment.backends.len() as u32;
    let is_far = |variant: &Variant| variant.distance == Distance::Remote;
    let links = if plan.variants_of(experiment).any(is_far) { LINK * 2 } else { Duration::ZERO };
    TRIAL * trials + START * processes * plan.starts + links
}
