//! Clients: their address behind proxies, what each of them may take, and whom something was refused.
//!
//! It asks nobody who they are: see `auth`.

pub(crate) mod config;
mod forwarded;
mod limits;
mod quota;
mod refusals;

pub use config::{ClientIdentity, ClientLimit, Clients as ClientsConfig};
pub use quota::QuotaAmounts;

pub(crate) use limits::Clients;
pub(crate) use refusals::{Reason, RefusedClient};
