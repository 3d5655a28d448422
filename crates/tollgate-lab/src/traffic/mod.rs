//! Descriptions of traffic: requests, rows, records, scenarios, rates and stages, each checked once.
//!
//! It does not send anything (see [`crate::load`]) or read a file of an experiment (see [`crate::experiment`]).

pub mod feed;
pub(crate) mod given;
pub mod header;
pub mod mode;
pub mod model;
pub mod places;
pub mod request;
pub mod scenario;
pub mod stages;
pub mod statuses;
