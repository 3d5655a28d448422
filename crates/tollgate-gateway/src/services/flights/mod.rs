//! The flight service: carriers, flights, bookings and travel agencies, as the metadata of the reference service
//! describes them, with a data set that is the same on every machine.
//!
//! The carriers' logos are not stored but made of their names, and no function writes.

mod data;
mod model;
mod network;
mod people;
mod random;
#[cfg(test)]
mod tests;

pub use model::model;

use crate::store::{Discard, Mapping, StoreError, Tables};
use tollgate_wire::entry::Entry;

/// The seed of the data set that is published with the project.
pub const SEED: u64 = 400;

/// Version of the tables' layout, kept in the database itself.
const LAYOUT_VERSION: i64 = 1;

/// Creates the tables and fills them, in one transaction. A filled database stays unchanged.
///
/// # Errors
///
/// Errors of the store, or [`StoreError::Layout`] if the file belongs to another version or application.
pub fn create(connection: &mut impl Tables, seed: u64) -> Result<(), StoreError> {
    match connection.layout_version()? {
        LAYOUT_VERSION => Ok(()),
        0 => {
            let model = model();
            connection.transaction(|connection| {
                // Whoever creates them at the same time is waited for.
                connection.create_tables(&model)?;
                if connection.layout_version()? == LAYOUT_VERSION {
                    return Ok(());
                }
                data::generate(&model, seed, |set, row| {
                    connection.insert(&model, set, &Entry::of_values(row), None::<&mut Discard>)
                })?;
                connection.set_layout_version(LAYOUT_VERSION)
            })
        }
        found => Err(StoreError::Layout { found, expected: LAYOUT_VERSION }),
    }
}

/// Tables of the service's entities: one for each type of entity.
pub fn mapping() -> Mapping {
    Mapping::by_type_name(&model())
}
