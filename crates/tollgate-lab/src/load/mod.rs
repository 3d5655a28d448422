//! The load generator: workers that send requests, check the answers and record.
//!
//! It does not decide what is compared (see [`crate::run`]) or whether a figure is valid (see [`crate::judge`]).

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
