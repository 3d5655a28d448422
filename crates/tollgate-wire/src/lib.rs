//! The formats of OData V2, OData V4 and plain REST, without any input or output: the entity data model, URLs and
//! query options (parsed into one [`plan::Plan`]), and the documents that answer them.
//!
//! This crate deliberately opens no socket or file, reads no clock, and knows no database or handler.

mod address;
pub mod atom;
pub mod batch;
pub mod body;
pub mod describe;
pub mod document;
pub mod edm;
pub mod format;
pub mod json;
pub mod plan;
pub mod query;
mod rest;
pub mod soap;
pub mod stencil;
mod syntax;
#[cfg(test)]
mod testing;
mod text;
pub mod url;
pub mod value;

pub use body::entry;
pub use document::{content, error, links};
pub use plan::relation;
pub use text::{base64, csp, date, decimal, escape, number, suggest};
pub use value::items;
