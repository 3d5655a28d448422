//! The gateway put together: it starts, listens, routes requests, reloads, and serves the operator's pages.
//!
//! It does not answer requests for data itself.

mod admin;
mod chain;
mod core;
mod index;
mod launch;
mod reload;
mod route;
mod server;
mod shared;
mod start_error;
mod tls;

pub use self::admin::schema as status_schema;
pub use self::reload::Reloader;
pub use self::server::{Addresses, Gateway};
#[cfg(test)]
pub(crate) use self::shared::Shared;
pub use self::start_error::StartError;
