//! The batch: work processes take documents from a table, read its dependencies, transform it, store the result and
//! commit; each document exactly once, also when the batch is killed and begun again.
//!
//! The invariant: a document's result and its state are changed by the same transaction, and only where the state still
//! says that the document waits. On PostgreSQL that transaction locks the document's row from the claim on; SQLite lets
//! in one writer, which checks the state again.
//!
//! It does not schedule itself, writes only its own tables, and measures only itself.

mod batch;
mod database;
mod error;
mod names;
mod postgres;
mod report;
mod sample;
mod session;
mod sqlite;
mod statements;
mod transform;
mod values;

use self::error::IN_MEMORY;
use crate::config::Location;

pub use self::batch::{Batch, Progress, Stop};
pub use self::error::BatchError;
pub use self::report::{Ended, Report, SetAside};

/// Creates the sample's tables if missing, and sets so many of its documents waiting, without results.
///
/// # Errors
/// Errors of the database.
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
