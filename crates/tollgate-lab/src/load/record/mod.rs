//! Records of a worker during a load: counts, times, their course, and each request if wanted.
//!
//! It does not judge them.

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
