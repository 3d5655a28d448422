//! The serving half: OData V2, OData V4 and plain REST over a database, under bounded work processes.
//!
//! What it deliberately does not do: measure itself. Whoever wants figures watches it from outside, or reads `/metrics`.

mod accept;
mod admin;
mod attempts;
pub mod auth;
mod away;
pub mod board;
pub mod cache;
mod conditions;
pub mod config;
mod csrf;
pub mod dispatcher;
mod echo;
mod error;
mod error_format;
mod feed;
mod fibonacci;
pub mod generate;
mod hosted;
mod index;
mod launch;
mod log;
pub mod mediate;
mod next_link;
mod odata;
mod operation;
mod parts;
mod plans;
mod pool;
mod proxy;
mod reload;
mod rest;
mod route;
mod rules;
mod server;
pub mod services;
mod shared;
mod single;
mod start_error;
mod stencils;
mod stock_quote;
#[cfg(test)]
mod tests;
mod tls;
mod visit;
mod weight;

pub use admin::schema as status_schema;
pub use config::{Config, ConfigError};
pub use reload::Reloader;
pub use server::{Addresses, Gateway};
pub use start_error::StartError;
use tollgate_store as store;
