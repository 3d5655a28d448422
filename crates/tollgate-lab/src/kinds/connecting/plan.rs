//! The plan of a run about encryption: blocks of a closed load, then the same at equal rate.

use std::time::Duration;

use crate::experiment::{Experiment, UpTo, Variant};
use crate::kinds::http::encrypting::{Encrypting, KeyKind, RateSize};
use crate::kinds::http::plan as http;
use crate::plan::{Note, Plan, PlanOptions, RatePlan, TRIALS_PER_BLOCK, goes_through};
use tollgate_facts::results::{Connecting, Encryption};

/// Time to prepare before the trials, and to observe after them.
const ENCRYPTION: Duration = Duration::from_secs(5);
/// The plan.
pub(super) fn plan(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    goes_through(experiment, options, "what is measured at equal rate comes after the blocks")?;
    let mut plan = Plan::draft(experiment, options, &options.extent.defaults())?;
    http::settle(&mut plan, experiment);
    http::answer_often(&mut plan);
    let Some(encrypting) = experiment.own::<Encrypting>() else { return Ok(plan) };
    let overrides = plan.extent.of(experiment);
    plan.equal_rate = encrypting.equal_rate.map(|_| RatePlan {
        blocks: options.blocks.or(overrides.rate_blocks.map(|UpTo(blocks)| blocks)).unwrap_or(plan.blocks),
        slice: overrides.rate_slice_ms.map_or(plan.slice, UpTo::milliseconds),
    });
    http::estimate(&mut plan, experiment);
    plan.between += ENCRYPTION + handshakes(experiment, encrypting, &plan);
    Ok(plan)
}

/// Notes on the plan.
pub(super) fn notes(experiment: &Experiment, plan: &Plan) -> Vec<Note> {
    let shape = experiment.own::<Encrypting>().and_then(|encrypting| encrypting.equal_rate);
    let (Some(shape), Some(rate)) = (shape, plan.equal_rate) else { return Vec::new() };
    let (trials, users) = (plan.rate_trials(), experiment.users(1));
    let size = match shape.size {
        RateSize::Share(share) => format!("{:.0} % of what the slowest variant of the level took", share * 100.0),
        RateSize::PerSecond(rate) => format!("{rate} requests/s"),
    };
    vec![
        ("at rate", format!("{trials} trials of {} ms, at {size}", rate.slice.as_millis())),
        ("users", format!("{users}, before each trial {} ms uncounted", plan.settle.as_millis())),
    ]
}

/// Time for handshakes after a slice. Sessions are prepared once, and then renewed by use.
fn handshakes(experiment: &Experiment, encrypting: &Encrypting, plan: &Plan) -> Duration {
    let own = plan.variants_of(experiment).filter_map(Variant::own::<Connecting>);
    let variants = own.filter(|own| own.encryption == Encryption::Full).count() as u32;
    // Behind the settling time, and behind the slice.
    let of_level = |level: &u64| {
        let handshake = handshake(encrypting.level(*level).map(|way| way.key));
        handshake * (2 * experiment.users(*level) as u32 * plan.blocks * TRIALS_PER_BLOCK * variants)
    };
    plan.levels.iter().map(of_level).sum()
}

/// Time of a full handshake, both sides.
fn handshake(key: Option<KeyKind>) -> Duration {
    Duration::from_micros(match key {
        Some(KeyKind::P256) | None => 250,
        Some(KeyKind::Rsa2048) => 900,
        Some(KeyKind::Rsa4096) => 4500,
    })
}
