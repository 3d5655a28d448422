//! What a column holds for a member of an enumeration, or for rows of a type, as a mapping file writes it down.
//!
//! It deliberately checks nothing: whether it fits depends on the column.

use serde::Deserialize;

/// A value of a column that a mapping file gives a meaning.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Stored {
    Number(i64),
    Text(String),
}
