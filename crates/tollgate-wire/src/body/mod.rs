//! Bodies of requests that create or change entities, read into an [`Entry`] and checked in full against the model: every
//! name is known, every value has its type, its length, its digits and its range.
//!
//! What it deliberately does not do: decide whether a value may be missing or set (that is the operation's business), or
//! provide any.

use std::fmt;

use crate::document::{self, ReadError, Schema};
use crate::edm::Version;
use crate::entry::Entry;
use crate::format::Format;

/// What is wrong with a body, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyError {
    /// Path of the property that is at fault, if one is: `PRICE`, `flightDetails/cityFrom`.
    pub property: Option<String>,
    /// Byte offset from 0, in the body.
    pub position: usize,
    /// What was expected and what was found, without the place.
    pub message: String,
}

impl fmt::Display for BodyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.property {
            Some(property) => write!(formatter, "{property}: {} (at byte {})", self.message, self.position),
            None => write!(formatter, "{} (at byte {})", self.message, self.position),
        }
    }
}

impl std::error::Error for BodyError {}

/// Reads the entity in `document` into `entry`, which is reset first.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(document: &[u8], format: Format, schema: Schema<'_>, entry: &mut Entry) -> Result<(), BodyError> {
    let entity_type = schema.model.type_of(schema.set);
    entry.reset(entity_type.leaves.len());
    let found = document::read(document, format, Some(schema)).map_err(BodyError::from)?;
    let [entity] = &found.entities[..] else {
        return Err(BodyError { property: None, position: 0, message: "expected one entity".to_owned() });
    };
    for (path, scalar) in &entity.properties {
        let fault =
            |message: &str| BodyError { property: Some(path.clone()), position: 0, message: message.to_owned() };
        let leaf = entity_type.leaf(path).ok_or_else(|| fault("the type has no such property"))?;
        let primitive = entity_type.leaves[leaf.0].primitive;
        let version = format.version().unwrap_or(Version::V4);
        let value = scalar.value(version, primitive).ok_or_else(|| fault("the value has another type"))?;
        entry.set(leaf, value.cell());
    }
    Ok(())
}

impl From<ReadError> for BodyError {
    fn from(error: ReadError) -> BodyError {
        BodyError { property: None, position: error.position, message: error.message }
    }
}
