//! A database of any kind and a connection to it: the one place that lists the kinds.

use std::time::Duration;

use tollgate_wire::edm::{Model, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Key, Plan};

use super::introspect::Catalog;
use super::sql::dialect::Dialect;
use super::{Outcome, RowSink, Store, StoreError, Tables, postgres, sqlite};

/// A database of any kind.
#[derive(Debug)]
pub enum Database {
    /// SQLite, embedded.
    Sqlite(sqlite::SqliteDatabase),
    /// PostgreSQL, over the network or a Unix socket.
    Postgres(postgres::PostgresDatabase),
}

/// A connection to a database of any kind.
pub enum Connection {
    /// A connection to SQLite.
    Sqlite(sqlite::SqliteConnection),
    /// A connection to PostgreSQL.
    Postgres(postgres::PostgresConnection),
}

impl Database {
    /// Number of reopened connections after breaks; `None` where none can break.
    pub fn reconnects(&self) -> Option<u64> {
        match self {
            Database::Sqlite(_) => None,
            Database::Postgres(database) => Some(database.reconnects()),
        }
    }

    /// Its SQL dialect.
    pub fn dialect(&self) -> Dialect {
        match self {
            Database::Sqlite(_) => Dialect::Sqlite,
            Database::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Reads the catalogue of its tables and views.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn catalog(&self) -> Result<Catalog, StoreError> {
        match self {
            Database::Sqlite(database) => database.catalog(),
            Database::Postgres(database) => database.catalog(),
        }
    }

    /// Creates a connection.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn connection(&self) -> Result<Connection, StoreError> {
        match self {
            Database::Sqlite(database) => database.connection().map(Connection::Sqlite),
            Database::Postgres(database) => database.connection().map(Connection::Postgres),
        }
    }
}

impl Connection {
    /// Runs `work`, which reads: a read that takes longer than `most` is ended. `None` if one was, and then its output
    /// is of no use. PostgreSQL runs on its own, and blocks nobody here.
    pub fn briefly<T>(&mut self, most: Duration, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        let brevity = match self {
            Connection::Sqlite(connection) => Some(connection.brevity(most)),
            Connection::Postgres(_) => None,
        };
        let done = work(self);
        (!brevity.is_some_and(|brevity| brevity.ended_a_read())).then_some(done)
    }
}

/// Calls the same method of either kind.
macro_rules! each {
    ($connection:expr, $kind:ident => $call:expr) => {
        match $connection {
            Connection::Sqlite($kind) => $call,
            Connection::Postgres($kind) => $call,
        }
    };
}

impl Store for Connection {
    fn read<S: RowSink>(
        &mut self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError> {
        each!(self, kind => Store::read(kind, model, plan, page_size, sink))
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        each!(self, kind => kind.begin())
    }

    fn begin_single(&mut self) -> Result<(), StoreError> {
        each!(self, kind => kind.begin_single())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        each!(self, kind => kind.commit())
    }

    fn rollback(&mut self) {
        each!(self, kind => kind.rollback());
    }

    fn savepoint(&mut self) -> Result<(), StoreError> {
        each!(self, kind => kind.savepoint())
    }

    fn release(&mut self) -> Result<(), StoreError> {
        each!(self, kind => kind.release())
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        each!(self, kind => kind.undo())
    }

    fn lock(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        each!(self, kind => kind.lock(model, set, key))
    }

    fn insert<S: RowSink>(
        &mut self,
        model: &Model,
        set: SetId,
        entry: &Entry,
        sink: Option<&mut S>,
    ) -> Result<(), StoreError> {
        each!(self, kind => Store::insert(kind, model, set, entry, sink))
    }

    fn update(&mut self, model: &Model, set: SetId, key: &Key, entry: &Entry) -> Result<bool, StoreError> {
        each!(self, kind => kind.update(model, set, key, entry))
    }

    fn delete(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        each!(self, kind => kind.delete(model, set, key))
    }

    fn delete_all(&mut self, model: &Model, set: SetId) -> Result<u64, StoreError> {
        each!(self, kind => kind.delete_all(model, set))
    }
}

impl Tables for Connection {
    fn create_tables(&mut self, model: &Model) -> Result<(), StoreError> {
        each!(self, kind => Tables::create_tables(kind, model))
    }

    fn layout_version(&mut self) -> Result<i64, StoreError> {
        each!(self, kind => Tables::layout_version(kind))
    }

    fn set_layout_version(&mut self, version: i64) -> Result<(), StoreError> {
        each!(self, kind => Tables::set_layout_version(kind, version))
    }
}
