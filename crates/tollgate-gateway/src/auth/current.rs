//! The users as last read from their file.
//!
//! It reads no file: the caller that replaces the users has already read and checked them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::users::Users;
use super::verified::Edition;

/// The current users.
#[derive(Debug)]
pub(super) struct CurrentUsers {
    users: RwLock<(Arc<Users>, Edition)>,
    /// Their edition, readable without the lock.
    edition: AtomicU64,
}

impl CurrentUsers {
    /// Creates them from `users`.
    pub(super) fn new(users: Users) -> CurrentUsers {
        CurrentUsers { users: RwLock::new((Arc::new(users), Edition::default())), edition: AtomicU64::new(0) }
    }

    /// Replaces the users. If they are the same, verified credentials stay valid.
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

    /// The users, and their edition.
    pub(super) fn users(&self) -> (Arc<Users>, Edition) {
        self.users.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Edition of the users file now in effect.
    pub(super) fn edition(&self) -> Edition {
        Edition(self.edition.load(Ordering::Acquire))
    }
}
