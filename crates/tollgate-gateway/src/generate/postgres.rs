//! A session of the batch on PostgreSQL: a document's row is locked from its claim to the commit, and others skip it.
//!
//! Each step is sent when the one before it was answered, as a chatty batch does: the round trips count this.

use std::rc::Rc;

use tokio_postgres::{Row, Statement as Prepared};

use super::names::LedgerKind;
use super::statements::Statement;
use super::transform::Rows;
use super::values::{BatchContext, BoundValue, Claimed, Key, Settled, Standing, TimedResult, Values, of_state};
use crate::store::StoreError;
use crate::store::postgres::{Bound, Counted, PostgresDatabase, references};

/// A connection with its prepared statements.
pub(super) struct PostgresSession {
    shared: Rc<BatchContext>,
    connection: Counted,
    transaction: Transaction,
    claim: Prepared,
    document: Prepared,
    dependencies: Vec<Prepared>,
    store: Prepared,
    mark: Prepared,
    set_aside: Prepared,
    state: Prepared,
    count: Prepared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    Open,
}

/// Lock for creating the table of claims: `IF NOT EXISTS` does not keep two from creating it at the same time.
const CLAIMS_LOCK: &str = "SELECT pg_advisory_xact_lock(8388055961231158)";

/// Makes the table of claims, and fills it.
pub(super) fn prepare_claims(
    database: &PostgresDatabase,
    table: &str,
    fill: &str,
    values: &[BoundValue<'_>],
) -> Result<(), StoreError> {
    database.administer(|client| {
        let mut transaction = client.transaction()?;
        transaction.batch_execute(CLAIMS_LOCK)?;
        transaction.batch_execute(table)?;
        let values: Vec<_> = values.iter().map(|value| bound(*value)).collect();
        transaction.execute(fill, &references(&values))?;
        transaction.commit()
    })
}

/// Binds a value. Numbers are sent as text, which the server converts to the parameter's type.
fn bound(value: BoundValue<'_>) -> Bound<'_> {
    match value {
        BoundValue::Null => Bound::Null,
        BoundValue::Text(text) => Bound::Text(text.as_bytes()),
        BoundValue::Integer(integer) => Bound::Integer(integer),
    }
}

impl PostgresSession {
    /// Connects, and prepares all statements once.
    pub(super) async fn open(
        database: &PostgresDatabase,
        shared: Rc<BatchContext>,
    ) -> Result<PostgresSession, StoreError> {
        let mut connection = database.counted().await?;
        let texts = &shared.statements;
        let mut dependencies = Vec::with_capacity(texts.dependencies.len());
        for dependency in &texts.dependencies {
            dependencies.push(connection.prepare(&dependency.text).await?);
        }
        let claim = connection.prepare(&texts.claim.text).await?;
        let document = connection.prepare(&texts.document.text).await?;
        let store = connection.prepare(&texts.store.text).await?;
        let mark = connection.prepare(&texts.mark.text).await?;
        let set_aside = connection.prepare(&texts.set_aside.text).await?;
        let state = connection.prepare(&texts.state.text).await?;
        let count = connection.prepare(&texts.count.text).await?;
        connection.forget_round_trips();
        let transaction = Transaction::None;
        Ok(PostgresSession {
            shared,
            connection,
            transaction,
            claim,
            document,
            dependencies,
            store,
            mark,
            set_aside,
            state,
            count,
        })
    }

    pub(super) fn round_trips(&self) -> u64 {
        self.connection.round_trips()
    }

    pub(super) async fn claim(&mut self) -> Result<Option<Claimed>, StoreError> {
        let shared = Rc::clone(&self.shared);
        self.begin().await?;
        let bound = bound_to(&shared.statements.claim, shared.nothing());
        let rows = self.connection.query(&self.claim, &bound).await?;
        let Some(row) = rows.first() else {
            self.abandon().await?;
            return Ok(None);
        };
        let key = Key::Text(text(row, 0)?.unwrap_or_default());
        let document = match shared.tables.ledger.kind {
            LedgerKind::Source => text(row, 1)?,
            LedgerKind::Beside(_) => {
                let bound = bound_to(&shared.statements.document, shared.of(&key));
                let rows = self.connection.query(&self.document, &bound).await?;
                rows.first().map(|row| text(row, 0)).transpose()?.flatten()
            }
        };
        Ok(Some(Claimed { key, document }))
    }

    pub(super) async fn rows(&mut self, dependency: usize, key: &Key) -> Result<Rows, StoreError> {
        let shared = Rc::clone(&self.shared);
        let bound = bound_to(&shared.statements.dependencies[dependency], shared.of(key));
        let rows = self.connection.query(&self.dependencies[dependency], &bound).await?;
        rows.iter().map(|row| (0..row.len()).map(|column| text(row, column)).collect()).collect()
    }

    pub(super) async fn store(&mut self, key: &Key, outcome: TimedResult<'_>) -> Result<Settled, StoreError> {
        let shared = Rc::clone(&self.shared);
        let known = Values { outcome: Some(outcome), ..shared.of(key) };
        let bound = bound_to(&shared.statements.store, known);
        self.connection.execute(&self.store, &bound).await?;
        let bound = bound_to(&shared.statements.mark, known);
        match self.connection.execute(&self.mark, &bound).await.map_err(|error| of_state(key, error))? {
            0 => Err(unchanged(key)),
            _ => Ok(Settled::Here),
        }
    }

    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        self.transaction = Transaction::None;
        self.connection.commit().await
    }

    pub(super) async fn abandon(&mut self) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.transaction, Transaction::None) {
            Transaction::Open => self.connection.run("ROLLBACK").await,
            Transaction::None => Ok(()),
        }
    }

    async fn begin(&mut self) -> Result<(), StoreError> {
        self.connection.run("BEGIN").await?;
        self.transaction = Transaction::Open;
        Ok(())
    }

    /// Sets a document aside: in the transaction that claimed it, so that nobody takes it in between; or, if a
    /// statement was refused and the transaction was abandoned, in one of its own.
    pub(super) async fn set_aside(&mut self, key: &Key, error: &str) -> Result<Settled, StoreError> {
        let shared = Rc::clone(&self.shared);
        let known = Values { error: Some(error), ..shared.of(key) };
        let held = self.transaction;
        if held == Transaction::None {
            self.begin().await?;
        }
        let bound = bound_to(&shared.statements.set_aside, known);
        let changed = self.connection.execute(&self.set_aside, &bound).await.map_err(|error| of_state(key, error))?;
        match (changed, held) {
            (0, Transaction::Open) => Err(unchanged(key)),
            (0, Transaction::None) => Ok(Settled::Elsewhere),
            _ => Ok(Settled::Here),
        }
    }

    pub(super) async fn standing(&mut self, key: &Key) -> Result<Standing, StoreError> {
        let shared = Rc::clone(&self.shared);
        let bound = bound_to(&shared.statements.state, shared.of(key));
        let rows = self.connection.query(&self.state, &bound).await?;
        match rows.first() {
            Some(row) => Ok(shared.tables.standing(text(row, 0)?.as_deref())),
            None => Ok(Standing::Other),
        }
    }

    pub(super) async fn waiting(&mut self) -> Result<u64, StoreError> {
        let shared = Rc::clone(&self.shared);
        let bound = bound_to(&shared.statements.count, shared.nothing());
        let rows = self.connection.query(&self.count, &bound).await?;
        let count = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose().map_err(unreadable)?;
        Ok(u64::try_from(count.unwrap_or(0)).unwrap_or(0))
    }
}

fn bound_to<'v>(statement: &Statement, known: Values<'v>) -> Vec<Bound<'v>> {
    statement.slots.iter().map(|slot| bound(known.of(*slot))).collect()
}

/// Error for a state that does not change. Its row was locked, so nobody else was first: going on would claim it for
/// ever.
fn unchanged(key: &Key) -> StoreError {
    let message = format!("the state of document {key} does not change, by a rule or a trigger of the database");
    StoreError::Database(message.into())
}

fn text(row: &Row, column: usize) -> Result<Option<String>, StoreError> {
    row.try_get(column).map_err(unreadable)
}

fn unreadable(error: tokio_postgres::Error) -> StoreError {
    StoreError::Database(error.into())
}
