//! Errors of PostgreSQL, mapped to errors of the store: by the class of the error's code (PostgreSQL, appendix "Error
//! Codes"), never by its words, which are in the server's language.

use std::error::Error;

use postgres::error::DbError;

use crate::{Cause, Rule, StoreError};

/// Reason why a call failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The driver's error: the server refused, or the connection broke, and the statement under way may have been done
    /// or not.
    Postgres(postgres::Error),
    /// No connection could be opened.
    Closed(postgres::Error),
    /// The transaction's connection broke before.
    Lost,
    /// A value in the database has no canonical form.
    Unreadable {
        /// The column of the row.
        position: usize,
        /// The error.
        message: &'static str,
    },
    /// The same, with its place.
    Stored {
        /// The table and the column.
        place: String,
        /// The error, and the key of the row.
        message: String,
    },
}

/// Purpose of a statement: the same code has another meaning when values of an expression are computed and when values
/// of an entity are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Reading,
    Writing,
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Failure {
        Failure::Postgres(error)
    }
}

impl Failure {
    /// Failure of opening a connection.
    pub(super) fn opening(error: postgres::Error) -> Failure {
        Failure::Closed(error)
    }

    /// Whether the connection is unusable: it broke, or the server shuts down or was asked to end it.
    pub(super) fn ends_the_connection(&self) -> bool {
        match self {
            Failure::Postgres(error) => Failure::ends(error),
            Failure::Closed(_) | Failure::Lost => true,
            Failure::Unreadable { .. } | Failure::Stored { .. } => false,
        }
    }

    fn ends(error: &postgres::Error) -> bool {
        error.as_db_error().is_none_or(|refusal| ends_the_connection(refusal.code().code()))
    }

    /// Whether a read that has passed on no rows may be repeated: the connection had broken, or a prepared statement is
    /// invalid, since a table changed or the server forgot it.
    pub(super) fn is_worth_another_read(&self) -> bool {
        match self {
            Failure::Postgres(error) => match error.as_db_error() {
                Some(refusal) => {
                    let code = refusal.code().code();
                    ends_the_connection(code) || code == "26000" || code == "0A000"
                }
                None => true,
            },
            Failure::Closed(_) | Failure::Lost | Failure::Unreadable { .. } | Failure::Stored { .. } => false,
        }
    }

    /// The error for a commit: if the connection broke, the result of the transaction is unknown.
    pub(super) fn told_of_commit(self) -> StoreError {
        match self {
            Failure::Postgres(error) if Failure::ends(&error) => StoreError::InDoubt(cause(&error)),
            other => other.told(Purpose::Writing),
        }
    }

    /// The error for the caller of a store.
    pub(super) fn told(self, purpose: Purpose) -> StoreError {
        let error = match self {
            Failure::Closed(error) if Failure::ends(&error) => {
                return StoreError::Unavailable(cause(&error));
            }
            Failure::Postgres(error) | Failure::Closed(error) => error,
            Failure::Lost => return StoreError::Broken("the transaction's connection broke".into()),
            Failure::Unreadable { message, .. } => return StoreError::Database(message.into()),
            Failure::Stored { place, message } => return StoreError::Stored { place, message },
        };
        let Some(refusal) = error.as_db_error() else { return StoreError::Broken(cause(&error)) };
        let code = refusal.code().code().to_owned();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (column, constraint) = (owned(refusal.column()), owned(refusal.constraint()));
        let columns = key_columns(refusal);
        refused(&code, purpose, Names { column, constraint, columns }, cause(&error))
    }
}

/// Names in the server's refusal.
struct Names {
    column: Option<String>,
    constraint: Option<String>,
    columns: Vec<String>,
}

fn refused(code: &str, purpose: Purpose, names: Names, cause: Cause) -> StoreError {
    let undefined = |message| StoreError::Undefined { message };
    let broken = |rule, name| StoreError::Constraint { rule, name };
    match (code, purpose) {
        ("57014", _) => StoreError::TimeBudget,
        ("55P03" | "53300", _) => StoreError::Busy(cause),
        ("53100", _) => StoreError::Full(cause),
        ("40001" | "40P01", _) => StoreError::Conflict(cause),
        (code, _) if ends_the_connection(code) => StoreError::Broken(cause),
        ("54001", _) => StoreError::TooLarge { message: "it is nested too deeply for the database".into() },
        // `substring` with a negative length: how statements refuse a text that grew too long.
        ("22011" | "54000", Purpose::Reading) => StoreError::TooLarge { message: "a text in it grows too long".into() },
        ("22012", Purpose::Reading) => undefined("division by zero"),
        ("22003", Purpose::Reading) => undefined("overflow: a result is beyond the range of its type"),
        ("22008", Purpose::Reading) => undefined("a moment outside of the years 0001 to 9999"),
        ("22021", Purpose::Reading) => undefined("the database's texts do not hold the character U+0000"),
        (code, Purpose::Reading) if code.starts_with("22") => undefined("a value is not one of its type"),
        ("23505", _) => StoreError::Duplicate { columns: names.columns },
        ("25006", _) => StoreError::ReadOnly(cause),
        ("23502", _) => broken(Rule::NotNull, names.column),
        ("23503", _) => broken(Rule::ForeignKey, names.constraint),
        ("23514" | "23P01" | "P0001", _) => broken(Rule::Check, names.constraint),
        (code, Purpose::Writing) if code.starts_with("22") || code.starts_with("23") => {
            broken(Rule::Check, names.column.or(names.constraint))
        }
        _ => StoreError::Database(cause),
    }
}

/// Cause for the operator: the server's own message with its code, or the chain of errors. The values in the server's
/// details are left out.
fn cause(error: &postgres::Error) -> Cause {
    if let Some(refusal) = error.as_db_error() {
        return format!("{} ({})", refusal.message(), refusal.code().code()).into();
    }
    let mut text = error.to_string();
    let mut deeper = error.source();
    while let Some(error) = deeper {
        text.push_str(": ");
        text.push_str(&error.to_string());
        deeper = error.source();
    }
    text.into()
}

fn ends_the_connection(code: &str) -> bool {
    code.starts_with("57P") || code.starts_with("08")
}

/// The columns of a key: `Key (carrid, connid)=(AA, 0017) already exists.`, in any language.
fn key_columns(refusal: &DbError) -> Vec<String> {
    refusal.detail().map_or_else(Vec::new, columns_of)
}

fn columns_of(detail: &str) -> Vec<String> {
    let names = detail.split_once(")=(").and_then(|(before, _)| before.split_once('('));
    let unquoted = |name: &str| name.trim().trim_matches('"').to_owned();
    names.map_or_else(Vec::new, |(_, names)| names.split(',').map(unquoted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, purpose: Purpose, expected: &str) {
        let names = Names {
            column: Some("PRICE".to_owned()),
            constraint: Some("no_gifts".to_owned()),
            columns: columns_of("Schlüssel »(carrid, \"Conn\")=(AA, 17)« existiert bereits."),
        };
        assert_eq!(refused(code, purpose, names, "geht nicht".into()).to_string(), expected, "{code}");
    }

    #[test]
    fn a_code_says_whose_fault_it_is_and_of_what() {
        use Purpose::{Reading, Writing};
        check("23505", Writing, "it exists already: carrid, Conn must be unique");
        check("23502", Writing, "a value must not be null: PRICE");
        check("23503", Writing, "a related entity does not exist, or still refers to this one: no_gifts");
        check("23514", Writing, "a value breaks a condition of the database: no_gifts");
        check("22001", Writing, "a value breaks a condition of the database: PRICE");
        check("22012", Reading, "an expression has no value: division by zero");
        check("40P01", Writing, "another change was in the way");
        check("53100", Writing, "the database has no room left");
        check("57P01", Reading, "the database stopped in the middle of it, so nothing of it was done");
        check("57014", Reading, "the query took longer than its time budget");
        check("42P01", Reading, "the database failed");
    }
}
