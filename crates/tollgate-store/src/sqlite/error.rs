//! SQLite's errors as errors of the store: the side at fault, and the columns.
//!
//! SQLite's messages are read only for names; the codes give the kind of error.

use rusqlite::{Error, ErrorCode, ffi};

use super::functions;
use crate::{Rule, StoreError};

impl From<Error> for StoreError {
    fn from(error: Error) -> StoreError {
        if let Some(message) = functions::refusal_message(&error) {
            return StoreError::Undefined { message };
        }
        if let Some(message) = functions::wrong_value(&error) {
            return StoreError::Stored { place: "in a filter or an order".to_owned(), message };
        }
        let Some(code) = error.sqlite_error().copied() else { return StoreError::Database(error.into()) };
        match code.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy(error.into()),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Corrupt(error.into()),
            ErrorCode::OperationInterrupted => StoreError::TimeBudget,
            ErrorCode::TooBig => StoreError::TooLarge { message: "a text in it grows too long".into() },
            ErrorCode::ReadOnly => StoreError::ReadOnly(error.into()),
            ErrorCode::DiskFull => StoreError::Full(error.into()),
            // The file that is shared between connections is made as long as it must be before it is used.
            ErrorCode::SystemIoFailure if code.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
                StoreError::Full(error.into())
            }
            ErrorCode::SystemIoFailure => StoreError::Broken(error.into()),
            ErrorCode::CannotOpen => StoreError::Unavailable(error.into()),
            ErrorCode::ConstraintViolation => broken_rule(code.extended_code, error),
            _ => StoreError::Database(error.into()),
        }
    }
}

fn broken_rule(extended_code: i32, error: Error) -> StoreError {
    let message = error.to_string();
    match extended_code {
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_ROWID => {
            // `UNIQUE constraint failed: table.column, table.column`, or `…: index 'name'`.
            let named = message.split_once(": ").map_or("", |(_, names)| names);
            StoreError::Duplicate { columns: named.split(", ").filter_map(column).map(str::to_owned).collect() }
        }
        // `NOT NULL constraint failed: table.column`
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            let name = message.split_once(": ").and_then(|(_, name)| column(name));
            StoreError::Constraint { rule: Rule::NotNull, name: name.map(str::to_owned) }
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => StoreError::Constraint { rule: Rule::ForeignKey, name: None },
        // `CHECK constraint failed: name or condition`
        ffi::SQLITE_CONSTRAINT_CHECK => {
            let condition = message.split_once(": ").map_or(&*message, |(_, condition)| condition).to_owned();
            StoreError::Condition { condition, column: None }
        }
        // `cannot store TEXT value in INTEGER column table.column`
        ffi::SQLITE_CONSTRAINT_DATATYPE => {
            let name = message.rsplit_once(" column ").and_then(|(_, name)| column(name));
            StoreError::Constraint { rule: Rule::Check, name: name.map(str::to_owned) }
        }
        // What a trigger says by RAISE.
        ffi::SQLITE_CONSTRAINT_TRIGGER => StoreError::Constraint { rule: Rule::Check, name: Some(message) },
        _ => StoreError::Database(error.into()),
    }
}

/// The column of `table.column`.
fn column(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, column)| column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;

    const TABLES: &str = r#"
        PRAGMA foreign_keys = ON;
        CREATE TABLE parent (id INTEGER PRIMARY KEY, "first name" TEXT, last TEXT, UNIQUE ("first name", last));
        CREATE TABLE child (
            id TEXT PRIMARY KEY, parent INTEGER REFERENCES parent, size INT NOT NULL CHECK (size > 0)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX small ON parent (lower(last)) WHERE id > 10;
        CREATE TRIGGER guard BEFORE DELETE ON parent BEGIN SELECT RAISE(ABORT, 'parents stay'); END;
        INSERT INTO parent VALUES (1, 'A', 'B'), (11, 'C', 'D');
        INSERT INTO child VALUES ('x', 1, 5);
    "#;

    fn check(sql: &str, expected: &str) {
        let raw = rusqlite::Connection::open_in_memory().unwrap();
        raw.execute_batch(TABLES).unwrap();
        let error = StoreError::from(raw.execute_batch(sql).unwrap_err());
        assert_eq!(error.to_string(), expected, "{sql}");
        assert_eq!(error.fault(), Fault::Client, "{sql}");
    }

    #[test]
    fn a_broken_rule_names_its_columns() {
        check("INSERT INTO parent VALUES (1, 'X', 'Y')", "it exists already: id must be unique");
        check("INSERT INTO parent VALUES (2, 'A', 'B')", "it exists already: first name, last must be unique");
        check("INSERT INTO parent VALUES (12, 'X', 'd')", "it exists already");
        check("INSERT INTO child VALUES ('x', 1, 5)", "it exists already: id must be unique");
        check("INSERT INTO child VALUES ('y', 1, NULL)", "a value must not be null: size");
        check("INSERT INTO child VALUES ('y', 7, 5)", "a related entity does not exist, or still refers to this one");
        check("INSERT INTO child VALUES ('y', 1, 0)", "a value breaks a condition of the database: size > 0");
        check("INSERT INTO child VALUES ('y', 1, 'much')", "a value breaks a condition of the database: size");
        check("DELETE FROM parent", "a value breaks a condition of the database: parents stay");
    }
}
