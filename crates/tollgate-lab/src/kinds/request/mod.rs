//! The same request again and again.
//!
//! It does not send requests (see [`crate::load::request`]).

mod page;

use super::http;
use super::http::file::served::{self, Served};
use super::http::file::{answer, connections};
use super::http::subjects::sites::Site;
use super::http::way::Way;
use super::listed::Listed;
use crate::conduct::conductor::Beginning;
use crate::conduct::options::RunError;
use crate::experiment::document::Document;
use crate::experiment::{Experiment, ExperimentError};

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "request",
    workload: "request",
    about: "The same request again and again.",
    keys: &[served::KEYS, answer::KEYS, connections::KEYS],
    read,
    page: page::page,
    ..http::kind::<Requesting>()
};

fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let served = Served::take(document)?;
    let experiment = document.experiment(document.levels_of_users()?)?;
    let mut experiment = connections::fill(document, experiment)?;
    answer::fill(document, &mut experiment)?;
    served.fill(document, experiment, |_| None)
}

struct Requesting;

impl Way for Requesting {
    const LEARNS: bool = true;

    fn begin(_: &Beginning<'_>, _: &[Site], _: &[(String, String)]) -> Result<Requesting, RunError> {
        Ok(Requesting)
    }
}
