//! The serving half: OData V2, OData V4 and plain REST over a database, under bounded work processes.
//!
//! It does not measure itself: figures come from outside, or from `/metrics`.

pub mod auth;
mod base;
mod built_in;
pub mod cache;
mod clients;
pub mod config;
mod error;
mod front;
pub mod generate;
mod hosted;
mod http;
pub mod mediate;
mod operation;
mod serve;
pub mod services;
#[cfg(test)]
mod tests;
mod visit;
mod work;

pub use config::{Config, ConfigError};
pub use front::{Addresses, Gateway, Reloader, StartError, status_schema};
use tollgate_store as store;
