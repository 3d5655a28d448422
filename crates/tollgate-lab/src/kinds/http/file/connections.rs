//! The file of an experiment on servers: the lifetime of connections.
//!
//! It does not open one (see [`crate::load::renewal`]).

use std::str::FromStr;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Connections, Experiment, ExperimentError};

/// The keys.
pub(crate) const KEYS: &[Keys] = &[Keys::of::<ConnectionsFile>(TableName::Workload)];

/// Settings of all variants.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConnectionsFile {
    /// Lifetime of connections that the server would keep open; absent: `"per-block"`. `--connections` overrides it.
    #[schemars(with = "Option<Connections>")]
    connections: Option<At<NameOrCount>>,
}

/// A name, or a number given by mistake.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected how long connections stay open, such as `\"per-block\"`")]
enum NameOrCount {
    Count(i64),
    Name(String),
}

/// Takes the key.
pub(crate) fn fill(document: &mut Document<'_>, experiment: Experiment) -> Result<Experiment, ExperimentError> {
    let ConnectionsFile { connections } = document.take(TableName::Workload)?;
    let experiment = Experiment { connections: Connections::PerBlock, ..experiment };
    let Some(file) = connections else { return Ok(experiment) };
    let fault = |message: &str, help: &str| document.checker.fault(file.span(), message, help);
    let name = match file.as_ref() {
        NameOrCount::Count(count) => {
            let help = "each user has one, and the levels say how many users; it says how long they stay open: `\"per-block\"`";
            return Err(fault(&format!("`connections` is the number {count}"), help));
        }
        NameOrCount::Name(name) => name,
    };
    let known = Connections::from_str(name);
    let connections = known.map_err(|message| fault(&format!("unknown name `{name}`"), &message))?;
    let help = "write `per-block`, `per-start` or `kept`";
    experiment.on_connections(connections).map_err(|message| fault(&message, help))
}
