//! The body of a batch, gathered in one piece, with its share of the memory budget for all batches.
//!
//! It stops at the first exceeded limit, while the rest of the body is still on its way: the bytes of one batch, its
//! requests, or the budget for all.

use tollgate_net::http1::Framing;
use tollgate_net::http1::server::Exchange;

use super::{BatchFormat, check_beginning};
use crate::config::rules::Rules;
use crate::error::{Failure, Fault};
use crate::visit::Visit;
use crate::visit::room::BatchShare;
use crate::work::parts::Buffers;

/// From this length on, and at each doubling, the bytes so far are searched for too many requests: 20,000 of the
/// smallest fill about that much.
const BEGINNING_BYTES: usize = 1 << 20;

/// A gathered body, with its share of the budget and the one for its answer.
#[derive(Debug)]
pub(super) struct Gathered {
    bytes: Vec<u8>,
    buffers: Buffers,
    share: BatchShare,
}

impl Gathered {
    /// The body.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The body, and the share, which may grow with the answer.
    pub(super) fn split(&mut self) -> (&[u8], &mut BatchShare) {
        (&self.bytes, &mut self.share)
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.buffers.give_back(std::mem::take(&mut self.bytes));
    }
}

/// Reads the body of `exchange`.
///
/// # Errors
/// 413 as soon as a limit of the rules is exceeded, 503 if there is no memory, and errors of reading a body.
pub(super) async fn body(
    visit: &Visit<'_>,
    rules: &Rules,
    form: &BatchFormat<String>,
    exchange: &mut Exchange<'_>,
) -> Result<Gathered, Failure> {
    let bytes_max = rules.batch_bytes_max;
    let too_large = || Fault::too_large(format!("the batch has more than {bytes_max} bytes"));
    let declared = match exchange.request().framing() {
        Framing::Length(length) => usize::try_from(length).unwrap_or(usize::MAX),
        Framing::None | Framing::Chunked | Framing::UntilClose => 0,
    };
    if declared > bytes_max {
        return Err(too_large().into());
    }
    let buffers = &visit.common.buffers;
    let mut gathered =
        Gathered { bytes: buffers.take(), buffers: buffers.clone(), share: BatchShare::new(&visit.common.batch_room) };
    gathered.share.hold(declared)?;
    gathered.bytes.reserve_exact(declared);
    let mut looked_through_at = BEGINNING_BYTES;
    while let Some(part) = exchange.next_body_part().await? {
        let length = gathered.bytes.len() + part.len();
        if length > bytes_max {
            return Err(too_large().into());
        }
        gathered.share.hold(length)?;
        gathered.bytes.extend_from_slice(part);
        if length >= looked_through_at {
            looked_through_at = length * 2;
            check_beginning(form, &gathered.bytes, rules.batch_requests_max).await?;
        }
    }
    Ok(gathered)
}
