//! A walk over a list and the entities that it names, by users who share it.
//!
//! It does not send requests (see [`crate::load::walk`]).

mod page;

use super::http;
use super::http::file::served::{self, Served};
use super::http::file::{connections, list};
use super::http::subjects::sites::Site;
use super::http::trial::Asking;
use super::http::way::Way;
use super::listed::Listed;
use crate::conduct::conductor::Beginning;
use crate::conduct::options::RunError;
use crate::experiment::document::Document;
use crate::experiment::{Experiment, ExperimentError};
use crate::load::scenario::Conduct;

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "walk",
    workload: "walk",
    about: "Get a collection, then every entity that its answer names, shared by all users: one pass.",
    unit_of_work: http::PASS,
    keys: &[served::KEYS, list::KEYS, connections::KEYS],
    read,
    page: page::page,
    ..http::kind::<Walking>()
};

fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let served = Served::take(document)?;
    let experiment = document.experiment(document.levels_of_users()?)?;
    let mut experiment = connections::fill(document, experiment)?;
    list::fill(document, &mut experiment)?;
    served.fill(document, experiment, |_| None)
}

struct Walking;

impl Way for Walking {
    const ASKING: fn(Conduct) -> Asking = |_| Asking::Walk;

    fn begin(_: &Beginning<'_>, _: &[Site], _: &[(String, String)]) -> Result<Walking, RunError> {
        Ok(Walking)
    }
}
