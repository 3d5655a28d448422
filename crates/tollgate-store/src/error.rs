//! Errors of reads and changes, and the side at fault. The protocols choose the status for the client.

use std::fmt;

/// Error of the database's own driver, for the operator's log.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Side at fault for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request is impossible; the same request will fail again.
    Client,
    /// Overload; the same request may succeed later.
    Overload,
    /// The gateway or its database is at fault.
    Gateway,
}

/// A rule of the database that values may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A value must not be null.
    NotNull,
    /// The referenced entity must exist, and a referenced entity must not be deleted.
    ForeignKey,
    /// A condition of the table (`CHECK`), or a value out of its column's range.
    Check,
}

/// An error of a store.
#[derive(Debug)]
pub enum StoreError {
    /// An expression combines types that have no common meaning.
    Type {
        /// Byte offset in the option's text.
        position: usize,
        /// Description of the value found.
        message: String,
    },
    /// An expression that no store translates yet.
    NotImplemented {
        /// Byte offset in the option's text.
        position: usize,
        /// Its name.
        name: &'static str,
    },
    /// An expression is nested too deeply, has too many terms, or makes too long a text.
    TooLarge {
        /// The exceeded limit.
        message: String,
    },
    /// A computed value of an expression has no result: it overflows or is divided by zero.
    Undefined {
        /// Description of the error.
        message: &'static str,
    },
    /// A skip token does not belong to this order.
    Token {
        /// Values that the order and the key need.
        expected: usize,
        /// Values in the token.
        found: usize,
    },
    /// A key has another number of values than the type's key.
    Key {
        /// Number of leaves in the key.
        expected: usize,
        /// Number of values in the plan.
        found: usize,
    },
    /// The statement ran longer than its time budget.
    TimeBudget,
    /// The database was locked by others for too long.
    Busy(Cause),
    /// The database file is damaged or is none.
    Corrupt(Cause),
    /// The tables in the file are not those of this version.
    Layout {
        /// The version in the file.
        found: i64,
        /// The version that this program writes.
        expected: i64,
    },
    /// The mapping does not fit the model.
    Mapping(String),
    /// A value in the database is not of its property's type.
    Stored {
        /// The table and the column.
        place: String,
        /// The error.
        message: String,
    },
    /// An entity with this key, or with another unique value, exists already.
    Duplicate {
        /// The columns, if the database names them.
        columns: Vec<String>,
    },
    /// The values of an entity break a rule of the database.
    Constraint {
        /// The broken rule.
        rule: Rule,
        /// The column or the constraint's name, if the database names it.
        name: Option<String>,
    },
    /// The values of an entity break a condition of its table (`CHECK`).
    Condition {
        /// The condition, or its name.
        condition: String,
        /// The column of the condition, if there is a single one.
        column: Option<String>,
    },
    /// There is no room left on the database's disk.
    Full(Cause),
    /// The database cannot be reached or opened.
    Unavailable(Cause),
    /// The database stopped in the middle of the work: the connection broke, the server ended it, or the file could not
    /// be read or written. Nothing of the transaction is stored.
    Broken(Cause),
    /// The connection broke during a commit: the result is unknown, and the transaction must not simply be repeated.
    InDoubt(Cause),
    /// Another transaction was in the way and the database undid this one; the same request may succeed later.
    Conflict(Cause),
    /// The database cannot be written: its file, its folder or its disk is protected.
    ReadOnly(Cause),
    /// Anything else that the database reports.
    Database(Cause),
}

impl StoreError {
    /// Side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            StoreError::Type { .. }
            | StoreError::NotImplemented { .. }
            | StoreError::TooLarge { .. }
            | StoreError::Undefined { .. }
            | StoreError::Token { .. }
            | StoreError::Key { .. }
            | StoreError::Duplicate { .. }
            | StoreError::Constraint { .. }
            | StoreError::Condition { .. } => Fault::Client,
            StoreError::TimeBudget
            | StoreError::Busy(_)
            | StoreError::Full(_)
            | StoreError::Unavailable(_)
            | StoreError::Broken(_)
            | StoreError::Conflict(_) => Fault::Overload,
            StoreError::Corrupt(_)
            | StoreError::InDoubt(_)
            | StoreError::Layout { .. }
            | StoreError::Mapping(_)
            | StoreError::Stored { .. }
            | StoreError::ReadOnly(_)
            | StoreError::Database(_) => Fault::Gateway,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Type { position, message } => write!(formatter, "{message} (at column {position})"),
            StoreError::NotImplemented { position, name } => {
                write!(formatter, "{name} is not implemented (at column {position})")
            }
            StoreError::TooLarge { message } => write!(formatter, "the expression is too large: {message}"),
            StoreError::Undefined { message } => write!(formatter, "an expression has no value: {message}"),
            StoreError::Token { expected, found } => {
                write!(formatter, "the skip token belongs to another order: {expected} values expected, {found} found")
            }
            StoreError::Key { expected, found } => {
                write!(formatter, "the key needs {expected} values, {found} were given")
            }
            StoreError::TimeBudget => write!(formatter, "the query took longer than its time budget"),
            StoreError::Busy(_) => write!(formatter, "the database is busy"),
            StoreError::Corrupt(_) => write!(formatter, "the database file is damaged or is not a database"),
            StoreError::Layout { found, expected } => {
                write!(formatter, "the database has layout version {found}, this program needs {expected}")
            }
            StoreError::Mapping(message) => write!(formatter, "the mapping does not fit the model: {message}"),
            StoreError::Stored { place, message } => {
                write!(formatter, "a value in the database is wrong: {place}: {message}")
            }
            StoreError::Duplicate { columns } if columns.is_empty() => write!(formatter, "it exists already"),
            StoreError::Duplicate { columns } => {
                write!(formatter, "it exists already: {} must be unique", columns.join(", "))
            }
            StoreError::Constraint { rule, name } => {
                match rule {
                    Rule::NotNull => write!(formatter, "a value must not be null")?,
                    Rule::ForeignKey => {
                        write!(formatter, "a related entity does not exist, or still refers to this one")?
                    }
                    Rule::Check => write!(formatter, "a value breaks a condition of the database")?,
                }
                name.as_ref().map_or(Ok(()), |name| write!(formatter, ": {name}"))
            }
            StoreError::Full(_) => write!(formatter, "the database has no room left"),
            StoreError::Condition { condition, column: _ } => {
                write!(formatter, "a value breaks a condition of the database: {condition}")
            }
            StoreError::Unavailable(_) => write!(formatter, "the database cannot be reached"),
            StoreError::Broken(_) => {
                write!(formatter, "the database stopped in the middle of it, so nothing of it was done")
            }
            StoreError::InDoubt(_) => {
                write!(
                    formatter,
                    "the database went away while it committed: look whether the change was done before it is sent again"
                )
            }
            StoreError::Conflict(_) => write!(formatter, "another change was in the way"),
            StoreError::ReadOnly(_) => write!(formatter, "the database is read-only"),
            StoreError::Database(_) => write!(formatter, "the database failed"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Busy(inner)
            | StoreError::Corrupt(inner)
            | StoreError::Full(inner)
            | StoreError::Unavailable(inner)
            | StoreError::Broken(inner)
            | StoreError::InDoubt(inner)
            | StoreError::Conflict(inner)
            | StoreError::ReadOnly(inner)
            | StoreError::Database(inner) => Some(&**inner),
            StoreError::Type { .. }
            | StoreError::NotImplemented { .. }
            | StoreError::TooLarge { .. }
            | StoreError::Undefined { .. }
            | StoreError::Token { .. }
            | StoreError::Key { .. }
            | StoreError::TimeBudget
            | StoreError::Duplicate { .. }
            | StoreError::Constraint { .. }
            | StoreError::Condition { .. }
            | StoreError::Layout { .. }
            | StoreError::Mapping(_)
            | StoreError::Stored { .. } => None,
        }
    }
}
