//! Inputs and results of a document's statements: its key, its result, and its standing.
//!
//! It queries no database.

use std::sync::Arc;
use std::time::Duration;

use super::error::{is_about_the_document, with_cause};
use super::names::{LedgerKind, Tables};
use super::report::Times;
use super::statements::{Slot, Statements};
use crate::store::StoreError;
use crate::store::sql::dialect::Dialect;

/// State shared by all sessions of one batch.
pub(super) struct BatchContext {
    pub(super) tables: Arc<Tables>,
    pub(super) statements: Statements,
}

/// Key that identifies a document.
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
pub(super) struct TimedResult<'o> {
    pub(super) result: &'o str,
    pub(super) times: Times,
}

/// Whether a document was still waiting when its state was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// The document was waiting, and now is not.
    Here,
    /// Another batch was first, and nothing was done.
    Elsewhere,
}

/// Standing of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Waiting,
    Done,
    /// Set aside, gone, or in a state that is none of the batch's.
    Other,
}

/// Values for the marks of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'v> {
    pub(super) tables: &'v Tables,
    pub(super) key: Option<&'v Key>,
    pub(super) error: Option<&'v str>,
    pub(super) outcome: Option<TimedResult<'v>>,
}

/// One value.
#[derive(Debug, Clone, Copy)]
pub(super) enum BoundValue<'v> {
    Null,
    Text(&'v str),
    Integer(i64),
}

impl BatchContext {
    pub(super) fn new(tables: &Arc<Tables>, dialect: Dialect) -> BatchContext {
        BatchContext { tables: Arc::clone(tables), statements: Statements::new(tables, dialect) }
    }

    /// No values but those of the tables.
    pub(super) fn nothing(&self) -> Values<'_> {
        Values { tables: &self.tables, key: None, error: None, outcome: None }
    }

    /// The same with a document's key.
    pub(super) fn of<'v>(&'v self, key: &'v Key) -> Values<'v> {
        Values { key: Some(key), ..self.nothing() }
    }
}

impl<'v> Values<'v> {
    pub(super) fn of(&self, slot: Slot) -> BoundValue<'v> {
        let ledger = &self.tables.ledger;
        let us = |time: fn(&TimedResult<'v>) -> Duration| {
            self.outcome.as_ref().map_or(BoundValue::Null, |outcome| BoundValue::Integer(microseconds(time(outcome))))
        };
        match slot {
            Slot::Key => match self.key {
                Some(Key::Text(text)) => BoundValue::Text(text),
                Some(Key::Integer(integer)) => BoundValue::Integer(*integer),
                None => BoundValue::Null,
            },
            Slot::Waiting => ledger.waiting.as_deref().map_or(BoundValue::Null, BoundValue::Text),
            Slot::Done => BoundValue::Text(&ledger.done),
            Slot::Failed => BoundValue::Text(&ledger.failed),
            Slot::Source => match &ledger.kind {
                LedgerKind::Beside(source) => BoundValue::Text(source),
                LedgerKind::Source => BoundValue::Null,
            },
            Slot::Error => self.error.map_or(BoundValue::Null, BoundValue::Text),
            Slot::Result => self.outcome.as_ref().map_or(BoundValue::Null, |outcome| BoundValue::Text(outcome.result)),
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

impl std::fmt::Display for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::Text(text) => formatter.write_str(text),
            Key::Integer(integer) => integer.fmt(formatter),
        }
    }
}

/// Error for a document's state that cannot be changed. It is never the document's fault, whatever the database
/// refuses: the next one would fail too.
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
