//! SQLite, embedded: in memory or in a file.
//!
//! A [`SqliteDatabase`] hands out a [`SqliteConnection`] for each work process; connections share nothing in this
//! process but the pages of the database. It offers no SQL to its callers: they use plans.

mod aggregates;
mod budget;
mod catalog;
mod condition;
mod dates;
mod declared;
mod deferred;
mod error;
mod expand;
mod form;
mod functions;
mod lists;
#[cfg(test)]
mod query_plans;
mod read;
mod row;
mod tables;
mod write;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;
use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_wire::edm::Model;

use super::sql::change::Texts;
use super::{Mapping, StoreError};
use budget::{Brevity, Budget};

/// Default limit of one read before it is interrupted.
pub const READ_TIME_BUDGET: Duration = Duration::from_secs(10);

/// Default wait of a connection for another's lock before [`StoreError::Busy`].
pub const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Prepared statements kept by a connection.
const STATEMENTS_MAX: usize = 64;

/// Location of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In this process, gone when the [`SqliteDatabase`] is.
    Memory,
    /// In a file, with a write-ahead log beside it.
    File(PathBuf),
}

/// Time at which a commit to an SQLite file is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Synchronous {
    /// Before the answer: no acknowledged change is ever lost.
    #[default]
    Full,
    /// Some time later: a power failure may lose the last transactions, without other damage.
    Normal,
    /// When the operating system chooses: a power failure may destroy the file.
    Off,
}

/// Settings for opening a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Owner of the file.
    pub file: File,
    /// Time at which a commit to a file is on the disk.
    pub synchronous: Synchronous,
    /// Longest wait of a connection for another's lock before [`StoreError::Busy`].
    pub lock_wait: Duration,
    /// Longest time of one read before it is interrupted.
    pub read_time: Duration,
}

/// Owner of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// The gateway's own: created if it is missing.
    Made,
    /// A foreign one, which must exist.
    Found,
    /// A foreign one, which must never be changed.
    FoundToRead,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { file: File::Made, synchronous: Synchronous::Full, lock_wait: LOCK_WAIT, read_time: READ_TIME_BUDGET }
    }
}

/// An SQLite database.
#[derive(Debug)]
pub struct SqliteDatabase {
    address: PathBuf,
    location: Location,
    mapping: Arc<Mapping>,
    settings: Settings,
    /// Keeps a database in memory alive, which lives as long as a connection to it.
    _keeper: Mutex<rusqlite::Connection>,
}

/// A connection to a database, for one work process at a time. It moves between threads with its work process.
pub struct SqliteConnection {
    raw: rusqlite::Connection,
    mapping: Arc<Mapping>,
    budget: Arc<Budget>,
    /// For each set the text of the statement that reads an entity by its key, once used.
    key_statements: RefCell<Vec<Option<Arc<str>>>>,
    /// The texts of changing statements.
    texts: Texts,
    /// Buffer for converting a value to its column's form before it is bound.
    made: Vec<u8>,
    scope: Scope,
    ended: Ended,
}

/// Event that makes changes permanent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The commit of a transaction.
    Transaction,
    /// The end of the statement: there is one change, and no other statement. This saves a single record the two that
    /// begin and commit, an eighth of its cost in memory.
    Statement,
    /// The same, after that one change.
    Spent,
}

/// End of the last transaction, or of the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// By commit or rollback.
    AsAsked,
    /// SQLite rolled it back because the disk or the limit was full.
    Full,
}

impl SqliteDatabase {
    /// Opens a database, creating the file if it is missing. Tables are created by the code that fills them.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] if the file is no database, [`StoreError::Unavailable`] if it cannot be opened,
    /// [`StoreError::ReadOnly`] if it cannot be written.
    pub fn open(location: Location, mapping: Mapping) -> Result<SqliteDatabase, StoreError> {
        SqliteDatabase::open_with(location, mapping, Settings::default())
    }

    /// Opens a database with `settings`.
    ///
    /// # Errors
    ///
    /// As [`SqliteDatabase::open`].
    pub fn open_with(location: Location, mapping: Mapping, settings: Settings) -> Result<SqliteDatabase, StoreError> {
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
        let keeper = open(&address, &location, &settings)?;
        Ok(SqliteDatabase { address, location, mapping: Arc::new(mapping), settings, _keeper: Mutex::new(keeper) })
    }

    /// Sets the mapping of entities to tables, once known.
    pub fn with_mapping(mut self, mapping: Mapping) -> SqliteDatabase {
        self.mapping = Arc::new(mapping);
        self
    }

    /// Sets the time limit of a read for connections created from now on.
    pub fn with_time_budget(mut self, time_budget: Duration) -> SqliteDatabase {
        self.settings.read_time = time_budget;
        self
    }

    /// Sets when commits to a file are on the disk, for connections made from now on.
    pub fn with_synchronous(mut self, synchronous: Synchronous) -> SqliteDatabase {
        self.settings.synchronous = synchronous;
        self
    }

    /// SQLite's name of the database in this process, for connections of another kind.
    pub fn address(&self) -> &Path {
        &self.address
    }

    /// Creates a connection for statements outside of plans, such as those of the batch.
    ///
    /// # Errors
    ///
    /// As [`SqliteDatabase::open`].
    pub fn plain_connection(&self) -> Result<rusqlite::Connection, StoreError> {
        let raw = open(&self.address, &self.location, &self.settings)?;
        raw.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        Ok(raw)
    }

    /// Creates a connection.
    ///
    /// # Errors
    ///
    /// As [`SqliteDatabase::open`].
    pub fn connection(&self) -> Result<SqliteConnection, StoreError> {
        let mut raw = open(&self.address, &self.location, &self.settings)?;
        functions::register(&raw)?;
        let budget = Budget::install(&mut raw, self.settings.read_time)?;
        raw.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        // A plan heeds no bound value: without this, each new value of a LIMIT makes SQLite prepare a kept statement again,
        // which is a quarter of what a page of 20 costs.
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(SqliteConnection {
            raw,
            mapping: Arc::clone(&self.mapping),
            budget,
            key_statements: RefCell::default(),
            texts: Texts::default(),
            made: Vec::new(),
            scope: Scope::Transaction,
            ended: Ended::AsAsked,
        })
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

impl SqliteConnection {
    /// Limits the database's size to so many pages, until the connection is closed.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn limit_pages(&self, pages_max: u32) -> Result<(), StoreError> {
        Ok(self.raw.pragma_update(None, "max_page_count", pages_max)?)
    }

    /// While the returned value lives, a read that takes longer than `most` is ended.
    pub(super) fn brevity(&self, most: Duration) -> Brevity {
        self.budget.brevity(most)
    }

    /// Checks that the connection's mapping fits a model.
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
    moves::<SqliteConnection>();
    shares::<SqliteDatabase>();
};

fn open(address: &Path, location: &Location, settings: &Settings) -> Result<rusqlite::Connection, StoreError> {
    let access = match (location, settings.file) {
        (Location::Memory, _) | (Location::File(_), File::Made) => {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        }
        (Location::File(_), File::Found) => OpenFlags::SQLITE_OPEN_READ_WRITE,
        (Location::File(_), File::FoundToRead) => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    // A connection is used by one thread at a time; the compiler sees to it.
    let flags = access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let raw = rusqlite::Connection::open_with_flags(address, flags)?;
    raw.busy_timeout(settings.lock_wait)?;
    match (location, settings.file) {
        (Location::Memory, _) | (Location::File(_), File::FoundToRead) => {}
        (Location::File(path), File::Made | File::Found) => {
            // SQLite opens a file that it may not write all the same, to fail at the first change.
            if raw.is_readonly(rusqlite::MAIN_DB)? {
                return Err(StoreError::ReadOnly(format!("{} cannot be written", path.display()).into()));
            }
            raw.pragma_update(None, "journal_mode", "WAL")?;
            raw.pragma_update(None, "synchronous", settings.synchronous.name())?;
        }
    }
    raw.pragma_update(None, "foreign_keys", true)?;
    raw.pragma_update(None, "trusted_schema", false)?;
    Ok(raw)
}
