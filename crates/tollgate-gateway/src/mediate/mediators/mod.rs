//! The mediators and the schema of their tables. None knows another.
//!
//! They do not move messages.

mod choose;
mod fault;
mod log;
mod remove_header;
mod rename_header;
mod respond;
mod set_header;
mod xslt;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use super::reading::{MediatorKind, SEQUENCE_MAX};

/// Every kind of mediator. To add one: its file, and its line here.
pub(crate) const MEDIATORS: &[MediatorKind] = &[
    choose::KIND,
    xslt::KIND,
    set_header::KIND,
    remove_header::KIND,
    rename_header::KIND,
    fault::KIND,
    respond::KIND,
    log::KIND,
];

/// A sequence as a table of the file: compiled later, when the files that its mediators name are read.
#[derive(Debug, Default)]
pub(crate) struct SequenceTable {
    /// The names of the endpoints chosen in it.
    pub(crate) endpoints: Vec<String>,
}

impl<'de> Deserialize<'de> for SequenceTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SequenceTable, D::Error> {
        let mut endpoints = Vec::new();
        collect_endpoints(&toml::Value::deserialize(deserializer)?, &mut endpoints);
        Ok(SequenceTable { endpoints })
    }
}

fn collect_endpoints(value: &toml::Value, endpoints: &mut Vec<String>) {
    match value {
        toml::Value::Array(values) => values.iter().for_each(|value| collect_endpoints(value, endpoints)),
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| match value {
            toml::Value::String(name) if key == "endpoint" => endpoints.push(name.clone()),
            value => collect_endpoints(value, endpoints),
        }),
        _ => {}
    }
}

impl JsonSchema for SequenceTable {
    fn schema_name() -> Cow<'static, str> {
        "Sequence".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds: Vec<Schema> = MEDIATORS.iter().map(|kind| (kind.schema)(generator)).collect();
        schemars::json_schema!({
            "description": "Mediators in the order in which a message passes them: each table has one key that names its kind.",
            "type": "array",
            "maxItems": SEQUENCE_MAX,
            "items": { "anyOf": kinds },
        })
    }
}
