//! The database of a batch, before its work processes begin: opening and preparing it.
//!
//! It reads no document.

use super::error::{BatchError, IN_MEMORY};
use super::names::Tables;
use super::values::{BoundValue, Values};
use super::{postgres, sqlite, statements};
use crate::config::Location;
use crate::store::postgres::PostgresDatabase;
use crate::store::sqlite::SqliteDatabase;
use crate::store::{self, Database, Mapping, StoreError};

/// Opens the database of a batch.
///
/// # Errors
/// It is in memory, without documents; errors of the database.
pub(super) fn open(location: &Location) -> Result<Database, BatchError> {
    let nothing = Mapping { tables: Vec::new() };
    Ok(match location {
        Location::Memory => return Err(BatchError::Location(IN_MEMORY)),
        Location::File(path) => {
            let settings =
                store::sqlite::Settings { file: store::sqlite::File::Found, ..store::sqlite::Settings::default() };
            let location = store::sqlite::Location::File(path.clone());
            Database::Sqlite(SqliteDatabase::open_with(location, nothing, settings)?)
        }
        Location::Postgres(address) => Database::Postgres(PostgresDatabase::open((**address).clone(), nothing)?),
    })
}

/// Number of documents with an unusable key.
pub(super) fn unusable_keys(database: &Database, tables: &Tables) -> Result<u64, StoreError> {
    let Some(counts) = statements::unusable_keys(tables, database.dialect()) else { return Ok(0) };
    let values = Values { tables, key: None, error: None, outcome: None };
    let values: Vec<BoundValue<'_>> = counts.slots.iter().map(|slot| values.of(*slot)).collect();
    match database {
        Database::Postgres(_) => Ok(0),
        Database::Sqlite(database) => sqlite::count(database, &counts.text, &values),
    }
}

/// Ensures that every document is in the table of claims, if there is one.
pub(super) fn prepare_claims(database: &Database, tables: &Tables) -> Result<(), StoreError> {
    let Some((table, fill)) = statements::fill_claims(tables, database.dialect()) else { return Ok(()) };
    let values = Values { tables, key: None, error: None, outcome: None };
    let values: Vec<BoundValue<'_>> = fill.slots.iter().map(|slot| values.of(*slot)).collect();
    match database {
        Database::Postgres(database) => postgres::prepare_claims(database, &table, &fill.text, &values),
        Database::Sqlite(database) => sqlite::prepare_claims(database, &table, &fill.text, &values),
    }
}
