//! Atom of OData V2: feeds, entries and property documents.
//!
//! It deliberately leaves out what OData does not use of Atom: authors, summaries, text constructs other than plain text.

pub(crate) mod write;
