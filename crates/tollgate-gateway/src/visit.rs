//! One request at its loop: what the loop holds, who asks, and what they may do where they ask.
//!
//! It deliberately does nothing by itself: it is what the protocols are handed.

use std::ops::Deref;
use std::sync::Arc;

use tollgate_net::http1::RequestHead;

use crate::auth::{Access, Caller, Grants};
use crate::board::Task;
use crate::hosted::Hosted;
use crate::operation::{Author, Headers};
use crate::server::Core;
use crate::shared::Shared;

/// One request at its loop.
pub(crate) struct Visit<'c> {
    core: &'c Core,
    /// What is in force for it, as it began.
    pub(crate) shared: &'c Arc<Shared>,
    /// What the caller may do.
    pub(crate) access: Access,
}

impl<'c> Visit<'c> {
    /// A request of `caller` where `grants` hold.
    pub(crate) fn new(
        core: &'c Core,
        shared: &'c Arc<Shared>,
        caller: Caller,
        grants: Option<&Arc<Grants>>,
    ) -> Visit<'c> {
        Visit { core, shared, access: Access::new(caller, grants) }
    }

    /// In whose name something is written: the caller's. Where nobody is asked who they are, a name that is said all the
    /// same is noted.
    pub(crate) fn author(&self, service: &Hosted, headers: &dyn Headers) -> Author {
        let now = self.shared.clock.wall();
        let user = match self.access.caller().name() {
            Some(name) => Arc::clone(name),
            None if self.shared.authentication.is_on() => Arc::clone(&service.rules.user),
            None => return Author::noted(&service.rules, headers, now).with_access(self.access.clone()),
        };
        Author::new(user, now).with_access(self.access.clone())
    }

    /// What a work process is wanted for.
    pub(crate) fn task<'r>(&'r self, request: &'r RequestHead) -> Task<'r> {
        Task { user: self.access.caller().name().map(|name| &**name), ..Task::of(request) }
    }
}

impl Deref for Visit<'_> {
    type Target = Core;

    fn deref(&self) -> &Core {
        self.core
    }
}
