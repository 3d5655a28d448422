//! Requests that are passed on: which ones, where they may go, and passing them on.

mod address;
mod caching;
mod connections;
pub(crate) mod endpoint;
mod fields;
mod forward;
pub(crate) mod health;
mod mediated;
mod path;
mod pools;
mod table;

pub(crate) use caching::cachable;
pub(crate) use connections::{ConnectionCounts, Connections};
pub(crate) use forward::forward;
pub(crate) use pools::Pools;
pub(crate) use table::{Configured, Found, ProxyRoute, Table, places};
