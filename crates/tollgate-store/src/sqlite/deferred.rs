//! Foreign keys that wait for the end of the transaction (`DEFERRABLE INITIALLY DEFERRED`): a check that none is
//! broken, so that the unit that broke it fails, and not a later one.
//!
//! SQLite counts them, so the check costs nothing and reads no row.

use rusqlite::{Connection, ffi};

use crate::{Rule, StoreError};

/// Refuses to continue if a foreign key leads nowhere.
///
/// # Errors
/// [`StoreError::Constraint`].
pub(super) fn check(raw: &Connection) -> Result<(), StoreError> {
    match unresolved(raw) {
        0 => Ok(()),
        _ => Err(StoreError::Constraint { rule: Rule::ForeignKey, name: None }),
    }
}

/// Zero if and only if every foreign key, deferred or not, leads somewhere.
#[expect(unsafe_code, reason = "rusqlite has no way to ask for the status of a connection")]
fn unresolved(raw: &Connection) -> i32 {
    let (mut current, mut highest) = (0, 0);
    // SAFETY: the handle is that of a connection which is open for as long as it is borrowed, and the two numbers outlive
    // the call, which writes to nothing else.
    let code = unsafe {
        ffi::sqlite3_db_status(raw.handle(), ffi::SQLITE_DBSTATUS_DEFERRED_FKS, &mut current, &mut highest, 0)
    };
    debug_assert_eq!(code, ffi::SQLITE_OK, "it is a status that SQLite has");
    current
}
