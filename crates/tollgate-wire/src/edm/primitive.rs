//! Primitive types and the types that the values of a collection may have.
//!
//! Collections deliberately have fewer types than properties do: no store keeps lists of binary data or of durations in a
//! form that both kinds of database compare alike.

/// The protocol version in which a request is read and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// OData 2.0: Atom and verbose JSON.
    V2,
    /// OData 4.0 and 4.01: JSON.
    V4,
}

/// Primitive types, in one form for both versions. Lengths and digits of 0 mean unlimited or unspecified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// `Edm.Boolean`.
    Boolean,
    /// `Edm.Byte`: 0 to 255.
    Byte,
    /// `Edm.SByte`: -128 to 127.
    SByte,
    /// `Edm.Int16`.
    Int16,
    /// `Edm.Int32`.
    Int32,
    /// `Edm.Int64`: in V2 JSON, and in V4 JSON with `IEEE754Compatible=true`, a string.
    Int64,
    /// `Edm.Single`.
    Single,
    /// `Edm.Double`.
    Double,
    /// `Edm.Decimal`: kept as digits from end to end, never through a float.
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
    /// `Edm.Binary`.
    Binary {
        /// Longest value in bytes.
        length_max: u32,
    },
    /// `Edm.Guid`.
    Guid,
    /// A date without time: V2 `Edm.DateTime` with `sap:display-format="Date"`, V4 `Edm.Date`.
    Date,
    /// A date with time and without zone: V2 `Edm.DateTime`, V4 `Edm.DateTimeOffset` in UTC.
    DateTime {
        /// Digits of fractional seconds.
        precision: u8,
    },
    /// An instant: `Edm.DateTimeOffset` in both.
    DateTimeOffset {
        /// Digits of fractional seconds.
        precision: u8,
    },
    /// A time of day: V2 `Edm.Time` (`PT11H00M00S`), V4 `Edm.TimeOfDay` (`11:00:00`).
    TimeOfDay {
        /// Digits of fractional seconds.
        precision: u8,
    },
    /// `Edm.Duration` (V4); V2 has no such type and shows `Edm.String`.
    Duration,
    /// A collection of values (V4 and plain REST); V2 has no such thing and does not show the property. It is nullable
    /// where its values are: the collection itself is never null, but empty.
    Collection(Item),
}

impl Primitive {
    /// Whole numbers.
    pub fn is_integer(self) -> bool {
        use Primitive as P;
        matches!(self, P::Byte | P::SByte | P::Int16 | P::Int32 | P::Int64)
    }

    /// Whole, decimal and floating-point numbers.
    pub fn is_number(self) -> bool {
        self.is_integer() || matches!(self, Primitive::Single | Primitive::Double | Primitive::Decimal { .. })
    }

    /// The type of its values, of a collection.
    pub fn item(self) -> Option<Item> {
        match self {
            Primitive::Collection(item) => Some(item),
            _ => None,
        }
    }
}

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
