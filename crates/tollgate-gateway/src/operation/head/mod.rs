//! Head of an OData request: versions, formats, methods, preferences and the format of the body.
//!
//! It queries neither the model's content nor a database.

mod body;
pub(crate) mod methods;
pub(crate) mod negotiation;
pub(crate) mod preferences;
pub(crate) mod versions;

pub(crate) use self::body::{body_format, check_coding, meant_method};
