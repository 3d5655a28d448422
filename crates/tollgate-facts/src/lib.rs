//! What a run found, and what is computed from it: the stored result, statistics, tolls, thresholds, runs side by side.
//!
//! Everything here is a function of numbers that were stored. What it deliberately does not do: measure, look at a clock,
//! a file or a network, or render.

pub mod across;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod names;
pub mod quantity;
pub mod results;
pub mod rules;
pub mod stats;
pub mod threshold;
pub mod toll;
