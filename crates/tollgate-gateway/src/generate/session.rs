//! A work process's connection to the database of the batch, of whatever kind: the steps that one document takes there.
//!
//! Deliberately not here: what comes after what, and what is done when a step fails.

use std::sync::Arc;
use std::time::Duration;

use super::batch::is_about_the_document;
use super::names::{LedgerKind, Tables};
use super::report::Times;
use super::statements::{Slot, Statements, fill_claims, unusable_keys};
use super::transform::Rows;
use super::{BatchError, IN_MEMORY, postgres, sqlite, with_cause};
use crate::config::Location;
use crate::store::introspect::Catalog;
use crate::store::sql::dialect::Dialect;
use crate::store::{Mapping, StoreError};

/// The database of a batch.
#[derive(Debug)]
pub(super) enum Database {
    Postgres(crate::store::postgres::Database),
    Sqlite(crate::store::sqlite::Database),
}

/// What all sessions of one batch share.
pub(super) struct Shared {
    pub(super) tables: Arc<Tables>,
    pub(super) statements: Statements,
}

/// A connection.
pub(super) enum Session {
    Postgres(Box<postgres::Session>),
    Sqlite(sqlite::Session),
}

/// What tells a document from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Text(String),
    Integer(i64),
}

/// A document that was claimed.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) key: Key,
    /// `None` where it is null or gone.
    pub(super) document: Option<String>,
}

/// A result, and the time that it has taken so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome<'o> {
    pub(super) result: &'o str,
    pub(super) times: Times,
}

/// Whether a document's state was still that of one that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// It was, and no longer is.
    Here,
    /// Another batch was first, and nothing was done.
    Elsewhere,
}

/// How far a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Waiting,
    Done,
    /// Set aside, gone, or in a state that is none of the batch's.
    Other,
}

/// What is bound to the marks of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'v> {
    pub(super) tables: &'v Tables,
    pub(super) key: Option<&'v Key>,
    pub(super) error: Option<&'v str>,
    pub(super) outcome: Option<Outcome<'v>>,
}

/// One value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'v> {
    Null,
    Text(&'v str),
    Integer(i64),
}

impl Database {
    pub(super) fn open(location: &Location) -> Result<Database, BatchError> {
        use crate::store::{postgres, sqlite};
        let nothing = Mapping { tables: Vec::new() };
        Ok(match location {
            Location::Memory => return Err(BatchError::Location(IN_MEMORY)),
            Location::File(path) => {
                let settings = sqlite::Settings { file: sqlite::File::Found, ..sqlite::Settings::default() };
                let location = sqlite::Location::File(path.clone());
                Database::Sqlite(sqlite::Database::open_with(location, nothing, settings)?)
            }
            Location::Postgres(address) => Database::Postgres(postgres::Database::open((**address).clone(), nothing)?),
        })
    }

    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Database::Postgres(_) => Dialect::Postgres,
            Database::Sqlite(_) => Dialect::Sqlite,
        }
    }

    pub(super) fn catalog(&self) -> Result<Catalog, StoreError> {
        match self {
            Database::Postgres(database) => database.catalog(),
            Database::Sqlite(database) => database.catalog(),
        }
    }

    /// How many documents have a key that is of no use.
    pub(super) fn unusable_keys(&self, tables: &Tables) -> Result<u64, StoreError> {
        let Some(counts) = unusable_keys(tables, self.dialect()) else { return Ok(0) };
        let values = Values { tables, key: None, error: None, outcome: None };
        let values: Vec<Value<'_>> = counts.slots.iter().map(|slot| values.of(*slot)).collect();
        match self {
            Database::Postgres(_) => Ok(0),
            Database::Sqlite(database) => sqlite::count(database, &counts.text, &values),
        }
    }

    /// Sees to it that every document stands in the table of claims, where there is to be one.
    pub(super) fn prepare_claims(&self, tables: &Tables) -> Result<(), StoreError> {
        let Some((table, fill)) = fill_claims(tables, self.dialect()) else { return Ok(()) };
        let values = Values { tables, key: None, error: None, outcome: None };
        let values: Vec<Value<'_>> = fill.slots.iter().map(|slot| values.of(*slot)).collect();
        match self {
            Database::Postgres(database) => postgres::prepare_claims(database, &table, &fill.text, &values),
            Database::Sqlite(database) => sqlite::prepare_claims(database, &table, &fill.text, &values),
        }
    }
}

impl Shared {
    pub(super) fn new(tables: &Arc<Tables>, dialect: Dialect) -> Shared {
        Shared { tables: Arc::clone(tables), statements: Statements::new(tables, dialect) }
    }

    /// No values but those that the tables have.
    pub(super) fn nothing(&self) -> Values<'_> {
        Values { tables: &self.tables, key: None, error: None, outcome: None }
    }

    /// And a document's key.
    pub(super) fn of<'v>(&'v self, key: &'v Key) -> Values<'v> {
        Values { key: Some(key), ..self.nothing() }
    }
}

impl<'v> Values<'v> {
    pub(super) fn of(&self, slot: Slot) -> Value<'v> {
        let ledger = &self.tables.ledger;
        let us = |time: fn(&Outcome<'v>) -> Duration| {
            self.outcome.as_ref().map_or(Value::Null, |outcome| Value::Integer(microseconds(time(outcome))))
        };
        match slot {
            Slot::Key => match self.key {
                Some(Key::Text(text)) => Value::Text(text),
                Some(Key::Integer(integer)) => Value::Integer(*integer),
                None => Value::Null,
            },
            Slot::Waiting => ledger.waiting.as_deref().map_or(Value::Null, Value::Text),
            Slot::Done => Value::Text(&ledger.done),
            Slot::Failed => Value::Text(&ledger.failed),
            Slot::Source => match &ledger.kind {
                LedgerKind::Beside(source) => Value::Text(source),
                LedgerKind::Source => Value::Null,
            },
            Slot::Error => self.error.map_or(Value::Null, Value::Text),
            Slot::Result => self.outcome.as_ref().map_or(Value::Null, |outcome| Value::Text(outcome.result)),
            Slot::ComputeUs => us(|outcome| outcome.times.compute),
            Slot::DatabaseUs => us(|outcome| outcome.times.database),
            Slot::WaitingUs => us(|outcome| outcome.times.waiting),
        }
    }
}

impl Tables {
    pub(super) fn standing(&self, state: Option<&str>) -> Standing {
        match state {
            state if state == self.ledger.waiting.as_deref() => Standing::Waiting,
            Some(state) if state == self.ledger.done => Standing::Done,
            _ => Standing::Other,
        }
    }
}

/// Calls the same method of whatever kind it is.
macro_rules! each {
    ($session:expr, $kind:ident => $call:expr) => {
        match $session {
            Session::Postgres($kind) => $call.await,
            Session::Sqlite($kind) => $call.await,
        }
    };
}

impl Session {
    /// Begins a transaction and claims a document that waits; where none does, there is no transaction either.
    pub(super) async fn claim(&mut self) -> Result<Option<Claimed>, StoreError> {
        each!(self, session => session.claim())
    }

    /// The rows of a dependency for a key.
    pub(super) async fn rows(&mut self, dependency: usize, key: &Key) -> Result<Rows, StoreError> {
        each!(self, session => session.rows(dependency, key))
    }

    /// Stores a result and marks its document as done.
    pub(super) async fn store(&mut self, key: &Key, outcome: Outcome<'_>) -> Result<Settled, StoreError> {
        each!(self, session => session.store(key, outcome))
    }

    /// Makes that last.
    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        each!(self, session => session.commit())
    }

    /// Undoes what was done of a document, which waits again.
    pub(super) async fn abandon(&mut self) -> Result<(), StoreError> {
        each!(self, session => session.abandon())
    }

    /// Sets a document aside for good. Nothing else was changed in the transaction.
    pub(super) async fn set_aside(&mut self, key: &Key, error: &str) -> Result<Settled, StoreError> {
        each!(self, session => session.set_aside(key, error))
    }

    /// How far a document is.
    pub(super) async fn standing(&mut self, key: &Key) -> Result<Standing, StoreError> {
        each!(self, session => session.standing(key))
    }

    /// How many documents wait.
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

impl std::fmt::Display for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::Text(text) => formatter.write_str(text),
            Key::Integer(integer) => integer.fmt(formatter),
        }
    }
}

/// Why a document's state cannot be changed. That is never the document's fault, whatever the database refuses: the next
/// one would fare no better.
pub(super) fn of_state(key: &Key, error: StoreError) -> StoreError {
    match is_about_the_document(&error) {
        true => {
            let message = format!("the state of document {key} cannot be changed: {}", with_cause(&error));
            StoreError::Database(message.into())
        }
        false => error,
    }
}

pub(super) fn microseconds(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
