//! The services that the gateway brings along: two with a model and a data set of their own, one that computes, and two
//! that stand behind mediators.
//!
//! What a service deliberately does not do: read a request or write an answer; that is the protocols' business.

pub mod flights;
pub mod records;
