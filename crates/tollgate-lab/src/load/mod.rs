//! The load generator: workers that ask, check the answers and record.
//!
//! What it deliberately does not do: decide what is compared (see [`crate::run`]) or whether a figure may be read
//! (see [`crate::judge`]).

pub mod answer;
mod carried;
pub mod connections;
pub mod insert;
pub mod pace;
pub mod pass;
pub(crate) mod ports;
pub mod record;
pub mod renewal;
mod request;
pub mod scenario;
pub mod script;
pub mod target;
mod user;
mod walk;
pub mod worker;

use std::time::Duration;

/// A request that takes longer has failed.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
