//! Documents of any format: read into entities ([`read()`]), compiled as stencils, checked against what is expected
//! ([`content`]), searched for links ([`links`]), and errors ([`error`]).
//!
//! It deliberately knows no syntax: that is [`crate::atom`]'s, [`crate::json`]'s and plain REST's business.

pub mod content;
pub mod error;
pub mod links;
#[cfg(test)]
mod round_trip;
mod stencils;

pub use crate::syntax::ReadError;
pub use crate::value::document::{Document, Entity, Extent, Related, Scalar, Schema};

use crate::format::Format;
use crate::{atom, json, rest};

/// Reads a document of one entity or of many.
///
/// # Errors
/// The error in it, with its byte.
pub fn read(document: &[u8], format: Format, schema: Option<Schema<'_>>) -> Result<Document, ReadError> {
    match format {
        Format::V2Atom => atom::read(document),
        Format::V2Json => json::v2::read(document, schema),
        Format::V4Json { .. } => json::v4::read(document, schema),
        Format::RestJson => json::v4::read(document, schema),
        Format::RestXml { .. } => rest::read_xml(document),
    }
}
