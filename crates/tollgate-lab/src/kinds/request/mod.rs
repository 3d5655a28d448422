//! The same request again and again.
//!
//! What it deliberately does not do: ask (see [`crate::load::request`]).

mod page;

use schemars::JsonSchema;
use serde::Deserialize;

use super::http;
use super::http::file::answer;
use super::http::file::served::{self, Served};
use super::http::subjects::sites::Site;
use super::http::way::Way;
use super::listed::Listed;
use crate::conduct::conductor::Beginning;
use crate::conduct::options::RunError;
use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{Connections, Experiment, ExperimentError};

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "request",
    workload: "request",
    about: "The same request again and again.",
    keys: &[served::KEYS, answer::KEYS, &[Keys::of::<ConnectionsFile>(TableName::Workload)]],
    read,
    page: page::page,
    ..http::kind::<Requesting>()
};

/// What all variants share.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConnectionsFile {
    /// How long connections stay open; absent: `"kept"`.
    connections: Option<Connections>,
}

fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let served = Served::take(document)?;
    let ConnectionsFile { connections } = document.take(TableName::Workload)?;
    let mut experiment = document.experiment(document.levels_of_users()?)?;
    experiment.connections = connections.unwrap_or_default();
    answer::fill(document, &mut experiment)?;
    served.fill(document, experiment, |_| None)
}

struct Requesting;

impl Way for Requesting {
    fn begin(_: &Beginning<'_>, _: &[Site], _: &[(String, String)]) -> Result<Requesting, RunError> {
        Ok(Requesting)
    }
}
