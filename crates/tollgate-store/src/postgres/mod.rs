//! PostgreSQL, over the network or a Unix socket.
//!
//! A [`PostgresDatabase`] hands out a [`PostgresConnection`] for each work process; the pool is the gateway's. A connection is opened when
//! it is first needed, and again when it is needed after it broke: whoever was using it then is told, and reads of which
//! nothing was handed out are repeated once, but never a write.
//!
//! The calls block on the network, so they belong on threads that may.

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

/// A database that connections can be made to.
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
    /// Begins and ends of units of work that go to the server with the next statement.
    deferred: Vec<&'static str>,
    texts: Texts,
    reader: Reader,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    NotYet,
    Before,
}

/// Whether a transaction that writes is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    Open,
    /// A statement in it was refused: the server takes none until its unit, or all, is undone.
    Refused,
    /// The connection broke, and the transaction with it.
    Lost,
}

impl PostgresDatabase {
    /// A database at an address. It is not connected to yet.
    ///
    /// # Errors
    /// [`StoreError::Database`] where certificates are to be judged and this machine has no roots to judge them by.
    pub fn open(address: Address, mapping: Mapping) -> Result<PostgresDatabase, StoreError> {
        let opener = Opener::new(&address).map_err(|reason| StoreError::Database(reason.into()))?;
        Ok(PostgresDatabase {
            address,
            opener: Arc::new(opener),
            mapping: Arc::new(mapping),
            reconnects: Arc::new(AtomicU64::new(0)),
        })
    }

    /// Sets how long one statement may run on connections that are made from now on.
    ///
    /// # Errors
    /// As [`PostgresDatabase::open`].
    pub fn with_time_budget(self, time_budget: Duration) -> Result<PostgresDatabase, StoreError> {
        let mapping = Mapping::clone(&self.mapping);
        PostgresDatabase::open(Address { statement_timeout: time_budget, ..self.address }, mapping)
    }

    /// A new connection, which is opened when it is first needed.
    ///
    /// # Errors
    /// None; as other stores.
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

    /// A connection that does not wait on its thread, and counts its round trips. It is opened now, on the runtime of
    /// whoever calls.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub async fn counted(&self) -> Result<Counted, StoreError> {
        Counted::open(&self.opener).await
    }

    /// Does `work` on a connection of its own, which then is closed.
    ///
    /// # Errors
    /// Those of the database.
    pub fn administer<T>(
        &self,
        work: impl FnOnce(&mut postgres::Client) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let done = self.opener.open().and_then(|mut session| work(session.parts().0).map_err(Failure::from));
        done.map_err(|failure| failure.told(Purpose::Writing))
    }

    /// How many times a connection was opened again after it had broken.
    pub fn reconnects(&self) -> u64 {
        self.reconnects.load(Ordering::Relaxed)
    }

    /// Where it is, without the password.
    pub fn address(&self) -> &Address {
        &self.address
    }
}

impl PostgresConnection {
    /// Says where the connection's mapping and a model differ, as an error.
    ///
    /// # Errors
    /// [`StoreError::Mapping`].
    pub fn check_mapping(&self, model: &Model) -> Result<(), StoreError> {
        self.mapping.mismatch(model).map_or(Ok(()), |message| Err(StoreError::Mapping(message)))
    }

    /// The open connection, opened now if need be. A transaction whose connection broke is not gone on with.
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

    /// Notes what a failure means for the connection and the transaction, and passes it on.
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
