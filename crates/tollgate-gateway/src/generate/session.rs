//! A work process's connection to the batch's database of either kind: the steps for one document there.
//!
//! The order of steps and the handling of failures are not here.

use super::transform::Rows;
use super::values::{Claimed, Key, Settled, Standing, TimedResult};
use super::{postgres, sqlite};
use crate::store::StoreError;

/// A connection.
pub(super) enum Session {
    Postgres(Box<postgres::PostgresSession>),
    Sqlite(sqlite::SqliteSession),
}

/// Calls the same method of either kind.
macro_rules! each {
    ($session:expr, $kind:ident => $call:expr) => {
        match $session {
            Session::Postgres($kind) => $call.await,
            Session::Sqlite($kind) => $call.await,
        }
    };
}

impl Session {
    /// Begins a transaction and claims a waiting document; without one, there is no transaction either.
    pub(super) async fn claim(&mut self) -> Result<Option<Claimed>, StoreError> {
        each!(self, session => session.claim())
    }

    /// The rows of a dependency for a key.
    pub(super) async fn rows(&mut self, dependency: usize, key: &Key) -> Result<Rows, StoreError> {
        each!(self, session => session.rows(dependency, key))
    }

    /// Stores a result and marks its document as done.
    pub(super) async fn store(&mut self, key: &Key, outcome: TimedResult<'_>) -> Result<Settled, StoreError> {
        each!(self, session => session.store(key, outcome))
    }

    /// Commits the transaction.
    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        each!(self, session => session.commit())
    }

    /// Undoes the work on a document, which waits again.
    pub(super) async fn abandon(&mut self) -> Result<(), StoreError> {
        each!(self, session => session.abandon())
    }

    /// Sets a document aside for good. Nothing else was changed in the transaction.
    pub(super) async fn set_aside(&mut self, key: &Key, error: &str) -> Result<Settled, StoreError> {
        each!(self, session => session.set_aside(key, error))
    }

    /// Standing of a document.
    pub(super) async fn standing(&mut self, key: &Key) -> Result<Standing, StoreError> {
        each!(self, session => session.standing(key))
    }

    /// Number of waiting documents.
    pub(super) async fn waiting(&mut self) -> Result<u64, StoreError> {
        each!(self, session => session.waiting())
    }

    /// Round trips to the database so far.
    pub(super) fn round_trips(&self) -> u64 {
        match self {
            Session::Postgres(session) => session.round_trips(),
            // It is in this process.
            Session::Sqlite(_) => 0,
        }
    }
}
