//! Start and end of users: all at once, at a rate, or by stages.
//!
//! It sends no requests.

pub(crate) mod alarm;
pub(crate) mod arrivals;
pub(crate) mod asleep;
pub(crate) mod closing;
pub(crate) mod desk;
pub mod gate;
pub(crate) mod units;
