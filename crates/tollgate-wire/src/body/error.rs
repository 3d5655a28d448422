//! Errors in a body, with their place.
//!
//! Inside the readers an error is boxed, so that the good path carries one pointer, and gets its path on the way out,
//! so that the good path builds none.

use crate::syntax::ReadError;
use std::fmt;

/// An error in a body, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyError {
    /// Path of the property that is at fault, if one is: `PRICE`, `flightDetails/cityFrom`, `flightBookings[2]/CLASS`;
    /// in an array of records `[17].PRICE`.
    pub property: Option<String>,
    /// Byte offset from 0, in the body.
    pub position: usize,
    /// The expected and the found text, without the place.
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

/// Result of a reader inside of this module.
pub(crate) type Read<T> = Result<T, Box<BodyError>>;

impl BodyError {
    pub(crate) fn new(position: usize, message: impl Into<String>) -> Box<BodyError> {
        Box::new(BodyError { property: None, position, message: message.into() })
    }

    /// The same, in a value of the property `name`.
    #[cold]
    pub(crate) fn inside(mut self: Box<BodyError>, name: &str) -> Box<BodyError> {
        self.property = Some(match self.property {
            Some(inner) if inner.starts_with('[') => format!("{name}{inner}"),
            Some(inner) => format!("{name}/{inner}"),
            None => name.to_owned(),
        });
        self
    }

    /// Moves the place into an item of a collection; `separator` is put between the item and the place inside of it.
    #[cold]
    pub(crate) fn inside_item(mut self: Box<BodyError>, index: u64, separator: &str) -> Box<BodyError> {
        self.property = Some(match self.property {
            Some(inner) => format!("[{index}]{separator}{inner}"),
            None => format!("[{index}]"),
        });
        self
    }

    /// Moves the place for a document that contains, from `offset` on, the text that was read.
    pub(crate) fn moved(mut self: Box<BodyError>, offset: usize) -> Box<BodyError> {
        self.position += offset;
        self
    }
}

impl From<ReadError> for Box<BodyError> {
    #[cold]
    fn from(error: ReadError) -> Box<BodyError> {
        BodyError::new(error.position, error.message)
    }
}
