//! Errors that keep a batch from beginning, and database errors of a document.
//!
//! It decides nothing: the work process handles errors.

use std::fmt;

use crate::base::config_error::ConfigError;
use crate::store::StoreError;

/// Message for a batch on a database in memory.
pub(super) const IN_MEMORY: &str = "a database in memory has no documents: expected sqlite:FILE or postgres://…";

/// Reason why a batch cannot begin.
#[derive(Debug)]
pub enum BatchError {
    /// The configuration does not fit the database, or a file that it names is wrong.
    Config(ConfigError),
    /// The batch cannot run on this kind of database.
    Location(&'static str),
    /// The tables of the sample are not there.
    NoSample,
    /// The database failed.
    Database(StoreError),
    /// The operating system failed.
    Machine(std::io::Error),
}

impl From<StoreError> for BatchError {
    fn from(error: StoreError) -> BatchError {
        BatchError::Database(error)
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Config(error) => error.fmt(formatter),
            BatchError::Location(wrong) => formatter.write_str(wrong),
            BatchError::NoSample => formatter.write_str("the sample is not in this database"),
            BatchError::Database(error) => formatter.write_str(&with_cause(error)),
            BatchError::Machine(error) => write!(formatter, "the batch cannot begin: {error}"),
        }
    }
}

impl std::error::Error for BatchError {}

/// A database error with its driver's message.
pub(super) fn with_cause(error: &StoreError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Whether the same statement always fails for this document: the values are refused, not the moment.
pub(super) fn is_about_the_document(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Duplicate { .. }
            | StoreError::Constraint { .. }
            | StoreError::Condition { .. }
            | StoreError::TooLarge { .. }
            | StoreError::Undefined { .. }
            | StoreError::Stored { .. }
    )
}

/// Whether another attempt may succeed.
pub(super) fn may_pass(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::TimeBudget
            | StoreError::Busy(_)
            | StoreError::Unavailable(_)
            | StoreError::Broken(_)
            | StoreError::InDoubt(_)
            | StoreError::Conflict(_)
    )
}
