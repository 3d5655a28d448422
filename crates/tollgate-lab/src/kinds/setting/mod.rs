//! A setting of the user's servers, such as their number of workers: a command applies each level before it is
//! measured.
//!
//! It does not start a server by itself or undo a setting that no command restores.

mod applied;
mod file;
mod page;

use super::http::file::{answer, connections, list, served, users};
use super::http::{self, plan as usual};
use super::listed::Listed;
use crate::experiment::{Experiment, Factor};
use crate::plan::{Note, Plan, PlanOptions, WARM_UP_LEAST, goes_through};
use applied::Applied;

/// The factor.
const SETTING: Factor = Factor {
    name: page::FACTOR,
    unit: "",
    about: "A setting of the user's servers, applied by a command before each level.",
};

/// The kind in the list for single requests.
pub(super) const REQUEST: Listed = Listed {
    name: "request-by-setting",
    workload: "request",
    factors: &[SETTING],
    keys: &[served::KEYS, answer::KEYS, connections::KEYS, users::KEYS, file::KEYS],
    read: file::request,
    plan,
    notes,
    page: page::page,
    ..http::kind::<Applied<false>>()
};

/// The kind in the list for walks.
pub(super) const WALK: Listed = Listed {
    name: "walk-by-setting",
    workload: "walk",
    factors: &[SETTING],
    unit_of_work: http::PASS,
    keys: &[served::KEYS, list::KEYS, connections::KEYS, users::KEYS, file::KEYS],
    read: file::walk,
    plan,
    notes,
    page: page::page,
    ..http::kind::<Applied<true>>()
};

/// Whether an experiment is of one of these kinds.
pub(super) fn is_of(experiment: &Experiment) -> bool {
    experiment.heading.factor == SETTING
}

/// Plans the run: level by level, each with a warm-up of its own.
fn plan(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    goes_through(experiment, options, "each of its settings is measured by itself")?;
    let mut plan = usual::plan(experiment, options)?;
    plan.starts = 1;
    plan.warm_up = WARM_UP_LEAST * plan.cells() as u32;
    Ok(plan)
}

/// Notes on the plan.
fn notes(experiment: &Experiment, plan: &Plan) -> Vec<Note> {
    let Some(apply) = experiment.own.get::<file::Apply>() else { return Vec::new() };
    let first = apply.words(plan.levels[0]).join(" ");
    let users = experiment.users(1);
    vec![
        ("users", format!("{users}, at each setting")),
        ("applies", format!("{first}, and the same for each level, in at most {}", crate::plan::seconds(apply.within))),
    ]
}
