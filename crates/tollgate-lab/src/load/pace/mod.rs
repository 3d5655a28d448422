//! When users begin and end: all at once, at a rate, or by stages.
//!
//! What it deliberately does not do: ask.

pub(crate) mod alarm;
pub(crate) mod arrivals;
pub(crate) mod asleep;
pub(crate) mod closing;
pub(crate) mod desk;
pub mod gate;
pub(crate) mod units;
