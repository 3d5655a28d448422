//! `remove-header`: removes fields of the message.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::base::config_error::ConfigError;
use crate::error::Fault;
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};
use crate::mediate::message::Passing;
use crate::mediate::reading::{MediatorKind, MediatorReader, Names, Value};

pub(super) const KIND: MediatorKind =
    MediatorKind { name: "remove-header", make, schema: |generator| generator.subschema_for::<Table>() };

/// Removes header fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RemoveHeader")]
struct Table {
    /// The name of the field, or the names of several.
    #[serde(rename = "remove-header")]
    #[schemars(with = "Names")]
    names: Spanned<Names>,
}

#[derive(Debug)]
struct RemoveHeader {
    names: Box<[Box<str>]>,
}

fn make(table: Value<'_>, reading: &MediatorReader<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
    let Table { names } = reading.table(table)?;
    let span = names.span();
    let names = names.into_inner().into_vec().into_iter();
    let names = names.map(|name| reading.own_field_name(&Spanned::new(span.clone(), name)));
    Ok(Box::new(RemoveHeader { names: names.collect::<Result<_, _>>()? }))
}

impl Mediator for RemoveHeader {
    fn need(&self) -> Need {
        Need::Head
    }

    fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str)) {
        self.names.iter().for_each(|name| note(Touches::Changes, name));
    }

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        for name in &self.names {
            passing.memory.edits.remove(name);
        }
        Ok(Outcome::Continue)
    }
}
