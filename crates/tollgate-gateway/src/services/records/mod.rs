//! The records service: one set of records with a property of every common type, to be written in all ways. It is the
//! reference server's entity, so that figures of both can be compared.
//!
//! It begins empty, without any record.

mod model;

pub use model::model;

use crate::store::{Mapping, StoreError, Tables};

/// Version of the tables' layout, kept in the database itself; the hundreds distinguish it from those of other
/// services.
const LAYOUT_VERSION: i64 = 201;

/// Creates the table. A database that has it stays unchanged.
///
/// # Errors
///
/// Errors of the store, or [`StoreError::Layout`] if the file belongs to another version or application.
pub fn create(connection: &mut impl Tables) -> Result<(), StoreError> {
    match connection.layout_version()? {
        LAYOUT_VERSION => Ok(()),
        0 => connection.transaction(|connection| {
            connection.create_tables(&model())?;
            connection.set_layout_version(LAYOUT_VERSION)
        }),
        found => Err(StoreError::Layout { found, expected: LAYOUT_VERSION }),
    }
}

/// Table of the records.
pub fn mapping() -> Mapping {
    Mapping::by_type_name(&model())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::{Location, SqliteDatabase};

    #[test]
    fn the_table_is_created_once_and_a_database_of_another_service_is_refused() {
        let database = SqliteDatabase::open(Location::Memory, mapping()).unwrap();
        let mut connection = database.connection().unwrap();
        create(&mut connection).unwrap();
        create(&mut connection).unwrap();
        connection.set_layout_version(1).unwrap();
        let error = create(&mut connection).unwrap_err();
        assert_eq!(error.to_string(), "the database has layout version 1, this program needs 201");
    }
}
