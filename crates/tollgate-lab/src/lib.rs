//! The measuring half: it drives load at any subject, watches it from outside, repeats in interleaved rounds and prints
//! each layer's toll with an interval, or refuses a figure that would be false.
//!
//! It does not know the gateway: it sees every subject, ours too, only over the network and /proc.

pub mod check;
mod conduct;
pub mod cores;
pub mod experiment;
pub mod judge;
pub mod kinds;
pub mod load;
pub mod plan;
pub mod probe;
pub mod run;
pub mod secret;
pub mod single;
pub mod subject;
#[cfg(test)]
mod testing;
pub mod traffic;

pub use kinds::{page, scenario};
