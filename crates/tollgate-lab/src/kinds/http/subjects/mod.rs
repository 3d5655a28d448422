//! What is measured and what it needs around it: places, processes, servers behind them, certificates, links.
//!
//! What it deliberately does not do: load them.

pub(crate) mod backends;
pub(crate) mod beside;
pub(crate) mod folder;
pub(crate) mod secured;
pub(crate) mod sites;
pub(crate) mod watched;
