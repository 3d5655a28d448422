//! A session of the batch on SQLite: one writer at a time, so no lock is taken while a document is transformed.
//!
//! The sessions of a process agree on the next document, in the order of keys; the transaction that stores the result
//! checks that nobody else was first. Two batches at once may compute a document twice, but store it once. Statements
//! run on threads that may block.

use std::rc::Rc;
use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};
use tokio::sync::Mutex;

use super::statements::Statement;
use super::transform::Rows;
use super::values::{BatchContext, BoundValue, Claimed, Key, Settled, Standing, TimedResult, Values, of_state};
use crate::store::StoreError;
use crate::store::sqlite::SqliteDatabase;

/// State shared by the sessions of one process.
#[derive(Debug, Default)]
pub(super) struct Agreed {
    /// The key of the last claimed document. Locked while claiming.
    last: Mutex<Option<Key>>,
    /// Locked while writing.
    writing: Arc<Mutex<()>>,
}

impl Agreed {
    /// Restarts claiming from the beginning, since a document was given up.
    pub(super) async fn begin_again(&self) {
        *self.last.lock().await = None;
    }
}

/// A connection.
pub(super) struct SqliteSession {
    shared: Rc<BatchContext>,
    agreed: Rc<Agreed>,
    /// Absent only while a statement runs.
    connection: Option<Connection>,
    /// Locked from the first change to the end of the transaction.
    writing: Option<tokio::sync::OwnedMutexGuard<()>>,
}

/// Makes the table of claims, and fills it.
pub(super) fn prepare_claims(
    database: &SqliteDatabase,
    table: &str,
    fill: &str,
    values: &[BoundValue<'_>],
) -> Result<(), StoreError> {
    let connection = database.plain_connection()?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(table)?;
    let values: Vec<Owned> = values.iter().map(|value| Owned::of(*value)).collect();
    connection.execute(fill, rusqlite::params_from_iter(values))?;
    Ok(connection.execute_batch("COMMIT")?)
}

/// Runs a counting statement.
pub(super) fn count(database: &SqliteDatabase, text: &str, values: &[BoundValue<'_>]) -> Result<u64, StoreError> {
    let values: Vec<Owned> = values.iter().map(|value| Owned::of(*value)).collect();
    let connection = database.plain_connection()?;
    let count: i64 = connection.query_row(text, rusqlite::params_from_iter(values), |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// A value sent to another thread.
enum Owned {
    Null,
    Text(String),
    Integer(i64),
}

/// Reads a value from a row.
type Reads<T> = fn(&rusqlite::Row<'_>) -> Result<T, StoreError>;

impl SqliteSession {
    pub(super) fn open(
        database: &SqliteDatabase,
        shared: Rc<BatchContext>,
        agreed: Rc<Agreed>,
    ) -> Result<SqliteSession, StoreError> {
        Ok(SqliteSession { shared, agreed, connection: Some(database.plain_connection()?), writing: None })
    }

    pub(super) async fn claim(&mut self) -> Result<Option<Claimed>, StoreError> {
        let (shared, agreed) = (Rc::clone(&self.shared), Rc::clone(&self.agreed));
        let mut last = agreed.last.lock().await;
        let statement = match *last {
            None => &shared.statements.claim,
            Some(_) => &shared.statements.claim_behind,
        };
        let known = Values { key: last.as_ref(), ..shared.nothing() };
        let keys = self.read(statement, known, |row| key(row, 0)).await?;
        let Some(key) = keys.into_iter().next() else { return Ok(None) };
        *last = Some(key.clone());
        drop(last);
        let documents = self.read(&shared.statements.document, shared.of(&key), |row| text(row, 0)).await;
        let document = documents?.into_iter().next().flatten();
        Ok(Some(Claimed { key, document }))
    }

    pub(super) async fn rows(&mut self, dependency: usize, key: &Key) -> Result<Rows, StoreError> {
        let shared = Rc::clone(&self.shared);
        let every: Reads<Vec<Option<String>>> =
            |row| (0..row.as_ref().column_count()).map(|column| text(row, column)).collect();
        self.read(&shared.statements.dependencies[dependency], shared.of(key), every).await
    }

    pub(super) async fn store(&mut self, key: &Key, outcome: TimedResult<'_>) -> Result<Settled, StoreError> {
        let shared = Rc::clone(&self.shared);
        let known = Values { outcome: Some(outcome), ..shared.of(key) };
        self.begin().await?;
        // The state first: whoever finds that another was first has nothing to undo.
        let settled = self.change(&shared.statements.mark, known).await.map_err(|error| of_state(key, error))?;
        if settled == Settled::Here {
            self.change(&shared.statements.store, known).await?;
        }
        Ok(settled)
    }

    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        let committed = self.run("COMMIT").await;
        if committed.is_ok() {
            self.writing = None;
        }
        committed
    }

    pub(super) async fn abandon(&mut self) -> Result<(), StoreError> {
        // After some errors (no room, no memory) SQLite has rolled back already.
        let open = self.connection.as_ref().is_some_and(|connection| !connection.is_autocommit());
        let done = if open { self.run("ROLLBACK").await } else { Ok(()) };
        self.writing = None;
        done
    }

    pub(super) async fn set_aside(&mut self, key: &Key, error: &str) -> Result<Settled, StoreError> {
        let shared = Rc::clone(&self.shared);
        let known = Values { error: Some(error), ..shared.of(key) };
        self.begin().await?;
        self.change(&shared.statements.set_aside, known).await.map_err(|error| of_state(key, error))
    }

    pub(super) async fn standing(&mut self, key: &Key) -> Result<Standing, StoreError> {
        let shared = Rc::clone(&self.shared);
        let states = self.read(&shared.statements.state, shared.of(key), |row| text(row, 0)).await?;
        match states.first() {
            Some(state) => Ok(shared.tables.standing(state.as_deref())),
            None => Ok(Standing::Other),
        }
    }

    pub(super) async fn waiting(&mut self) -> Result<u64, StoreError> {
        let shared = Rc::clone(&self.shared);
        let counts = self.read(&shared.statements.count, shared.nothing(), |row| Ok(row.get(0)?)).await?;
        Ok(counts.first().and_then(|count: &i64| u64::try_from(*count).ok()).unwrap_or(0))
    }

    /// Begins a writing transaction, when it is this session's turn.
    async fn begin(&mut self) -> Result<(), StoreError> {
        if self.writing.is_none() {
            self.writing = Some(Arc::clone(&self.agreed.writing).lock_owned().await);
        }
        self.run("BEGIN IMMEDIATE").await
    }

    async fn run(&mut self, text: &'static str) -> Result<(), StoreError> {
        self.away(move |connection| Ok(connection.execute_batch(text)?)).await
    }

    async fn change(&mut self, statement: &Statement, known: Values<'_>) -> Result<Settled, StoreError> {
        let (text, values) = bound(statement, known);
        let rows = self.away(move |connection| {
            Ok(connection.prepare_cached(&text)?.execute(rusqlite::params_from_iter(values))?)
        });
        Ok(if rows.await? > 0 { Settled::Here } else { Settled::Elsewhere })
    }

    async fn read<T: Send + 'static>(
        &mut self,
        statement: &Statement,
        known: Values<'_>,
        read: Reads<T>,
    ) -> Result<Vec<T>, StoreError> {
        let (text, values) = bound(statement, known);
        let rows = self.away(move |connection| {
            let mut statement = connection.prepare_cached(&text)?;
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        });
        rows.await
    }

    /// Runs `work` on a thread that may block.
    async fn away<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let Some(mut connection) = self.connection.take() else {
            return Err(StoreError::Broken("the connection was lost with the thread that used it".into()));
        };
        let job = tokio::task::spawn_blocking(move || {
            let done = work(&mut connection);
            (connection, done)
        });
        let (connection, done) = job.await.map_err(|panic| StoreError::Broken(panic.into()))?;
        self.connection = Some(connection);
        done
    }
}

impl Owned {
    fn of(value: BoundValue<'_>) -> Owned {
        match value {
            BoundValue::Null => Owned::Null,
            BoundValue::Text(text) => Owned::Text(text.to_owned()),
            BoundValue::Integer(integer) => Owned::Integer(integer),
        }
    }
}

impl ToSql for Owned {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Owned::Null => ValueRef::Null,
            Owned::Text(text) => ValueRef::Text(text.as_bytes()),
            Owned::Integer(integer) => ValueRef::Integer(*integer),
        }))
    }
}

fn bound(statement: &Statement, known: Values<'_>) -> (String, Vec<Owned>) {
    (statement.text.clone(), statement.slots.iter().map(|slot| Owned::of(known.of(*slot))).collect())
}

fn key(row: &rusqlite::Row<'_>, column: usize) -> Result<Key, StoreError> {
    match row.get_ref(column)? {
        ValueRef::Integer(integer) => Ok(Key::Integer(integer)),
        ValueRef::Text(_) => Ok(Key::Text(row.get(column)?)),
        other => {
            let message = format!("the key of a document is of type {}: expected texts or integers", other.data_type());
            Err(StoreError::Database(message.into()))
        }
    }
}

fn text(row: &rusqlite::Row<'_>, column: usize) -> Result<Option<String>, StoreError> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Integer(integer) => Some(integer.to_string()),
        ValueRef::Real(real) => Some(real.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}
