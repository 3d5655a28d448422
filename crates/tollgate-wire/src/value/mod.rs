//! Values and entities as stores and documents have them, in every format: the canonical texts of values, arrays of
//! them, and the entities that a reader finds in a document.
//!
//! [`Value`] is one that a URL or a document carried, [`Cell`] one that a store hands out. Both use the same canonical texts, so that neither a Decimal nor an Int64 ever passes through a float:
//!
//! | type | canonical form |
//! |---|---|
//! | Boolean, Byte … Int64 | integer |
//! | Single, Double | real |
//! | Decimal | digits with the point, such as `422.94`, `-0.5`, `2573.0000`; no exponent |
//! | String | text |
//! | Guid | lower-case, hyphenated |
//! | Date | `2013-09-25` |
//! | DateTime | `2013-09-25T00:00:00`, fraction only where it is not zero |
//! | DateTimeOffset | the same in UTC with `Z` |
//! | TimeOfDay | `11:00:00`, fraction only where it is not zero |
//! | Duration | ISO 8601, such as `PT36H` |
//! | Binary | bytes |
//! | a collection | an array of JSON, see [`items`] |
//!
//! It deliberately knows no syntax but that of such an array.

pub(crate) mod canonical;
pub(crate) mod document;
pub mod items;

pub use crate::edm::{Cell, Row, Value};
pub use canonical::append_canonical;
