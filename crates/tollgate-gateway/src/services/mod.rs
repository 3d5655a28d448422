//! The services that the gateway brings along: each has a model and a data set of its own.
//!
//! What a service deliberately does not do: read a request or write an answer; that is the protocols' business.

pub mod flights;
pub mod records;
