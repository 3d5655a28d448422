//! The load generator: workers that ask, check the answers and record.
//!
//! What it deliberately does not do: decide what is compared (see [`crate::run`]) or whether a figure may be read
//! (see [`crate::validity`]).

mod arrivals;
mod closing;
mod compare;
pub mod connections;
mod content;
mod failure;
mod header;
pub mod insert;
pub mod little;
pub mod model;
mod open;
pub mod pass;
mod ports;
pub mod quick;
mod read;
pub mod recorder;
mod request;
pub mod target;
mod user;
mod walk;
pub mod worker;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use failure::ErrorClass;
pub use header::{basic_authorization, check_header};
pub use little::LittlesLaw;
pub use model::Arrivals;
pub use quick::{FirstRequest, Handshaken, Offered, PhaseTimes, QuickLoad, QuickResult, Rate, Segments, quick};
pub use target::Connection;

/// A request that takes longer has failed.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
