//! What is measured and what it needs around it: places, processes, servers behind them, certificates, links.
//!
//! What it deliberately does not do: load them.

pub(super) mod backends;
pub(super) mod emptying;
pub(super) mod line;
pub(super) mod rungs;
pub(super) mod secured;
pub(super) mod sites;
pub(super) mod watched;
