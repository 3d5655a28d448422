//! The types that the values of a collection may have.
//!
//! It deliberately has fewer types than properties do: no store keeps lists of binary data or of durations in a form that
//! both kinds of database compare alike.

use super::Primitive;

/// The type of the values of a collection, with its facets as [`Primitive`] has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// `Edm.Boolean`.
    Boolean,
    /// `Edm.Int16`.
    Int16,
    /// `Edm.Int32`.
    Int32,
    /// `Edm.Int64`.
    Int64,
    /// `Edm.Single`, always finite.
    Single,
    /// `Edm.Double`, always finite.
    Double,
    /// `Edm.Decimal`.
    Decimal {
        /// Significant digits.
        precision: u16,
        /// Digits after the point.
        scale: u16,
    },
    /// `Edm.String`.
    String {
        /// Longest value in characters.
        length_max: u32,
    },
    /// `Edm.Guid`.
    Guid,
    /// `Edm.Date`.
    Date,
    /// A date with time and without zone.
    DateTime {
        /// Digits of fractional seconds.
        precision: u8,
    },
    /// `Edm.DateTimeOffset`.
    DateTimeOffset {
        /// Digits of fractional seconds.
        precision: u8,
    },
    /// `Edm.TimeOfDay`.
    TimeOfDay {
        /// Digits of fractional seconds.
        precision: u8,
    },
}

impl Item {
    /// The item of that type, if a collection may have such.
    pub fn of(primitive: Primitive) -> Option<Item> {
        Some(match primitive {
            Primitive::Boolean => Item::Boolean,
            Primitive::Int16 => Item::Int16,
            Primitive::Int32 => Item::Int32,
            Primitive::Int64 => Item::Int64,
            Primitive::Single => Item::Single,
            Primitive::Double => Item::Double,
            Primitive::Decimal { precision, scale } => Item::Decimal { precision, scale },
            Primitive::String { length_max } => Item::String { length_max },
            Primitive::Guid => Item::Guid,
            Primitive::Date => Item::Date,
            Primitive::DateTime { precision } => Item::DateTime { precision },
            Primitive::DateTimeOffset { precision } => Item::DateTimeOffset { precision },
            Primitive::TimeOfDay { precision } => Item::TimeOfDay { precision },
            Primitive::Byte
            | Primitive::SByte
            | Primitive::Binary { .. }
            | Primitive::Duration
            | Primitive::Collection(_) => return None,
        })
    }

    /// The type of one value.
    pub fn primitive(self) -> Primitive {
        match self {
            Item::Boolean => Primitive::Boolean,
            Item::Int16 => Primitive::Int16,
            Item::Int32 => Primitive::Int32,
            Item::Int64 => Primitive::Int64,
            Item::Single => Primitive::Single,
            Item::Double => Primitive::Double,
            Item::Decimal { precision, scale } => Primitive::Decimal { precision, scale },
            Item::String { length_max } => Primitive::String { length_max },
            Item::Guid => Primitive::Guid,
            Item::Date => Primitive::Date,
            Item::DateTime { precision } => Primitive::DateTime { precision },
            Item::DateTimeOffset { precision } => Primitive::DateTimeOffset { precision },
            Item::TimeOfDay { precision } => Primitive::TimeOfDay { precision },
        }
    }

    /// The name of the collection's type in V4.
    pub fn collection_name(self) -> &'static str {
        match self {
            Item::Boolean => "Collection(Edm.Boolean)",
            Item::Int16 => "Collection(Edm.Int16)",
            Item::Int32 => "Collection(Edm.Int32)",
            Item::Int64 => "Collection(Edm.Int64)",
            Item::Single => "Collection(Edm.Single)",
            Item::Double => "Collection(Edm.Double)",
            Item::Decimal { .. } => "Collection(Edm.Decimal)",
            Item::String { .. } => "Collection(Edm.String)",
            Item::Guid => "Collection(Edm.Guid)",
            Item::Date => "Collection(Edm.Date)",
            Item::DateTime { .. } | Item::DateTimeOffset { .. } => "Collection(Edm.DateTimeOffset)",
            Item::TimeOfDay { .. } => "Collection(Edm.TimeOfDay)",
        }
    }
}
