//! Who asks: nobody in particular, or a user who has shown to be one.
//!
//! It deliberately does not say how that was shown.

use std::sync::Arc;

/// A user with the groups that rules may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name, unique among the users.
    pub name: Arc<str>,
    /// The groups.
    pub groups: Box<[Box<str>]>,
}

/// Who asks. Made once for each request, before anything else is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caller {
    user: Option<Arc<User>>,
}

impl Caller {
    /// Somebody who has not said who they are.
    pub fn anonymous() -> Caller {
        Caller::default()
    }

    /// A user who has shown to be one.
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
