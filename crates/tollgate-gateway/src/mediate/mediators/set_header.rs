//! `set-header`: fields of the message replaced, or added.
//!
//! If the message lacks the value, its field stays as it is. Fields for framing and transport belong to the proxy.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_xml::Workspace;
use toml::Spanned;

use crate::base::config_error::ConfigError;
use crate::error::Fault;
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};
use crate::mediate::message::Passing;
use crate::mediate::reading::{MediatorKind, MediatorReader, Value};
use crate::mediate::source::{SourceTable, ValueSource};
use crate::mediate::view::{Unreadable, View};

pub(super) const KIND: MediatorKind =
    MediatorKind { name: "set-header", make, schema: |generator| generator.subschema_for::<Table>() };

/// Sets header fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SetHeader")]
struct Table {
    /// The fields by name, each with its value: a text, or its source in the message.
    #[serde(rename = "set-header")]
    #[schemars(with = "BTreeMap<String, SourceTable>")]
    fields: BTreeMap<Spanned<String>, Spanned<SourceTable>>,
}

#[derive(Debug)]
struct SetHeader {
    fields: Box<[(Box<str>, ValueSource)]>,
}

fn make(table: Value<'_>, reading: &MediatorReader<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
    let Table { fields } = reading.table(table)?;
    let field = |(name, value): (Spanned<String>, Spanned<SourceTable>)| {
        let (name, span) = (reading.own_field_name(&name)?, value.span());
        let source = ValueSource::read(value, reading)?;
        match &source {
            ValueSource::Text(text) if !is_value(text.as_bytes()) => {
                Err(reading.wrong(span, "expected the value of a header field, without line ends"))
            }
            _ => Ok((name, source)),
        }
    };
    let fields = fields.into_iter().map(field).collect::<Result<_, _>>()?;
    Ok(Box::new(SetHeader { fields }))
}

impl Mediator for SetHeader {
    fn need(&self) -> Need {
        self.fields.iter().map(|(_, source)| source.need()).max().unwrap_or_default()
    }

    fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str)) {
        for (name, source) in &self.fields {
            note(Touches::Changes, name);
            source.fields(note);
        }
    }

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        for (name, source) in &self.fields {
            if let ValueSource::Text(text) = source {
                passing.memory.edits.set(name, text.as_bytes());
                continue;
            }
            let (view, tools) = passing.split();
            // Its own copy: the edits that it may stand in are about to grow.
            if let Some(value) = value(name, source, &view, tools.workspace)? {
                passing.memory.edits.set(name, value.as_bytes());
            }
        }
        Ok(Outcome::Continue)
    }
}

fn value(
    name: &str,
    source: &ValueSource,
    view: &View<'_>,
    workspace: &mut Workspace,
) -> Result<Option<String>, Fault> {
    let Some(value) = source.value(view, workspace)? else { return Ok(None) };
    let value = value.trim();
    if !is_value(value.as_bytes()) {
        let wrong = format!("what is to become the field {name} has characters that no field may have");
        return Err(view.refuse(Unreadable::Wrong(wrong)));
    }
    Ok(Some(value.to_owned()))
}

/// Whether it is a valid field value (RFC 9110, section 5.5).
fn is_value(bytes: &[u8]) -> bool {
    let visible = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7F);
    let is_space = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    bytes.iter().all(|byte| visible(*byte)) && !is_space(bytes.first()) && !is_space(bytes.last())
}
