//! Databases under a plan: a store answers a [`Plan`](tollgate_wire::plan::Plan) with rows, in document order, straight
//! out of SQLite or PostgreSQL, and changes entities in transactions.
//!
//! A store knows no protocol, format or caller. It passes rows to a [`RowSink`], which writes them directly from the
//! database's memory, so nothing is collected in between.

mod connection;
mod error;
#[cfg(test)]
mod fixture;
pub mod introspect;
mod mapping;
pub mod postgres;
pub mod sql;
pub mod sqlite;
mod store;

pub use connection::{Connection, Database};
pub use error::{Cause, Fault, Rule, StoreError};
pub use mapping::{Column, Form, Identity, Mapping, Table};
pub use store::{Discard, Flow, Outcome, RowSink, Store, Tables};
