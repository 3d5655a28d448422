//! The serving half: OData V2, OData V4 and plain REST over a database, under bounded work processes.
//!
//! What it deliberately does not do: measure itself. Whoever wants figures watches it from outside, or reads `/metrics`.

pub mod config;
pub mod dispatcher;
pub mod services;
pub mod store;

pub use config::{Config, ConfigError};
