//! How long connections stay open, as the file of an experiment on servers says it.
//!
//! What it deliberately does not do: open one (see [`crate::load::renewal`]).

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Connections, Experiment, ExperimentError};

/// The keys.
pub(crate) const KEYS: &[Keys] = &[Keys::of::<ConnectionsFile>(TableName::Workload)];

/// What all variants share.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConnectionsFile {
    /// How long connections stay open that the server would keep; absent: `"per-block"`. `--connections` goes before it.
    connections: Option<At<Connections>>,
}

/// Takes the key.
pub(crate) fn fill(document: &mut Document<'_>, experiment: Experiment) -> Result<Experiment, ExperimentError> {
    let ConnectionsFile { connections } = document.take(TableName::Workload)?;
    let experiment = Experiment { connections: Connections::PerBlock, ..experiment };
    let Some(connections) = connections else { return Ok(experiment) };
    experiment.on_connections(*connections.as_ref()).map_err(|message| {
        document.checker.fault(connections.span(), &message, "write `per-block`, `per-start` or `kept`")
    })
}
