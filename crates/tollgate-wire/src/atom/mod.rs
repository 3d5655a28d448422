//! Atom of OData V2: feeds, entries and property documents, written by stencils and read into [`crate::document`].
//!
//! It deliberately leaves out what OData does not use of Atom: authors, summaries, text constructs other than plain text.

mod read;
pub(crate) mod write;

pub use read::read;
pub(crate) use read::{RELATED, property};
