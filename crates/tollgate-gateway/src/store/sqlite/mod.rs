//! SQLite, embedded: in memory or in a file.
//!
//! A [`Database`] hands out a [`Connection`] for each work process; connections share nothing in this process but the
//! pages of the database. It deliberately offers no SQL to its callers: they ask with plans.

mod budget;
mod functions;
#[cfg(test)]
mod query_plans;
mod read;
mod row;
mod tables;
mod write;

use std::cell::RefCell;
use std::path::PathBuf;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::{ErrorCode, OpenFlags};
use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_wire::edm::Model;

use super::{Mapping, StoreError};
use budget::Budget;

/// How long one read may run by default before it is interrupted.
pub const READ_TIME_BUDGET: Duration = Duration::from_secs(10);

/// How long a connection waits for another's lock before [`StoreError::Busy`].
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Prepared statements that a connection keeps.
const STATEMENTS_MAX: usize = 64;

/// Where a database lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In this process, gone when the [`Database`] is.
    Memory,
    /// In a file, with a write-ahead log beside it.
    File(PathBuf),
}

/// When what was committed to an SQLite file is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Synchronous {
    /// Before the answer: nothing that was acknowledged is ever lost.
    #[default]
    Full,
    /// Some time later: a power failure may lose the last transactions, and harms nothing else.
    Normal,
    /// When the system pleases: a power failure may destroy the file.
    Off,
}

/// A database that connections can be made to.
#[derive(Debug)]
pub struct Database {
    address: PathBuf,
    location: Location,
    mapping: Arc<Mapping>,
    time_budget: Duration,
    synchronous: Synchronous,
    /// A database in memory lives as long as a connection to it.
    _keeper: Mutex<rusqlite::Connection>,
}

/// A connection to a database, for one work process at a time. It moves between threads with its work process.
pub struct Connection {
    raw: rusqlite::Connection,
    mapping: Arc<Mapping>,
    budget: Arc<Budget>,
    /// For each set the text of the statement that reads an entity by its key, once it was needed.
    key_statements: RefCell<Vec<Option<Arc<str>>>>,
}

impl Database {
    /// Opens a database, creating the file if it is not there. Tables are the business of whoever fills them.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] if the file is no database, [`StoreError::Database`] if it cannot be opened.
    pub fn open(location: Location, mapping: Mapping) -> Result<Database, StoreError> {
        static MEMORY_DATABASES: AtomicU64 = AtomicU64::new(0);
        let address = match &location {
            // This file system of SQLite's own shares a database between the connections of a process by its name, with
            // plain file locks, while a shared cache would serialize them.
            Location::Memory => {
                let number = MEMORY_DATABASES.fetch_add(1, Ordering::Relaxed);
                PathBuf::from(format!("file:/tollgate-{number}?vfs=memdb"))
            }
            Location::File(path) => path.clone(),
        };
        let keeper = open(&address, &location)?;
        Ok(Database {
            address,
            location,
            mapping: Arc::new(mapping),
            time_budget: READ_TIME_BUDGET,
            synchronous: Synchronous::default(),
            _keeper: Mutex::new(keeper),
        })
    }

    /// Sets how long one read may run on connections that are made from now on.
    pub fn with_time_budget(mut self, time_budget: Duration) -> Database {
        self.time_budget = time_budget;
        self
    }

    /// Sets when what connections that are made from now on commit to a file is on the disk.
    pub fn with_synchronous(mut self, synchronous: Synchronous) -> Database {
        self.synchronous = synchronous;
        self
    }

    /// A new connection.
    ///
    /// # Errors
    ///
    /// As [`Database::open`].
    pub fn connection(&self) -> Result<Connection, StoreError> {
        let mut raw = open(&self.address, &self.location)?;
        if let Location::File(_) = self.location {
            raw.pragma_update(None, "synchronous", self.synchronous.name())?;
        }
        functions::register(&raw)?;
        let budget = Budget::install(&mut raw, self.time_budget)?;
        raw.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        Ok(Connection { raw, mapping: Arc::clone(&self.mapping), budget, key_statements: RefCell::default() })
    }
}

impl Synchronous {
    fn name(self) -> &'static str {
        match self {
            Synchronous::Full => "FULL",
            Synchronous::Normal => "NORMAL",
            Synchronous::Off => "OFF",
        }
    }
}

impl Connection {
    /// Says where the connection's mapping and a model differ, as an error.
    ///
    /// # Errors
    ///
    /// [`StoreError::Mapping`].
    pub fn check_mapping(&self, model: &Model) -> Result<(), StoreError> {
        self.mapping.mismatch(model).map_or(Ok(()), |message| Err(StoreError::Mapping(message)))
    }
}

/// A connection may go to another thread, as long as one uses it at a time; a database may be used by all.
const _: fn() = || {
    fn moves<T: Send>() {}
    fn shares<T: Send + Sync>() {}
    moves::<Connection>();
    shares::<Database>();
};

fn open(address: &PathBuf, location: &Location) -> Result<rusqlite::Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        // A connection is used by one thread at a time; the compiler sees to it.
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let raw = rusqlite::Connection::open_with_flags(address, flags)?;
    raw.busy_timeout(LOCK_WAIT)?;
    match location {
        Location::Memory => {}
        Location::File(_) => {
            raw.pragma_update(None, "journal_mode", "WAL")?;
        }
    }
    raw.pragma_update(None, "trusted_schema", false)?;
    Ok(raw)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        if let Some(message) = functions::refusal_message(&error) {
            return StoreError::Undefined { message };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(error.into()),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt(error.into()),
            Some(ErrorCode::OperationInterrupted) => StoreError::TimeBudget,
            Some(ErrorCode::TooBig) => StoreError::TooLarge { message: "a text in it grows too long".into() },
            _ => StoreError::Database(error.into()),
        }
    }
}
