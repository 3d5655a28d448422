//! What the head of an OData request says: versions, formats, methods, preferences and the format of the body.
//!
//! It deliberately asks no model what it has, and no database.

mod body;
pub(crate) mod methods;
pub(crate) mod negotiation;
pub(crate) mod preferences;
pub(crate) mod versions;

pub(crate) use self::body::{body_format, check_coding, meant_method};
