//! The services that need no database: one that computes, and two that stand behind mediators.
//!
//! What they deliberately do not do: keep anything that a client sends.

pub(crate) mod echo;
pub(crate) mod fibonacci;
pub(crate) mod stock_quote;
