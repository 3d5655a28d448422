//! The services that the gateway brings along: two with a model and a data set of their own, and one that computes.
//!
//! What a service deliberately does not do: read a request or write an answer; that is the protocols' business.

pub mod fibonacci;
pub mod flights;
pub mod records;
