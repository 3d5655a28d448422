//! A row in SQLite's memory, passed on without copying except for values not in the canonical form.

use rusqlite::types::ValueRef;
use tollgate_wire::value::{Cell, Row};

use super::form::Converter;

/// The current row of a statement.
pub(super) struct SqliteRow<'r, 's> {
    pub(super) raw: &'r rusqlite::Row<'s>,
    /// Converter that made it canonical, if its columns need that.
    pub(super) converter: Option<&'r Converter<'r>>,
}

impl Row for SqliteRow<'_, '_> {
    #[inline] // for each cell, from the crates that write answers
    fn cell(&self, column: usize) -> Cell<'_> {
        if let Some(cell) = self.converter.and_then(|converter| converter.cell(column)) {
            return cell;
        }
        match self.raw.get_ref(column).expect("a row has all the columns of its plan") {
            ValueRef::Text(text) => Cell::Text(text),
            ValueRef::Integer(integer) => Cell::Integer(integer),
            ValueRef::Null => Cell::Null,
            ValueRef::Real(real) => Cell::Real(real),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
        }
    }
}

/// A value as SQLite stores it.
pub(super) fn plain(cell: Cell<'_>) -> ValueRef<'_> {
    match cell {
        Cell::Null => ValueRef::Null,
        Cell::Integer(integer) => ValueRef::Integer(integer),
        Cell::Real(real) => ValueRef::Real(real),
        Cell::Text(text) => ValueRef::Text(text),
        Cell::Bytes(bytes) => ValueRef::Blob(bytes),
    }
}
