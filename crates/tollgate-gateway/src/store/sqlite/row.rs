//! A row as SQLite holds it, handed out without copying.

use rusqlite::types::ValueRef;
use tollgate_wire::value::{Cell, Row};

/// The row at which a statement stands.
pub(super) struct SqliteRow<'r, 's>(pub(super) &'r rusqlite::Row<'s>);

impl Row for SqliteRow<'_, '_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match self.0.get_ref(column).expect("a row has all the columns of its plan") {
            ValueRef::Text(text) => Cell::Text(text),
            ValueRef::Integer(integer) => Cell::Integer(integer),
            ValueRef::Null => Cell::Null,
            ValueRef::Real(real) => Cell::Real(real),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
        }
    }
}
