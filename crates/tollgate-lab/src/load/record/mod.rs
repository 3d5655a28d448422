//! What a worker writes down while it loads: counts, times, their course, and each request where that is wanted.
//!
//! What it deliberately does not do: judge them.

pub(crate) mod coarse;
pub mod course;
pub mod detail;
pub(crate) mod heartbeat;
pub mod interactive;
pub mod little;
pub mod live;
mod places;
pub mod portions;
pub mod recorder;
pub mod staged;
