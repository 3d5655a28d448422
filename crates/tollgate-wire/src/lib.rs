//! The formats of OData V2, OData V4 and plain REST, without any input or output: the entity data model, URLs and
//! query options (parsed into one [`plan::Plan`]), and the documents that answer them.
//!
//! What this crate deliberately does not do: open a socket or a file, read a clock, know a database or a handler.

pub mod atom;
pub mod base64;
pub mod batch;
pub mod body;
mod canonical;
pub mod content;
pub mod date;
pub mod decimal;
pub mod document;
pub mod edm;
pub mod entry;
pub mod error;
pub mod escape;
pub mod format;
pub mod items;
pub mod json;
pub mod links;
pub mod number;
pub mod plan;
pub mod query;
pub mod relation;
pub(crate) mod rest;
#[cfg(test)]
mod round_trip;
pub mod soap;
pub mod stencil;
pub mod suggest;
#[cfg(test)]
pub(crate) mod testing;
pub mod url;
pub mod value;
pub(crate) mod xml;
