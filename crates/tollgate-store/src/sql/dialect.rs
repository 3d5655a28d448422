//! SQL dialects for plans, and the names of types there.
//!
//! SQLite stores types that it lacks as canonical text and calls functions that are registered; PostgreSQL has types
//! and functions for all of it. Where the two differ, an exhaustive match covers both.

use tollgate_wire::edm::{Item, Primitive};
use tollgate_wire::value::Value;

use super::class::Class;

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// SQLite with the functions of [`function`](super::function).
    #[default]
    Sqlite,
    /// PostgreSQL 13 or newer, with its encoding UTF-8 and the session's time zone UTC.
    Postgres,
}

/// PostgreSQL's name for the type of a class.
pub fn postgres_type(class: Class) -> &'static str {
    match class {
        Class::Boolean => "bool",
        Class::Integer => "int8",
        Class::Real => "float8",
        Class::Decimal => "numeric",
        Class::Null | Class::String => "text",
        Class::Binary => "bytea",
        Class::Guid => "uuid",
        Class::Date => "date",
        Class::DateTime => "timestamp",
        Class::Instant => "timestamptz",
        Class::TimeOfDay => "time",
        Class::Duration => "interval",
        // No literal is one: of columns their own type counts.
        Class::List => "text[]",
    }
}

/// PostgreSQL's column type for values of this type. Facets are checked by the gateway; decimals keep their digits, and
/// times with more digits than PostgreSQL supports are canonical text.
pub fn postgres_column_type(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Byte | Primitive::SByte | Primitive::Int16 => "int2",
        Primitive::Int32 => "int4",
        Primitive::Single => "float4",
        Primitive::String { .. } => "text COLLATE \"C\"",
        other if is_text_in_postgres(other) => "text COLLATE \"C\"",
        Primitive::Boolean
        | Primitive::Int64
        | Primitive::Double
        | Primitive::Decimal { .. }
        | Primitive::Binary { .. }
        | Primitive::Guid
        | Primitive::Date
        | Primitive::DateTime { .. }
        | Primitive::DateTimeOffset { .. }
        | Primitive::TimeOfDay { .. }
        | Primitive::Duration => postgres_type(Class::of(Some(primitive))),
        Primitive::Collection(item) => match item {
            Item::Boolean => "bool[]",
            Item::Int16 => "int2[]",
            Item::Int32 => "int4[]",
            Item::Int64 => "int8[]",
            Item::Single => "float4[]",
            Item::Double => "float8[]",
            Item::Decimal { .. } => "numeric[]",
            Item::String { .. } => "text[] COLLATE \"C\"",
            Item::Guid => "uuid[]",
            Item::Date => "date[]",
            Item::DateTime { .. } => "timestamp[]",
            Item::DateTimeOffset { .. } => "timestamptz[]",
            Item::TimeOfDay { .. } => "time[]",
        },
    }
}

/// Digits of a second that PostgreSQL stores.
pub const POSTGRES_FRACTION_DIGITS: u8 = 6;

/// Whether a column for values of this type is stored as text, though the type is none.
pub fn is_text_in_postgres(primitive: Primitive) -> bool {
    match primitive {
        Primitive::DateTime { precision }
        | Primitive::DateTimeOffset { precision }
        | Primitive::TimeOfDay { precision } => precision > POSTGRES_FRACTION_DIGITS,
        Primitive::Boolean
        | Primitive::Byte
        | Primitive::SByte
        | Primitive::Int16
        | Primitive::Int32
        | Primitive::Int64
        | Primitive::Single
        | Primitive::Double
        | Primitive::Decimal { .. }
        | Primitive::String { .. }
        | Primitive::Binary { .. }
        | Primitive::Guid
        | Primitive::Date
        | Primitive::Duration
        | Primitive::Collection(_) => false,
    }
}

/// The class of a literal.
pub fn class_of(value: &Value) -> Class {
    match value {
        Value::Null => Class::Null,
        Value::Boolean(_) => Class::Boolean,
        Value::Integer(_) => Class::Integer,
        Value::Real(_) => Class::Real,
        Value::Decimal(_) => Class::Decimal,
        Value::String(_) => Class::String,
        Value::Text(primitive, _) => Class::of(Some(*primitive)),
        Value::Binary(_) => Class::Binary,
    }
}

/// Whether values of a class leave PostgreSQL as text: canonical by the session's settings, except for the blank in a
/// date and time.
pub fn leaves_postgres_as_text(class: Class) -> bool {
    match class {
        Class::Boolean | Class::Integer | Class::Real | Class::Binary | Class::Duration | Class::List => false,
        Class::Null
        | Class::Decimal
        | Class::String
        | Class::Guid
        | Class::Date
        | Class::DateTime
        | Class::Instant
        | Class::TimeOfDay => true,
    }
}
