//! The load generator: workers that ask, check the answers and record.
//!
//! What it deliberately does not do: decide what is compared (see [`crate::run`]) or whether a figure may be read
//! (see [`crate::validity`]).

mod arrivals;
pub mod checks;
mod closing;
mod compare;
pub mod connections;
mod content;
pub mod course;
mod desk;
pub mod detail;
mod failure;
pub mod feed;
pub mod gate;
mod header;
mod heartbeat;
pub mod insert;
pub mod little;
pub mod model;
pub mod odata_batch;
mod open;
pub mod pass;
pub(crate) mod ports;
pub mod quick;
mod read;
pub mod recorder;
mod request;
pub mod scenario;
pub mod script;
pub mod soap;
pub mod stages;
pub mod target;
mod user;
mod walk;
pub mod worker;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use failure::ErrorClass;
pub use header::{basic_authorization, check_header, check_load_header, completed as completed_fields};
pub use model::Arrivals;
pub use quick::{AnswerLength, Quick, QuickLoad, Rate, Via, Wrapping, quick, quick_recorded};
pub use target::Connection;

/// A request that takes longer has failed.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
