//! Parts of the active configuration for requests of every protocol.
//!
//! Most of it lasts as long as the process; a new configuration clones it and replaces the changed parts.

use std::sync::Arc;

use tollgate_net::clock::Clock;
use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Response;

use super::room::{AheadBytes, BatchRoom};
use crate::auth::Authentication;
use crate::auth::csrf::Tokens;
use crate::base::log::Log;
use crate::clients::Clients;
use crate::error::Fault;
use crate::error::format::ErrorFormat;
use crate::work::parts::Buffers;

/// Parts of the active configuration for requests of every protocol.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    /// Entities on one page, at most.
    pub(crate) page_size: u64,
    /// Authentication of callers.
    pub(crate) authentication: Arc<Authentication>,
    pub(crate) buffers: Buffers,
    /// Clients and their limits.
    pub(crate) clients: Arc<Clients>,
    /// The memory for batches.
    pub(crate) batch_room: BatchRoom,
    /// The memory for arrays.
    pub(crate) ahead: AheadBytes,
    /// CSRF tokens for writing, where a service requires them.
    pub(crate) tokens: Arc<Tokens>,
    /// Clock of managed fields.
    pub(crate) clock: Clock,
    pub(crate) log: Arc<Log>,
}

impl Common {
    /// Answers a fault on any listener, and logs the part for the operator.
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

    /// Logs a fault's part for the operator. The query is left out, since it may contain secrets.
    pub(crate) fn log_inner(&self, fault: &Fault, method: &str, path: &str) {
        if let Some((status, code, inner)) = fault.inner() {
            self.log.line(format_args!("{status} {code} for {method} {path}: {inner}"));
        }
    }
}
