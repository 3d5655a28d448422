//! What a run likely spends beside its trials and warm-ups: storing, opening and closing connections, answers and handshakes
//! that are still awaited when a slice is over, certificates, links.
//!
//! Estimates from runs on two cores: a default run of `encryption` took 397 s of which trials and warm-up were 234 s.

use std::time::Duration;

use crate::experiment::{Connections, Experiment, Variant};
use crate::plan::{Plan, TRIALS_PER_BLOCK};
use tollgate_facts::results::Distance;

/// Between two trials: the result is stored, workers are told and report.
const TRIAL: Duration = Duration::from_millis(12);
/// So much longer for each trial that there is: the result that is stored behind each grows with them.
const STORED_TRIAL: Duration = Duration::from_micros(37);
/// To start a process until it listens.
const START: Duration = Duration::from_millis(150);
/// For each user whose connection is opened anew: to open and close it, and the answers that end a slice.
const USER: Duration = Duration::from_micros(150);
/// To check the emulated link once.
pub(crate) const LINK: Duration = Duration::from_secs(2);

/// All of it, of servers whose result is stored behind each trial.
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

/// All of it, where the result is stored behind each block.
pub(crate) fn of_blocks(experiment: &Experiment, plan: &Plan) -> Duration {
    let trials = (plan.trials() + plan.rate_trials()) as u32;
    let processes = plan.subjects + experiment.backends.len() as u32;
    let is_far = |variant: &Variant| variant.distance == Distance::Remote;
    let links = if plan.variants_of(experiment).any(is_far) { LINK * 2 } else { Duration::ZERO };
    TRIAL * trials + START * processes * plan.starts + links
}
