//! Results of a run, and all that is computed from them: stored result, statistics, tolls, thresholds, runs compared.
//!
//! Everything here is a function of stored numbers. It deliberately does not measure, render, or look at a clock, a
//! file or a network.

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
