//! The caller: anonymous, or an authenticated user.
//!
//! It does not say how the user was authenticated.

use std::sync::Arc;

/// A user with the groups for access rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name, unique among the users.
    pub name: Arc<str>,
    /// The groups.
    pub groups: Box<[Box<str>]>,
}

/// The caller. Created once for each request, before anything else is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caller {
    user: Option<Arc<User>>,
}

impl Caller {
    /// Creates an anonymous caller.
    pub fn anonymous() -> Caller {
        Caller::default()
    }

    /// Creates an authenticated caller.
    pub fn known(user: Arc<User>) -> Caller {
        Caller { user: Some(user) }
    }

    /// The user, unless it is anonymous.
    pub fn user(&self) -> Option<&User> {
        self.user.as_deref()
    }

    /// The user's name, unless it is anonymous.
    pub fn name(&self) -> Option<&Arc<str>> {
        self.user.as_ref().map(|user| &user.name)
    }
}
