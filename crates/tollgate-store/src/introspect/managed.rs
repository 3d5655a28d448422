//! Columns that the gateway itself writes: when an entity was created and changed, and by whom.
//!
//! It deliberately writes nothing: values are given to entries where entities are created and changed.

use serde::Deserialize;
use tollgate_wire::edm::{Primitive, Provided};

/// Characters of a time as text, `2013-09-25T11:00:00.123456Z`.
const TIMESTAMP_LENGTH: u32 = 27;

/// What the gateway itself writes into a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Managed {
    CreatedAt,
    CreatedBy,
    ModifiedAt,
    ModifiedBy,
}

impl Managed {
    /// The same as the model says it.
    pub(super) fn provided(self) -> Provided {
        match self {
            Managed::CreatedAt => Provided::CreatedAt,
            Managed::CreatedBy => Provided::CreatedBy,
            Managed::ModifiedAt => Provided::ModifiedAt,
            Managed::ModifiedBy => Provided::ModifiedBy,
        }
    }

    /// What is wrong with keeping that in a column of this type.
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
