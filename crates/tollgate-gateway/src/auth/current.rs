//! The users as their file said they are when it was read last.
//!
//! It deliberately reads no file: whoever replaces the users has read theirs already, and nothing can be wrong with it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::users::Users;
use super::verified::Edition;

/// The users of the moment.
#[derive(Debug)]
pub(super) struct CurrentUsers {
    users: RwLock<(Arc<Users>, Edition)>,
    /// The same edition, to be read without the lock.
    edition: AtomicU64,
}

impl CurrentUsers {
    /// These.
    pub(super) fn new(users: Users) -> CurrentUsers {
        CurrentUsers { users: RwLock::new((Arc::new(users), Edition::default())), edition: AtomicU64::new(0) }
    }

    /// Others from now on. Where they are the same, whoever was verified stays so.
    pub(super) fn replace(&self, users: Users) {
        let mut current = self.users.write().unwrap_or_else(PoisonError::into_inner);
        if *current.0 == users {
            return;
        }
        let edition = Edition(current.1.0 + 1);
        *current = (Arc::new(users), edition);
        // Under the lock: whoever sees the new edition finds the new users.
        self.edition.store(edition.0, Ordering::Release);
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
