//! Source of a parameter's or field's value: the configuration itself, or the message.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tollgate_xml::tree::NodeId;
use tollgate_xml::{Options, Workspace, XPath};
use toml::Spanned;

use super::reading::{MediatorReader, Namespaces};
use super::view::View;
use crate::base::config_error::ConfigError;
use crate::error::Fault;
use crate::mediate::mediator::{Need, Touches};

/// Source of a value.
#[derive(Debug)]
pub(super) enum ValueSource {
    /// A fixed text.
    Text(Box<str>),
    /// A field of the message.
    Field(Box<str>),
    /// An option of the request's query.
    Query(Box<str>),
    /// An XPath on the message's body.
    XPath(Box<XPath>),
}

/// A value as written in the file.
#[derive(Debug, JsonSchema)]
#[schemars(untagged, rename = "Value")]
pub(super) enum SourceTable {
    /// A fixed text.
    Text(String),
    /// A value of the message.
    From(FromTable),
}

/// Source of a value in the message: exactly one key. A message without it leaves the value out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ValueFromMessage")]
pub(super) struct FromTable {
    /// A header field.
    #[schemars(with = "Option<String>")]
    header: Option<Spanned<String>>,
    /// An option of the URL's query.
    #[schemars(with = "Option<String>")]
    query: Option<Spanned<String>>,
    /// The text that an XPath finds in the body.
    #[schemars(with = "Option<String>")]
    xpath: Option<Spanned<String>>,
    /// Prefixes of the XPath, and their namespaces.
    #[serde(default)]
    namespaces: Namespaces,
}

impl ValueSource {
    /// Compiles a value of the file.
    ///
    /// # Errors
    /// The value is invalid.
    pub(super) fn read(table: Spanned<SourceTable>, reading: &MediatorReader<'_>) -> Result<ValueSource, ConfigError> {
        let span = table.span();
        let FromTable { header, query, xpath, namespaces } = match table.into_inner() {
            SourceTable::Text(text) => return Ok(ValueSource::Text(text.into())),
            SourceTable::From(table) => table,
        };
        match (header, query, xpath) {
            (Some(name), None, None) => Ok(ValueSource::Field(reading.field_name(&name)?)),
            (None, Some(name), None) => Ok(ValueSource::Query(name.into_inner().into())),
            (None, None, Some(text)) => Ok(ValueSource::XPath(Box::new(reading.xpath(&text, &namespaces)?))),
            _ => Err(reading.wrong(span, "expected one of `header`, `query` and `xpath`")),
        }
    }

    /// Part of a message that it needs.
    pub(super) fn need(&self) -> Need {
        match self {
            ValueSource::Text(_) | ValueSource::Field(_) | ValueSource::Query(_) => Need::Head,
            ValueSource::XPath(_) => Need::WholeBody,
        }
    }

    /// Names the field that it reads.
    pub(super) fn fields<'s>(&'s self, note: &mut dyn FnMut(Touches, &'s str)) {
        match self {
            ValueSource::Field(name) => note(Touches::Reads, name),
            // The query is part of what is asked for, and a message with a body is not one of those that are kept.
            ValueSource::Text(_) | ValueSource::Query(_) | ValueSource::XPath(_) => {}
        }
    }

    /// The value in a message, if it has one.
    ///
    /// # Errors
    /// The message cannot be read.
    pub(super) fn value<'v>(
        &'v self,
        view: &View<'v>,
        workspace: &mut Workspace,
    ) -> Result<Option<Cow<'v, str>>, Fault> {
        Ok(match self {
            ValueSource::Text(text) => Some(Cow::Borrowed(text)),
            ValueSource::Field(name) => view.field(name).map(Cow::Borrowed),
            ValueSource::Query(name) => view.query(name),
            ValueSource::XPath(_) if view.body.is_empty() || !view.may_be_xml() => None,
            ValueSource::XPath(xpath) => Some(Cow::Owned(string(xpath, view, workspace)?)),
        })
    }
}

/// The text of an XPath on a message.
///
/// # Errors
/// The message cannot be read.
pub(super) fn string(xpath: &XPath, view: &View<'_>, workspace: &mut Workspace) -> Result<String, Fault> {
    let text = view.xml_text().map_err(|why| view.refuse(why))?;
    let limits = view.budget();
    let options = Options { budget: Some(&limits), ..Options::default() };
    let document = workspace.parse(&text, &options).map_err(|error| view.refuse_xml(&error, xpath.text()))?;
    let found = xpath.string(&document, NodeId::ROOT);
    workspace.recycle(document);
    found.map_err(|error| view.refuse_xml(&error, xpath.text()))
}

impl<'de> Deserialize<'de> for SourceTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SourceTable, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = SourceTable;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text, or a table such as { header = \"X-Symbol\" }")
            }

            fn visit_str<E>(self, text: &str) -> Result<SourceTable, E> {
                Ok(SourceTable::Text(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<SourceTable, A::Error> {
                FromTable::deserialize(MapAccessDeserializer::new(entries)).map(SourceTable::From)
            }
        }

        deserializer.deserialize_any(Either)
    }
}
