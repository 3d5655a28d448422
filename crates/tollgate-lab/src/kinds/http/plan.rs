//! Estimates the time of a run on servers: trials, warm-ups, and the time between them.
//!
//! It does not choose levels and blocks (see [`Plan::draft`]).

use std::collections::BTreeSet;
use std::time::Duration;

use super::{REQUEST, between};
use crate::experiment::{Connections, Experiment, UpTo, Variant};
use crate::plan::{Plan, PlanOptions, TRIALS_PER_BLOCK, WARM_UP_LEAST};

/// Assumed time of an answer before any measurement, for the plan only. The mean of all variants of `mediation` on two
/// cores.
const ANSWER_LIKELY: Duration = Duration::from_micros(42);
/// The same by a peer.
const ANSWER_OF_PEER_LIKELY: Duration = Duration::from_micros(120);
/// Settling time if the file does not say.
const SETTLE_DEFAULT: Duration = Duration::from_millis(50);

/// Warm-up of a variant whose subject others warm up, too: long enough to recognize a steady state.
const WARM_UP_SHARED: Duration = Duration::from_millis(1500);

/// The plan of an experiment whose users ask one thing after the other.
pub(crate) fn plan(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    let mut plan = Plan::draft(experiment, options, &options.extent.defaults())?;
    if experiment.connections == Connections::PerTrial {
        settle(&mut plan, experiment);
    }
    if experiment.heading.unit_of_work == REQUEST {
        answer_often(&mut plan);
    }
    estimate(&mut plan, experiment);
    Ok(plan)
}

/// Lets slices grow until each of several users is answered often; where that is not enough, it is marked.
pub(crate) fn answer_often(plan: &mut Plan) {
    plan.slice_most = plan.slice.max(plan.extent.slice_most());
    plan.counts_rounds = true;
}

/// Sets the time during which users load before each trial.
pub(crate) fn settle(plan: &mut Plan, experiment: &Experiment) {
    plan.settle = plan.extent.of(experiment).settle_ms.map_or(SETTLE_DEFAULT, UpTo::milliseconds);
}

/// Estimates the time of the run.
pub(crate) fn estimate(plan: &mut Plan, experiment: &Experiment) {
    plan.subjects = subjects(plan, experiment, experiment.configuration.is_some());
    let each = if plan.settle.is_zero() { WARM_UP_LEAST } else { WARM_UP_SHARED };
    plan.warm_up = each * plan.variants.len() as u32;
    let rate = plan.equal_rate.map_or(Duration::ZERO, |rate| rate.slice * plan.rate_trials() as u32);
    let slices = |variant: &Variant| {
        let answer = if variant.peer.is_some() { ANSWER_OF_PEER_LIKELY } else { ANSWER_LIKELY };
        let slice = |level: &u64| plan.slice_of(experiment.users(*level), Some(1.0 / answer.as_secs_f64()));
        plan.levels.iter().map(slice).sum::<Duration>()
    };
    let slices = plan.variants_of(experiment).map(slices).sum::<Duration>() * (plan.blocks * TRIALS_PER_BLOCK);
    plan.trials_least = (plan.settle + plan.ramp) * plan.trials() as u32 + rate + slices;
    plan.between = between::between(experiment, plan);
}

/// Number of processes that are measured: one for each variant, or one for all variants with the same server.
pub(crate) fn subjects(plan: &Plan, experiment: &Experiment, shared: bool) -> u32 {
    let served: BTreeSet<_> = plan.variants_of(experiment).map(|variant| (&variant.peer, &variant.backend)).collect();
    if shared { served.len() as u32 } else { plan.variants.len() as u32 }
}
