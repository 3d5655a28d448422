//! Scenarios: steps that each user repeats, with a number of users who wait, at a rate, or in stages.
//!
//! It does not send requests (see [`crate::load::scenario`]).

mod file;
mod load;
mod model;
mod played;
#[cfg(test)]
mod tests;

use super::http;
use super::http::file::connections;
use super::http::file::served::{self, Served};
use super::http::shape::LoadShape;
use super::http::subjects::sites::Site;
use super::http::trial::Asking;
use super::http::way::Way;
use super::listed::Listed;
use crate::conduct::conductor::Beginning;
use crate::conduct::options::RunError;
use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{Experiment, ExperimentError, Own, Variant};
use crate::load::scenario::Conduct;
use crate::plan::{Plan, PlanOptions, goes_through};
use crate::traffic::scenario::Played;
use std::time::Duration;

use file::{PlayedFile, ScenariosFile};

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "scenario",
    workload: "scenario",
    about: "Steps that each user goes through again and again: a scenario.",
    factors: &[http::CONCURRENCY, load::RATE, load::STAGES],
    unit_of_work: "iteration of all steps",
    instead: "; a scenario says it at a step, or by an `assert` of one",
    keys: &[
        served::KEYS,
        connections::KEYS,
        &[Keys::of::<ScenariosFile>(TableName::Top), Keys::of::<PlayedFile>(TableName::Variant)],
    ],
    read,
    plan,
    ..http::kind::<Playing>()
};

/// Factor by which slices are longer at a rate: users are not busy throughout.
const RATE_SLICES: u32 = 10;
/// Further iterations of a scenario whose first one fails: only some rows may be at fault.
const FURTHER_ITERATIONS: u64 = 4;

fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let served = Served::take(document)?;
    let ScenariosFile { load, scenarios } = document.take(TableName::Top)?;
    let variants: Vec<PlayedFile> = document.each()?;
    let shape = load::shape(load, document)?;
    let level = shape.as_ref().and_then(LoadShape::level);
    let experiment = document.experiment(match &level {
        Some(named) => vec![named.level],
        None => document.levels_of_users()?,
    })?;
    let mut experiment = connections::fill(document, experiment)?;
    model::fill(document, variants.iter().map(|variant| variant.model.as_ref()), &mut experiment)?;
    let played = played::played(document, &scenarios, &variants)?;
    if let Some(ramp) = document.ramp_span()
        && played.iter().all(Played::thinks)
    {
        let help = "leave it out: users who think come one after the other by themselves, before anything counts";
        return Err(document.checker.fault(ramp, "`ramp_ms` has no meaning where all users think", help));
    }
    experiment.variants.iter_mut().zip(played).for_each(|(variant, played)| variant.own = Own::new(played));
    experiment.named_levels.extend(level);
    if let Some(shape) = shape {
        experiment.users = shape.users();
        experiment.own = Own::new(shape);
    }
    served.fill(document, experiment, |_| None)
}

/// What an experiment has before its scenario: enough for a file with nothing else.
pub(super) const BEFORE: &str = "name = \"load\"\nquestion = \"?\"\nfactor = { name = \"concurrency\", levels = [1] }\n\
    workload = { kind = \"scenario\" }\nvariant = [{ name = \"load\", url = \"/\" }]\n";

fn plan(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    let mut plan = loaded(experiment, options)?;
    let thought = thought(experiment, &plan);
    if thought > plan.slice {
        plan.slice = thought;
        plan.slice_most = plan.slice_most.max(thought);
        http::plan::estimate(&mut plan, experiment);
    }
    Ok(plan)
}

/// Longest think time of waiting users in an iteration: in a shorter trial some users would never be seen, and others
/// always.
fn thought(experiment: &Experiment, plan: &Plan) -> Duration {
    let is_closed = |variant: &&Variant| LoadShape::of(experiment, variant).is_none();
    let of_variant = |variant: &Variant| {
        let played: Option<&Played> = variant.own();
        let pauses = played.iter().flat_map(|played| &played.scenario.steps).filter_map(|step| step.think);
        Duration::from_millis(pauses.map(|think| u64::from(think.ms)).sum())
    };
    plan.variants_of(experiment).filter(is_closed).map(of_variant).max().unwrap_or_default()
}

/// The plan by the load of its users.
fn loaded(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    let stages = experiment.own().and_then(|shape: &LoadShape| shape.stages.as_ref());
    if experiment.variants.iter().all(|variant| LoadShape::of(experiment, variant).is_none()) {
        let mut plan = http::plan::plan(experiment, options)?;
        // Users who think are where they were at the end of the trial before.
        if !experiment.variants.iter().filter_map(Variant::own).any(Played::thinks) {
            http::plan::answer_often(&mut plan);
        }
        return Ok(plan);
    }
    let mut defaults = options.extent.defaults();
    defaults.slice_ms *= RATE_SLICES;
    if stages.is_some() {
        goes_through(experiment, options, "its trials go through all stages")?;
        defaults.blocks = defaults.blocks_of_stages;
    }
    let mut plan = Plan::draft(experiment, options, &defaults)?;
    let follows = |variant: &usize| experiment.variants[*variant].follows().is_some();
    plan.followers = plan.variants.iter().copied().filter(follows).collect();
    if let Some(stages) = stages {
        plan.slice = stages.lasts();
        plan.slice_most = plan.slice;
    }
    http::plan::estimate(&mut plan, experiment);
    Ok(plan)
}

struct Playing;

impl Way for Playing {
    const ASKING: fn(Conduct) -> Asking = Asking::Scenario;

    // What later steps need may be missing, and all figures would be of the first ones.
    const FIRST_LOOKS: &'static [u64] = &[1, FURTHER_ITERATIONS];

    const FIRST_UNIT: Option<&'static str> = Some("answers no whole iteration");

    fn begin(_: &Beginning<'_>, _: &[Site], _: &[(String, String)]) -> Result<Playing, RunError> {
        Ok(Playing)
    }
}
