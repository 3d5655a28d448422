//! One request at its loop: the loop's memory, the caller, and the caller's permissions.
//!
//! It does nothing by itself: it is passed to the protocols.

pub(crate) mod common;
pub(crate) mod memory;
pub(crate) mod plans;
pub(crate) mod room;

use std::net::IpAddr;
use std::sync::Arc;

use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Response;

use self::common::Common;
use self::memory::LoopMemory;
use crate::auth::{Access, Caller, Grants};
use crate::base::client::Client;
use crate::clients::Reason;
use crate::error::Fault;
use crate::error::format::ErrorFormat;
use crate::work::board::Task;

/// One request at its loop.
pub(crate) struct Visit<'c> {
    /// Reused memory of the loop.
    pub(crate) memory: &'c LoopMemory,
    /// The configuration that was active when it began.
    pub(crate) common: &'c Arc<Common>,
    /// Permissions of the caller.
    pub(crate) access: Access,
    /// The client: the user, or else the address.
    pub(crate) client: Client,
    /// The client's address, which may be behind proxies that are trusted.
    pub(crate) address: IpAddr,
}

impl<'c> Visit<'c> {
    /// Creates the visit of `caller` from `address` under `grants`.
    pub(crate) fn new(
        memory: &'c LoopMemory,
        common: &'c Arc<Common>,
        (caller, address): (Caller, IpAddr),
        grants: Option<&Arc<Grants>>,
    ) -> Visit<'c> {
        let client = match caller.name() {
            Some(name) => Client::User(Arc::clone(name)),
            None => Client::at(address),
        };
        Visit { memory, common, access: Access::new(caller, grants), client, address }
    }

    /// Answers a fault, logs the part for the operator, and notes whom it refuses for want of room.
    pub(crate) fn tell(
        &self,
        fault: &Fault,
        format: impl Into<ErrorFormat>,
        request: &RequestHead,
        response: &mut Response,
    ) {
        if fault.is_overload() {
            self.common.clients.note(&self.client, Reason::Queue);
        }
        self.common.tell(fault, format, request, response);
    }

    /// Task for a work process.
    pub(crate) fn task<'r>(&'r self, request: &'r RequestHead) -> Task<'r> {
        Task::of(&self.client, request)
    }
}
