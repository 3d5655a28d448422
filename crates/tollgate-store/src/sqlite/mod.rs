//! SQLite, embedded: in memory or in a file.
//!
//! A [`SqliteDatabase`] hands out a [`SqliteConnection`] for each work process; connections share nothing in this process but the
//! pages of the database. It deliberately offers no SQL to its callers: they ask with plans.

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

/// How long one read may run by default before it is interrupted.
pub const READ_TIME_BUDGET: Duration = Duration::from_secs(10);

/// How long a connection waits by default for another's lock before [`StoreError::Busy`].
pub const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Prepared statements that a connection keeps.
const STATEMENTS_MAX: usize = 64;

/// Where a database lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In this process, gone when the [`SqliteDatabase`] is.
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

/// How a database is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whose file it is.
    pub file: File,
    /// When what was committed to a file is on the disk.
    pub synchronous: Synchronous,
    /// How long a connection waits for another's lock before [`StoreError::Busy`].
    pub lock_wait: Duration,
    /// How long one read may run before it is interrupted.
    pub read_time: Duration,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// Ours: made when it is not there.
    Made,
    /// Somebody's who has made it already.
    Found,
    /// Somebody's, and nothing is to be changed in it, not even by accident.
    FoundToRead,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { file: File::Made, synchronous: Synchronous::Full, lock_wait: LOCK_WAIT, read_time: READ_TIME_BUDGET }
    }
}

/// A database that connections can be made to.
#[derive(Debug)]
pub struct SqliteDatabase {
    address: PathBuf,
    location: Location,
    mapping: Arc<Mapping>,
    settings: Settings,
    /// A database in memory lives as long as a connection to it.
    _keeper: Mutex<rusqlite::Connection>,
}

/// A connection to a database, for one work process at a time. It moves between threads with its work process.
pub struct SqliteConnection {
    raw: rusqlite::Connection,
    mapping: Arc<Mapping>,
    budget: Arc<Budget>,
    /// For each set the text of the statement that reads an entity by its key, once it was needed.
    key_statements: RefCell<Vec<Option<Arc<str>>>>,
    /// The texts of the statements that change something.
    texts: Texts,
    /// Where a value is brought into its column's form before it is bound.
    made: Vec<u8>,
    scope: Scope,
    ended: Ended,
}

/// What makes changes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The commit of a transaction.
    Transaction,
    /// The end of the statement: there is to be one change, and no statement but it. That spares a record by itself the
    /// two that begin and commit, an eighth of what it costs in memory.
    Statement,
    /// The same, and that one change was asked for.
    Spent,
}

/// How the last transaction ended, or will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// By commit or rollback.
    AsAsked,
    /// SQLite rolled it back because there was no room left.
    Full,
}

impl SqliteDatabase {
    /// Opens a database, creating the file if it is not there. Tables are the business of whoever fills them.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] if the file is no database, [`StoreError::Unavailable`] if it cannot be opened,
    /// [`StoreError::ReadOnly`] if it cannot be written.
    pub fn open(location: Location, mapping: Mapping) -> Result<SqliteDatabase, StoreError> {
        SqliteDatabase::open_with(location, mapping, Settings::default())
    }

    /// Opens a database as `settings` say.
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

    /// Sets where the entities are stored, once that is known.
    pub fn with_mapping(mut self, mapping: Mapping) -> SqliteDatabase {
        self.mapping = Arc::new(mapping);
        self
    }

    /// Sets how long one read may run on connections that are made from now on.
    pub fn with_time_budget(mut self, time_budget: Duration) -> SqliteDatabase {
        self.settings.read_time = time_budget;
        self
    }

    /// Sets when what connections that are made from now on commit to a file is on the disk.
    pub fn with_synchronous(mut self, synchronous: Synchronous) -> SqliteDatabase {
        self.settings.synchronous = synchronous;
        self
    }

    /// What SQLite knows the database by in this process, for connections of another kind.
    pub fn address(&self) -> &Path {
        &self.address
    }

    /// A new connection for statements that no plan asks for, as the batch has them.
    ///
    /// # Errors
    ///
    /// As [`SqliteDatabase::open`].
    pub fn plain_connection(&self) -> Result<rusqlite::Connection, StoreError> {
        let raw = open(&self.address, &self.location, &self.settings)?;
        raw.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        Ok(raw)
    }

    /// A new connection.
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
    /// Lets the database grow to so many pages and no further, until the connection is closed.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn limit_pages(&self, pages_max: u32) -> Result<(), StoreError> {
        Ok(self.raw.pragma_update(None, "max_page_count", pages_max)?)
    }

    /// As long as what is answered lives, a read that takes longer than `most` is ended.
    pub(super) fn brevity(&self, most: Duration) -> Brevity {
        self.budget.brevity(most)
    }

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
