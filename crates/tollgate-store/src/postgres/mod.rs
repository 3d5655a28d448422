//! PostgreSQL, over the network or a Unix socket.
//!
//! A [`PostgresDatabase`] hands out a [`PostgresConnection`] for each work process; the pool is the gateway's. A
//! connection is opened when it is first needed, and reopened when needed after it broke: its user then gets an error,
//! and reads that have passed on no rows are repeated once, but never a write.
//!
//! The calls block on the network, so they belong on threads that may block.

mod address;
mod bind;
mod catalog;
mod counted;
mod expand;
mod failure;
mod read;
mod row;
mod session;
mod tables;
mod tls;
mod write;

pub use address::{Address, Encryption, Host};
pub use bind::Bound;
pub use counted::Counted;
pub use write::references;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tollgate_wire::edm::Model;

use self::failure::{Failure, Purpose};
use self::row::Reader;
use self::session::{Opener, Session};
use super::sql::change::Texts;
use super::sql::dialect::Dialect;
use super::{Mapping, StoreError};

/// A PostgreSQL database.
#[derive(Debug)]
pub struct PostgresDatabase {
    address: Address,
    opener: Arc<Opener>,
    mapping: Arc<Mapping>,
    reconnects: Arc<AtomicU64>,
}

/// A connection to a database, for one work process at a time. It moves between threads with its work process.
pub struct PostgresConnection {
    opener: Arc<Opener>,
    mapping: Arc<Mapping>,
    reconnects: Arc<AtomicU64>,
    /// Boxed, since connections of all kinds are moved with their work processes.
    session: Option<Box<Session>>,
    /// Whether it was open before.
    opened: Opened,
    transaction: Transaction,
    /// Begins and ends of units of work, sent to the server with the next statement.
    deferred: Vec<&'static str>,
    texts: Texts,
    reader: Reader,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    NotYet,
    Before,
}

/// State of a writing transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    Open,
    /// A statement in it was refused: the server accepts none until its unit, or all, is undone.
    Refused,
    /// The connection broke, and the transaction with it.
    Lost,
}

impl PostgresDatabase {
    /// Creates a database for an address, without connecting.
    ///
    /// # Errors
    /// [`StoreError::Database`] if certificates must be checked and this machine has no root certificates.
    pub fn open(address: Address, mapping: Mapping) -> Result<PostgresDatabase, StoreError> {
        let opener = Opener::new(&address).map_err(|reason| StoreError::Database(reason.into()))?;
        Ok(PostgresDatabase {
            address,
            opener: Arc::new(opener),
            mapping: Arc::new(mapping),
            reconnects: Arc::new(AtomicU64::new(0)),
        })
    }

    /// Sets the time limit of a statement for connections created from now on.
    ///
    /// # Errors
    /// As [`PostgresDatabase::open`].
    pub fn with_time_budget(self, time_budget: Duration) -> Result<PostgresDatabase, StoreError> {
        let mapping = Mapping::clone(&self.mapping);
        PostgresDatabase::open(Address { statement_timeout: time_budget, ..self.address }, mapping)
    }

    /// Creates a connection, which is opened on first use.
    ///
    /// # Errors
    /// None; the result matches other stores.
    pub fn connection(&self) -> Result<PostgresConnection, StoreError> {
        Ok(PostgresConnection {
            opener: Arc::clone(&self.opener),
            mapping: Arc::clone(&self.mapping),
            reconnects: Arc::clone(&self.reconnects),
            session: None,
            opened: Opened::NotYet,
            transaction: Transaction::None,
            deferred: Vec::new(),
            texts: Texts::new(Dialect::Postgres),
            reader: Reader::default(),
        })
    }

    /// A connection that does not wait on its thread, and counts its round trips. It is opened now, on the caller's
    /// runtime.
    ///
    /// # Errors
    /// It cannot be opened.
    pub async fn counted(&self) -> Result<Counted, StoreError> {
        Counted::open(&self.opener).await
    }

    /// Runs `work` on a connection of its own, which is then closed.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn administer<T>(
        &self,
        work: impl FnOnce(&mut postgres::Client) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let done = self.opener.open().and_then(|mut session| work(session.parts().0).map_err(Failure::from));
        done.map_err(|failure| failure.told(Purpose::Writing))
    }

    /// Number of reopened connections after breaks.
    pub fn reconnects(&self) -> u64 {
        self.reconnects.load(Ordering::Relaxed)
    }

    /// Its address, without the password.
    pub fn address(&self) -> &Address {
        &self.address
    }
}

impl PostgresConnection {
    /// Checks that the connection's mapping fits a model.
    ///
    /// # Errors
    /// [`StoreError::Mapping`].
    pub fn check_mapping(&self, model: &Model) -> Result<(), StoreError> {
        self.mapping.mismatch(model).map_or(Ok(()), |message| Err(StoreError::Mapping(message)))
    }

    /// Returns the open connection, opening it if needed. A transaction whose connection broke cannot continue.
    fn session(&mut self) -> Result<&mut Session, Failure> {
        if self.transaction == Transaction::Lost {
            return Err(Failure::Lost);
        }
        let session = match self.session.take() {
            Some(session) => session,
            None => {
                let session = Box::new(self.opener.open()?);
                if self.opened == Opened::Before {
                    self.reconnects.fetch_add(1, Ordering::Relaxed);
                }
                self.opened = Opened::Before;
                session
            }
        };
        Ok(self.session.insert(session))
    }

    /// Records the effect of a failure on the connection and the transaction, and returns it.
    fn noted(&mut self, failure: Failure) -> Failure {
        if failure.ends_the_connection() {
            self.session = None;
            self.deferred.clear();
        }
        self.transaction = match (self.transaction, failure.ends_the_connection()) {
            (Transaction::None, _) => Transaction::None,
            (_, true) | (Transaction::Lost, _) => Transaction::Lost,
            (Transaction::Open | Transaction::Refused, false) => Transaction::Refused,
        };
        failure
    }
}

/// A connection may go to another thread, as long as one uses it at a time; a database may be used by all.
const _: fn() = || {
    fn moves<T: Send>() {}
    fn shares<T: Send + Sync>() {}
    moves::<PostgresConnection>();
    shares::<PostgresDatabase>();
};
