//! `rename-header`: renames fields of the message.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::base::config_error::ConfigError;
use crate::error::Fault;
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};
use crate::mediate::message::Passing;
use crate::mediate::reading::{MediatorKind, MediatorReader, Value};

pub(super) const KIND: MediatorKind =
    MediatorKind { name: "rename-header", make, schema: |generator| generator.subschema_for::<Table>() };

/// Renames header fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RenameHeader")]
struct Table {
    /// The fields by name, each with its new name.
    #[serde(rename = "rename-header")]
    #[schemars(with = "BTreeMap<String, String>")]
    names: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Debug)]
struct RenameHeader {
    names: Box<[(Box<str>, Box<str>)]>,
}

fn make(table: Value<'_>, reading: &MediatorReader<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
    let Table { names } = reading.table(table)?;
    let pair = |(name, new): (Spanned<String>, Spanned<String>)| {
        Ok((reading.own_field_name(&name)?, reading.own_field_name(&new)?))
    };
    Ok(Box::new(RenameHeader { names: names.into_iter().map(pair).collect::<Result<_, ConfigError>>()? }))
}

impl Mediator for RenameHeader {
    fn need(&self) -> Need {
        Need::Head
    }

    fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str)) {
        for (name, new) in &self.names {
            note(Touches::Changes, name);
            note(Touches::Changes, new);
        }
    }

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        for (name, new) in &self.names {
            passing.memory.edits.rename(name, new);
        }
        Ok(Outcome::Continue)
    }
}
