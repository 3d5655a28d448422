//! The gateway put together: it starts, listens, finds out whose a request is, reloads, and shows itself to the operator.
//!
//! What it deliberately does not do: answer a request for data.

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
