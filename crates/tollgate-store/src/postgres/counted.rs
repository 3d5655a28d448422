//! A connection that does not wait on its thread, and counts its round trips: messages sent and then awaited.
//!
//! Every statement is one: nothing is sent ahead of an answer, so that the count is the number of times the network
//! latency is paid. It never reopens itself; its holder knows what may be repeated.

use tokio_postgres::{Client, Row, Statement};

use super::bind::Bound;
use super::failure::{Failure, Purpose};
use super::session::Opener;
use super::write::references;
use crate::StoreError;

/// An open connection.
pub struct Counted {
    client: Client,
    round_trips: u64,
}

impl Counted {
    pub(super) async fn open(opener: &Opener) -> Result<Counted, StoreError> {
        let client = opener.open_here().await.map_err(|failure| failure.told(Purpose::Writing))?;
        Ok(Counted { client, round_trips: 0 })
    }

    /// Round trips since it was opened, or since the last reset, without those for opening it.
    pub fn round_trips(&self) -> u64 {
        self.round_trips
    }

    /// Resets the count: preparing a statement takes further round trips if the server must look up types.
    pub fn forget_round_trips(&mut self) {
        self.round_trips = 0;
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn prepare(&mut self, text: &str) -> Result<Statement, StoreError> {
        self.round_trips += 1;
        self.client.prepare(text).await.map_err(told)
    }

    /// Runs statements that take and give no values.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn run(&mut self, text: &str) -> Result<(), StoreError> {
        self.round_trips += 1;
        self.client.batch_execute(text).await.map_err(told)
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// [`StoreError::InDoubt`] if the result is unknown; errors of the database.
    pub async fn commit(&mut self) -> Result<(), StoreError> {
        self.round_trips += 1;
        self.client.batch_execute("COMMIT").await.map_err(|error| Failure::from(error).told_of_commit())
    }

    /// Runs a statement that changes rows, and returns their number.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn execute(&mut self, statement: &Statement, values: &[Bound<'_>]) -> Result<u64, StoreError> {
        self.round_trips += 1;
        self.client.execute(statement, &references(values)).await.map_err(told)
    }

    /// Runs a statement that reads rows.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn query(&mut self, statement: &Statement, values: &[Bound<'_>]) -> Result<Vec<Row>, StoreError> {
        self.round_trips += 1;
        self.client.query(statement, &references(values)).await.map_err(told)
    }
}

/// Converts an error. If the server names no broken rule, as for a text that is too long, its own message is used as
/// the name.
fn told(error: tokio_postgres::Error) -> StoreError {
    let words = error.as_db_error().map(|refusal| refusal.message().to_owned());
    match Failure::from(error).told(Purpose::Writing) {
        StoreError::Constraint { rule, name: None } => StoreError::Constraint { rule, name: words },
        other => other,
    }
}
