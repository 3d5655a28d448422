//! The syntax of JSON and XML by itself: readers that go through a document event by event, and the tags that are written.
//!
//! It deliberately knows no entity, no value and no protocol.

pub mod json;
mod lexer;
pub(crate) mod tag;
pub(crate) mod xml;

pub(crate) use lexer::{Lexer, MARK};

use std::fmt;

/// The reason why a document could not be read, and the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Byte offset from 0.
    pub position: usize,
    /// The expected text, or the error.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.position)
    }
}

impl std::error::Error for ReadError {}
