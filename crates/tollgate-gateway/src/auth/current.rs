//! The users as their file says they are now: read at the start, and again on demand.
//!
//! A file that is broken when it is read again changes nothing.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::users::{Users, UsersError};
use super::verified::Edition;

/// The users of the moment.
#[derive(Debug)]
pub(super) struct CurrentUsers {
    /// Absent where users are known by their certificates only.
    file: Option<PathBuf>,
    users: RwLock<(Arc<Users>, Edition)>,
    /// The same edition, to be read without the lock.
    edition: AtomicU64,
}

impl CurrentUsers {
    /// The users of `file`, or none.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn read(file: Option<PathBuf>) -> Result<CurrentUsers, UsersError> {
        let users = file.as_deref().map(Users::read).transpose()?.unwrap_or_default();
        let users = RwLock::new((Arc::new(users), Edition::default()));
        Ok(CurrentUsers { file, users, edition: AtomicU64::new(0) })
    }

    /// Reads the file again, if there is one; how many users there are now.
    ///
    /// # Errors
    /// What is wrong with the file: the users before it stay.
    pub(super) fn reload(&self) -> Result<Option<usize>, UsersError> {
        let Some(file) = &self.file else { return Ok(None) };
        let users = Users::read(file)?;
        let count = users.count();
        let mut current = self.users.write().unwrap_or_else(PoisonError::into_inner);
        let edition = Edition(current.1.0 + 1);
        *current = (Arc::new(users), edition);
        // Under the lock: whoever sees the new edition finds the new users.
        self.edition.store(edition.0, Ordering::Release);
        Ok(Some(count))
    }

    /// The users, and which reading of the file they are.
    pub(super) fn users(&self) -> (Arc<Users>, Edition) {
        self.users.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Which reading of the file counts now.
    pub(super) fn edition(&self) -> Edition {
        Edition(self.edition.load(Ordering::Acquire))
    }
}
