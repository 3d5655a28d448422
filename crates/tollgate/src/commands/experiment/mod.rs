//! Verbs of experiments: run one, compare two addresses without one, say what it would do, list them, read stored ones again.
//!
//! Deliberately not here: how an experiment is conducted (the lab), how a result is rendered (the reports).

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
