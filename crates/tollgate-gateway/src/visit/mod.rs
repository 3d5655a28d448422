//! One request at its loop: the loop's memory, the caller, and the caller's permissions.
//!
//! It does nothing by itself: it is passed to the protocols.

pub(crate) mod common;
pub(crate) mod memory;
pub(crate) mod plans;
pub(crate) mod room;

use std::sync::Arc;

use tollgate_net::http1::RequestHead;

use self::common::Common;
use self::memory::LoopMemory;
use crate::auth::{Access, Caller, Grants};
use crate::work::board::Task;

/// One request at its loop.
pub(crate) struct Visit<'c> {
    /// Reused memory of the loop.
    pub(crate) memory: &'c LoopMemory,
    /// The configuration that was active when it began.
    pub(crate) common: &'c Arc<Common>,
    /// Permissions of the caller.
    pub(crate) access: Access,
}

impl<'c> Visit<'c> {
    /// Creates the visit of `caller` under `grants`.
    pub(crate) fn new(
        memory: &'c LoopMemory,
        common: &'c Arc<Common>,
        caller: Caller,
        grants: Option<&Arc<Grants>>,
    ) -> Visit<'c> {
        Visit { memory, common, access: Access::new(caller, grants) }
    }

    /// Task for a work process.
    pub(crate) fn task<'r>(&'r self, request: &'r RequestHead) -> Task<'r> {
        Task { user: self.access.caller().name().map(|name| &**name), ..Task::of(request) }
    }
}
