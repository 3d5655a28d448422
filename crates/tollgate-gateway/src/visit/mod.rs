//! One request at its loop: what the loop holds, who asks, and what they may do where they ask.
//!
//! It deliberately does nothing by itself: it is what the protocols are handed.

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
    /// Memory of the loop, used again.
    pub(crate) memory: &'c LoopMemory,
    /// What is in force for it, as it began.
    pub(crate) common: &'c Arc<Common>,
    /// What the caller may do.
    pub(crate) access: Access,
}

impl<'c> Visit<'c> {
    /// A request of `caller` where `grants` hold.
    pub(crate) fn new(
        memory: &'c LoopMemory,
        common: &'c Arc<Common>,
        caller: Caller,
        grants: Option<&Arc<Grants>>,
    ) -> Visit<'c> {
        Visit { memory, common, access: Access::new(caller, grants) }
    }

    /// What a work process is wanted for.
    pub(crate) fn task<'r>(&'r self, request: &'r RequestHead) -> Task<'r> {
        Task { user: self.access.caller().name().map(|name| &**name), ..Task::of(request) }
    }
}
