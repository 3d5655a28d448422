//! The batch: work processes take documents from a table, read what each depends on, transform it, store the result and
//! commit; each document exactly once, also when the batch is killed and begun again.
//!
//! The invariant: a document's result and its state are changed by the same transaction, and only where the state still
//! says that the document waits. On PostgreSQL that transaction holds the document's row from the claim on; SQLite lets in
//! one writer, who looks at the state again.
//!
//! What it deliberately does not do: schedule itself, write anywhere but in its tables, or measure anything but itself.

mod batch;
mod names;
mod postgres;
mod report;
mod sample;
mod session;
mod sqlite;
mod statements;
mod transform;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use self::names::Tables;
use self::session::Database;
use self::transform::Transform;
use crate::base::config_error::ConfigError;
use crate::config::{Generate, Location};
use crate::store::StoreError;

pub use self::batch::Progress;
pub use self::report::{Ended, Report, SetAside};

/// A batch whose tables are there and whose stylesheet is compiled.
#[derive(Debug)]
pub struct Batch {
    database: Database,
    tables: Arc<Tables>,
    transform: Arc<Transform>,
}

/// Tells a batch to take no more documents.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Why a batch cannot begin.
#[derive(Debug)]
pub enum BatchError {
    /// The configuration does not fit the database, or a file that it names is wrong.
    Config(ConfigError),
    /// The batch cannot run on this kind of database.
    Location(&'static str),
    /// The tables of the sample are not there.
    NoSample,
    /// The database said no.
    Database(StoreError),
    /// This machine did.
    Machine(std::io::Error),
}

impl Batch {
    /// A batch as a configuration has it. Makes the table for the states of documents, where the configuration has none.
    ///
    /// # Errors
    /// What does not fit, or that the database cannot be asked.
    pub fn new(location: &Location, generate: &Generate) -> Result<Batch, BatchError> {
        let transform = Transform::of_file(generate).map_err(BatchError::Config)?;
        Batch::over(Database::open(location)?, generate, transform)
    }

    /// The batch over the sample.
    ///
    /// # Errors
    /// [`BatchError::NoSample`] where the sample was not made; those of the database.
    pub fn of_sample(location: &Location) -> Result<Batch, BatchError> {
        let database = Database::open(location)?;
        let generate = sample::configuration().map_err(BatchError::Config)?;
        if !sample::is_there(&database.catalog()?) {
            return Err(BatchError::NoSample);
        }
        let transform = sample::transform(&generate).map_err(BatchError::Config)?;
        Batch::over(database, &generate, transform)
    }

    fn over(database: Database, generate: &Generate, transform: Transform) -> Result<Batch, BatchError> {
        let tables = Tables::of(generate, &database.catalog()?, database.dialect()).map_err(BatchError::Config)?;
        let unusable = database.unusable_keys(&tables)?;
        if unusable > 0 {
            let wrong = format!("{unusable} documents have a key that is neither text nor integer, such as null");
            return Err(BatchError::Config(generate.source.key.origin.wrong(&wrong)));
        }
        database.prepare_claims(&tables)?;
        Ok(Batch { database, tables: Arc::new(tables), transform: Arc::new(transform) })
    }

    /// Generates until no document waits, by so many work processes, or until it is told to stop. `watch` is told whenever
    /// a document is done.
    ///
    /// # Errors
    /// Where no work process could begin; what happens later is in the report.
    pub fn run(self, processes: usize, stop: &Stop, watch: impl Fn(Progress) + 'static) -> Result<Report, BatchError> {
        batch::run(self, processes, stop, Box::new(watch))
    }
}

/// Makes the sample's tables where they are not there, and has so many of its documents wait, without results.
///
/// # Errors
/// Those of the database.
pub fn make_sample(location: &Location, documents: u64) -> Result<(), BatchError> {
    match location {
        Location::Memory => Err(BatchError::Location(IN_MEMORY)),
        Location::File(path) => sample::make_in_file(path, documents).map_err(BatchError::Database),
        Location::Postgres(address) => sample::make_on_server(address, documents).map_err(BatchError::Database),
    }
}

/// The JSON Schema of a report, as indented JSON.
pub fn report_schema() -> String {
    format!("{:#}", schemars::schema_for!(Report).to_value())
}

const IN_MEMORY: &str = "a database in memory has no documents: expected sqlite:FILE or postgres://…";

impl Stop {
    /// No more documents are taken from now on; those in hand are finished.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<StoreError> for BatchError {
    fn from(error: StoreError) -> BatchError {
        BatchError::Database(error)
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Config(error) => error.fmt(formatter),
            BatchError::Location(wrong) => formatter.write_str(wrong),
            BatchError::NoSample => formatter.write_str("the sample is not in this database"),
            BatchError::Database(error) => formatter.write_str(&with_cause(error)),
            BatchError::Machine(error) => write!(formatter, "the batch cannot begin: {error}"),
        }
    }
}

impl std::error::Error for BatchError {}

/// An error of the database with what its driver says.
fn with_cause(error: &StoreError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// The folder of a configuration, in which the files are that it names.
fn folder_of(file_name: &str) -> &Path {
    Path::new(file_name).parent().unwrap_or(Path::new(""))
}
