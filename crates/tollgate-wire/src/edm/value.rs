//! Values: [`Value`] is one that a URL or a document carried, [`Cell`] one that a store hands out.
//!
//! Their texts are canonical: [`crate::value`] has the table.

use super::primitive::Primitive;

/// A typed literal.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Null of any type.
    Null,
    /// A Boolean.
    Boolean(bool),
    /// Any integer type.
    Integer(i64),
    /// Single or Double.
    Real(f64),
    /// Decimal: canonical digits.
    Decimal(String),
    /// String.
    String(String),
    /// Guid, Date, DateTime, DateTimeOffset, TimeOfDay or Duration: canonical text with its type.
    Text(Primitive, String),
    /// Binary.
    Binary(Vec<u8>),
}

/// A value in a store's row, borrowed from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Null.
    Null,
    /// Boolean (0 or 1) and the integer types.
    Integer(i64),
    /// Single and Double.
    Real(f64),
    /// Everything that is text in its canonical form. UTF-8 is expected; writers replace what is not.
    Text(&'a [u8]),
    /// Binary.
    Bytes(&'a [u8]),
}

/// A row of a store. Columns are the leaves that the plan selects, in the order of [`crate::plan::Columns`].
pub trait Row {
    /// The value of one column.
    fn cell(&self, column: usize) -> Cell<'_>;
}

impl Row for [Cell<'_>] {
    fn cell(&self, column: usize) -> Cell<'_> {
        self[column]
    }
}

impl Value {
    /// The value as a store would hand it out.
    pub fn cell(&self) -> Cell<'_> {
        match self {
            Value::Null => Cell::Null,
            Value::Boolean(value) => Cell::Integer(i64::from(*value)),
            Value::Integer(value) => Cell::Integer(*value),
            Value::Real(value) => Cell::Real(*value),
            Value::Decimal(text) | Value::String(text) | Value::Text(_, text) => Cell::Text(text.as_bytes()),
            Value::Binary(bytes) => Cell::Bytes(bytes),
        }
    }
}

impl Value {
    /// The value of a cell that a store handed out for a leaf of that type. Texts that are no UTF-8 have it replaced.
    pub fn of(cell: Cell<'_>, primitive: Primitive) -> Value {
        match cell {
            Cell::Null => Value::Null,
            Cell::Integer(integer) if primitive == Primitive::Boolean => Value::Boolean(integer != 0),
            Cell::Integer(integer) => Value::Integer(integer),
            Cell::Real(real) => Value::Real(real),
            Cell::Bytes(bytes) => Value::Binary(bytes.to_vec()),
            Cell::Text(text) => {
                let text = String::from_utf8_lossy(text).into_owned();
                match primitive {
                    Primitive::Decimal { .. } => Value::Decimal(text),
                    Primitive::String { .. } => Value::String(text),
                    other => Value::Text(other, text),
                }
            }
        }
    }
}

impl Row for [Value] {
    fn cell(&self, column: usize) -> Cell<'_> {
        self[column].cell()
    }
}
