//! The services that the gateway brings along with a model and data of their own: flights and records.
//!
//! What a service deliberately does not do: read a request or write an answer; that is the protocols' business.

pub mod flights;
pub mod records;
