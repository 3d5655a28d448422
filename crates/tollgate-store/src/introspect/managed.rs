//! Columns that the gateway itself writes: author and time of an entity's creation and change.
//!
//! It writes nothing: values are added where entities are created and changed.

use serde::Deserialize;
use tollgate_wire::edm::{Primitive, Provided};

/// Characters of a time as text, `2013-09-25T11:00:00.123456Z`.
const TIMESTAMP_LENGTH: u32 = 27;

/// Value that the gateway itself writes into a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Managed {
    CreatedAt,
    CreatedBy,
    ModifiedAt,
    ModifiedBy,
}

impl Managed {
    /// The same as a value of the model.
    pub(super) fn provided(self) -> Provided {
        match self {
            Managed::CreatedAt => Provided::CreatedAt,
            Managed::CreatedBy => Provided::CreatedBy,
            Managed::ModifiedAt => Provided::ModifiedAt,
            Managed::ModifiedBy => Provided::ModifiedBy,
        }
    }

    /// Error of keeping that in a column of this type.
    pub(super) fn unfit(self, primitive: Option<Primitive>) -> Option<&'static str> {
        match (self, primitive?) {
            (Managed::CreatedBy | Managed::ModifiedBy, Primitive::String { .. }) => None,
            (Managed::CreatedBy | Managed::ModifiedBy, _) => Some("a user's name needs a text"),
            (
                _,
                Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. } | Primitive::String { length_max: 0 },
            ) => None,
            (_, Primitive::String { length_max }) if length_max >= TIMESTAMP_LENGTH => None,
            (Managed::CreatedAt, Primitive::Date) => None,
            (Managed::CreatedAt | Managed::ModifiedAt, _) => Some("a time needs a timestamp"),
        }
    }
}
