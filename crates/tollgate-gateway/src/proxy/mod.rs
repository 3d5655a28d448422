//! Requests that are passed on: which ones, and where they may go.

#![allow(dead_code, unused_imports, reason = "what forwards requests comes next")]

pub(crate) mod endpoint;
mod path;
mod table;

pub(crate) use table::{Found, ProxyRoute, Table, places};
