//! Atom of OData V2: feeds, entries and property documents, written by stencils and read into [`crate::document`].
//!
//! It deliberately leaves out what OData does not use of Atom: authors, summaries, text constructs other than plain text.

mod read;
mod write;

pub(crate) use read::property;
pub use read::read;
pub(crate) use write::Atom;

/// Prefix of a link's relation, before the name of the navigation property.
pub(crate) const RELATED: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices/related/";
