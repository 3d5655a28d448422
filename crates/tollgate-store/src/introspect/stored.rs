//! Stored value for a member of an enumeration, or for rows of a type, as written in a mapping file.
//!
//! It checks nothing: the valid values depend on the column.

use serde::Deserialize;

/// A column's value with a meaning in a mapping file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Stored {
    Number(i64),
    Text(String),
}
