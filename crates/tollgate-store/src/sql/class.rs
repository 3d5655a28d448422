//! Classes of types: those with the same stored form and the same operations. They decide which conversions and
//! which collation an operation needs.

use tollgate_wire::edm::Primitive;

/// A class of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The null literal, of any type.
    Null,
    /// 0 or 1.
    Boolean,
    /// Whole numbers of up to 64 bits.
    Integer,
    /// Single and Double.
    Real,
    /// Decimal digits as text.
    Decimal,
    /// Text.
    String,
    /// Bytes.
    Binary,
    /// Guid as text.
    Guid,
    /// Date as text.
    Date,
    /// Date and time as text, without zone.
    DateTime,
    /// Date and time as text, in UTC with `Z`.
    Instant,
    /// Time of day as text.
    TimeOfDay,
    /// Duration as text.
    Duration,
    /// The values of a collection: an array of PostgreSQL, otherwise one of JSON as text.
    List,
}

impl Class {
    /// The class of an expression's type.
    pub fn of(primitive: Option<Primitive>) -> Class {
        match primitive {
            None => Class::Null,
            Some(Primitive::Boolean) => Class::Boolean,
            Some(Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 | Primitive::Int64) => {
                Class::Integer
            }
            Some(Primitive::Single | Primitive::Double) => Class::Real,
            Some(Primitive::Decimal { .. }) => Class::Decimal,
            Some(Primitive::String { .. }) => Class::String,
            Some(Primitive::Binary { .. }) => Class::Binary,
            Some(Primitive::Guid) => Class::Guid,
            Some(Primitive::Date) => Class::Date,
            Some(Primitive::DateTime { .. }) => Class::DateTime,
            Some(Primitive::DateTimeOffset { .. }) => Class::Instant,
            Some(Primitive::TimeOfDay { .. }) => Class::TimeOfDay,
            Some(Primitive::Duration) => Class::Duration,
            Some(Primitive::Collection(_)) => Class::List,
        }
    }

    /// The class to which both sides of an operation are converted, if there is one. Among numbers the binary numeric
    /// promotion of both versions: Real over Decimal over Integer. Dates are the midnight at which they begin.
    pub fn common(self, other: Class) -> Option<Class> {
        use Class::{Date, DateTime, Decimal, Instant, Integer, Null, Real};
        match (self, other) {
            (left, right) if left == right => Some(left),
            (Null, class) | (class, Null) => Some(class),
            (Real, Integer | Decimal) | (Integer | Decimal, Real) => Some(Real),
            (Decimal, Integer) | (Integer, Decimal) => Some(Decimal),
            (DateTime, Date) | (Date, DateTime) => Some(DateTime),
            (Instant, Date | DateTime) | (Date | DateTime, Instant) => Some(Instant),
            _ => None,
        }
    }

    /// Whether the stored form sorts and compares as the values do, without conversion or collation.
    pub fn sorts_as_stored(self) -> bool {
        match self {
            Class::Decimal | Class::Instant | Class::Duration | Class::List => false,
            Class::Null
            | Class::Boolean
            | Class::Integer
            | Class::Real
            | Class::String
            | Class::Binary
            | Class::Guid
            | Class::Date
            | Class::DateTime
            | Class::TimeOfDay => true,
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Class::Null => "null",
            Class::Boolean => "a Boolean",
            Class::Integer => "an integer",
            Class::Real => "a floating-point number",
            Class::Decimal => "a decimal",
            Class::String => "a string",
            Class::Binary => "binary data",
            Class::Guid => "a guid",
            Class::Date => "a date",
            Class::DateTime => "a date and time",
            Class::Instant => "a date and time with offset",
            Class::TimeOfDay => "a time of day",
            Class::Duration => "a duration",
            Class::List => "a collection",
        }
    }
}
