//! The services that need no database: one that computes, and two that serve as backends of mediators.
//!
//! They keep nothing that a client sends.

mod echo;
mod fibonacci;
pub(crate) mod service;
mod stock_quote;

use self::service::BuiltInKind;

/// Every kind of service without a database. To add one: its folder, and its line here.
pub(crate) const BUILT_IN: &[&BuiltInKind] = &[&fibonacci::KIND, &echo::KIND, &stock_quote::KIND];
