//! What requests of every protocol need of what is in force.
//!
//! Most of it lasts as long as the process; a new configuration clones it with what is another.

use std::sync::Arc;

use tollgate_net::clock::Clock;
use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Response;

use super::room::{AheadBytes, BatchRoom};
use crate::auth::Authentication;
use crate::auth::csrf::Tokens;
use crate::base::log::Log;
use crate::error::Fault;
use crate::error::format::ErrorFormat;
use crate::work::parts::Buffers;

/// What requests of every protocol need of what is in force.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    /// Entities on one page, at most.
    pub(crate) page_size: u64,
    /// Who asks.
    pub(crate) authentication: Arc<Authentication>,
    pub(crate) buffers: Buffers,
    /// The memory for batches.
    pub(crate) batch_room: BatchRoom,
    /// The memory for arrays.
    pub(crate) ahead: AheadBytes,
    /// What those who write must show, where a service wants it.
    pub(crate) tokens: Arc<Tokens>,
    /// What managed fields are stamped by.
    pub(crate) clock: Clock,
    pub(crate) log: Arc<Log>,
}

impl Common {
    /// Tells a fault to whoever asked, on whichever listener, and what is for the operator to the log.
    pub(crate) fn tell(
        &self,
        fault: &Fault,
        format: impl Into<ErrorFormat>,
        request: &RequestHead,
        response: &mut Response,
    ) {
        self.log_inner(fault, request.method_text(), request.path());
        fault.answer(format, response);
    }

    /// Tells the log what only the operator should read of a request; its query may hold what nobody should.
    pub(crate) fn log_inner(&self, fault: &Fault, method: &str, path: &str) {
        if let Some((status, code, inner)) = fault.inner() {
            self.log.line(format_args!("{status} {code} for {method} {path}: {inner}"));
        }
    }
}
