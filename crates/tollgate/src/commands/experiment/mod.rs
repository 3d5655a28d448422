//! Verbs of experiments: run one, compare two addresses without one, show its plan, list them, read stored ones again.
//!
//! Conducting an experiment is the lab's, rendering a result is the reports'.

pub(crate) mod compare;
mod expected;
pub(crate) mod list;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(super) mod secrets;
pub(super) mod selection;
pub(crate) mod versus;
mod watched;
