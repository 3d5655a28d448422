//! What a reader finds in a document of any format: entities with their links and properties, the count, the next link.
//!
//! Values stay as they stood there ([`Scalar`]); [`Scalar::value`] gives them a type when the caller knows it. It
//! deliberately knows no syntax: that is [`crate::atom`]'s and [`crate::json`]'s business.

use crate::edm::{Primitive, SetId, Version};
use crate::format::Format;
use crate::value::Value;
use crate::{atom, base64, date, decimal, json, rest};
use std::fmt;
use std::str::FromStr;

/// Why a document could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Byte offset from 0.
    pub position: usize,
    /// What was expected or what is wrong.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.position)
    }
}

impl std::error::Error for ReadError {}

/// A collection of entities or one entity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// Whether it is one entity or a collection (of one, perhaps).
    pub extent: Extent,
    /// The entities in order.
    pub entities: Vec<Entity>,
    /// The number of all matching entities, where the document tells it.
    pub count: Option<u64>,
    /// The URL of the next page, absolute or relative as it stands there.
    pub next: Option<String>,
}

/// Whether a document holds one entity or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// A collection.
    #[default]
    Collection,
    /// One entity.
    Single,
}

/// One entity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entity {
    /// Its identity: Atom `id`, V2 `__metadata.id` or `uri`, V4 `@odata.id`.
    pub id: Option<String>,
    /// Where it can be read and changed, as it stands there: Atom `link rel="edit"` or `"self"`, V2 `__metadata.uri`, V4
    /// `@odata.editLink`.
    pub edit_link: Option<String>,
    /// Its ETag with the quotes.
    pub etag: Option<String>,
    /// The name of its type, with namespace.
    pub type_name: Option<String>,
    /// Primitive properties by path (`PRICE`, `flightDetails/cityFrom`).
    pub properties: Vec<(String, Scalar)>,
    /// Links to related entities by the navigation property's name.
    pub links: Vec<(String, String)>,
    /// Expanded navigation properties.
    pub expanded: Vec<(String, Related)>,
}

impl Entity {
    /// The value of a property.
    pub fn property(&self, path: &str) -> Option<&Scalar> {
        self.properties.iter().find(|(name, _)| name == path).map(|(_, value)| value)
    }
}

/// The entities that an expanded navigation property leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Related {
    /// A collection.
    Many(Vec<Entity>),
    /// One, or none.
    One(Option<Box<Entity>>),
}

/// A value as the document has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar {
    /// Null.
    Null,
    /// A JSON Boolean.
    Boolean(bool),
    /// A JSON number with the digits that stand there.
    Number(String),
    /// A JSON string, or the text of an XML element.
    Text(String),
}

/// What the reader may know of the service, to tell complex values from entities where the document does not.
#[derive(Debug, Clone, Copy)]
pub struct Schema<'m> {
    /// The model.
    pub model: &'m crate::edm::Model,
    /// The set whose entities the document holds.
    pub set: SetId,
}

impl<'m> Schema<'m> {
    /// The schema behind a navigation property, if `name` is one.
    pub(crate) fn behind(self, name: &str) -> Option<Schema<'m>> {
        let entity_type = self.model.type_of(self.set);
        let navigation = entity_type.navigation(name)?;
        Some(Schema { set: entity_type.navigation[navigation.0].target, ..self })
    }
}

/// Reads a document of one entity or of many.
///
/// # Errors
/// What is wrong with it, and at which byte.
pub fn read(document: &[u8], format: Format, schema: Option<Schema<'_>>) -> Result<Document, ReadError> {
    match format {
        Format::V2Atom => atom::read(document),
        Format::V2Json => json::v2::read(document, schema),
        Format::V4Json { .. } => json::v4::read(document, schema),
        Format::RestJson => json::v4::read(document, schema),
        Format::RestXml { .. } => rest::read_xml(document),
    }
}

impl Scalar {
    /// The text of a value that is not null.
    pub fn text(&self) -> Option<&str> {
        match self {
            Scalar::Null => None,
            Scalar::Boolean(true) => Some("true"),
            Scalar::Boolean(false) => Some("false"),
            Scalar::Number(text) | Scalar::Text(text) => Some(text),
        }
    }

    /// The value as one of that type, from any of the forms in which `version` writes it; `None` if it is none. Plain
    /// REST has the forms of V4.
    pub fn value(&self, version: Version, primitive: Primitive) -> Option<Value> {
        use Primitive as P;
        let Some(text) = self.text() else { return Some(Value::Null) };
        let v2 = version == Version::V2;
        let typed = |text: Option<String>| text.map(|text| Value::Text(primitive, text));
        let integer = |least: i64, most: i64| {
            let value = text.parse().ok().filter(|value| (least..=most).contains(value));
            value.map(Value::Integer)
        };
        match primitive {
            P::Boolean => match text {
                "true" => Some(Value::Boolean(true)),
                "false" => Some(Value::Boolean(false)),
                _ => None,
            },
            P::Byte => integer(0, 255),
            P::SByte => integer(-128, 127),
            P::Int16 => integer(i64::from(i16::MIN), i64::from(i16::MAX)),
            P::Int32 => integer(i64::from(i32::MIN), i64::from(i32::MAX)),
            P::Int64 => integer(i64::MIN, i64::MAX),
            // The shortest text of a Single is not that of the Double nearest to it.
            P::Single => real::<f32>(text).map(|value| Value::Real(value.into())),
            P::Double => real::<f64>(text).map(Value::Real),
            P::Decimal { .. } => decimal::canonical(text).map(Value::Decimal),
            P::String { .. } => Some(Value::String(text.to_owned())),
            P::Binary { .. } => base64::decode(text).map(Value::Binary),
            P::Guid => is_guid(text).then(|| Value::Text(primitive, text.to_ascii_lowercase())),
            P::Date if v2 => {
                let date_time = date::text_from_v2_json(text).or_else(|| date::date_time(text))?;
                typed(date_time.strip_suffix("T00:00:00").map(str::to_owned))
            }
            P::Date => typed(date::date(text)),
            P::DateTime { .. } if v2 => typed(date::text_from_v2_json(text).or_else(|| date::date_time(text))),
            P::DateTime { .. } => typed(
                date::date_time(text).or_else(|| date::date_time_offset(text)?.strip_suffix('Z').map(str::to_owned)),
            ),
            P::DateTimeOffset { .. } if v2 && text.starts_with('/') => {
                typed(date::text_from_v2_json(text).map(|text| if text.ends_with('Z') { text } else { text + "Z" }))
            }
            P::DateTimeOffset { .. } => typed(date::date_time_offset(text)),
            P::TimeOfDay { .. } if v2 => typed(date::text_from_v2_time(text)),
            P::TimeOfDay { .. } => typed(date::time_of_day(text)),
            P::Duration => typed(date::duration(text)),
        }
    }
}

fn real<F: FromStr>(text: &str) -> Option<F> {
    // The parser of the standard library has other words, in any case.
    let text = match text {
        "NaN" => "nan",
        "INF" => "inf",
        "-INF" => "-inf",
        _ if text.ends_with(|last: char| last.is_ascii_digit() || last == '.') => text,
        _ => return None,
    };
    text.parse().ok()
}

fn is_guid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
