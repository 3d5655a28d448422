//! The subjects and their surroundings: addresses, processes, servers behind them, certificates, links.
//!
//! It does not load them.

pub(crate) mod backends;
pub(crate) mod beside;
pub(crate) mod folder;
pub(crate) mod secured;
pub(crate) mod sites;
pub(crate) mod watched;
