//! The content of a document of any format: entities with their links and properties, the count, the next link.
//!
//! Values stay as written ([`Scalar`]); [`Scalar::value`] gives them a type when the caller knows it. It deliberately
//! knows no syntax: that is [`crate::atom`]'s and [`crate::json`]'s business.

use super::canonical::{self, Canonical};
use crate::edm::{Primitive, SetId, Value, Version};

/// A collection of entities or one entity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// Whether it is one entity or a collection (of one, perhaps).
    pub extent: Extent,
    /// The entities in order.
    pub entities: Vec<Entity>,
    /// The number of all matching entities, if the document gives it.
    pub count: Option<u64>,
    /// The URL of the next page, absolute or relative as in the document.
    pub next: Option<String>,
}

/// Whether a document contains one entity or many.
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
    /// The URL for reading and changing it, as in the document: Atom `link rel="edit"` or `"self"`, V2
    /// `__metadata.uri`, V4 `@odata.editLink`.
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
    /// A JSON number with its digits as written.
    Number(String),
    /// A JSON string, or the text of an XML element.
    Text(String),
}

/// The reader's knowledge of the service, to distinguish complex values from entities where the document does not.
#[derive(Debug, Clone, Copy)]
pub struct Schema<'m> {
    /// The model.
    pub model: &'m crate::edm::Model,
    /// The set of the document's entities.
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
        let Some(text) = self.text() else { return Some(Value::Null) };
        let mut out = Vec::new();
        let kind = canonical::append(&mut out, version, primitive, text)?;
        let text = |out| String::from_utf8(out).expect("canonical texts are UTF-8");
        Some(match (kind, primitive) {
            (Canonical::Integer(value), Primitive::Boolean) => Value::Boolean(value != 0),
            (Canonical::Integer(value), _) => Value::Integer(value),
            (Canonical::Real(value), _) => Value::Real(value),
            (Canonical::Bytes, _) => Value::Binary(out),
            (Canonical::Text, Primitive::String { .. }) => Value::String(text(out)),
            (Canonical::Text, Primitive::Decimal { .. }) => Value::Decimal(text(out)),
            (Canonical::Text, _) => Value::Text(primitive, text(out)),
        })
    }
}
