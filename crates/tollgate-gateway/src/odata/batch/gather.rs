//! The body of a batch, gathered in one piece, and the room that gathered bodies and answers take together.
//!
//! It stops at the first limit that is met, while the rest of the body is still on its way: the bytes of one batch, its
//! requests, or the room for all.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tollgate_net::http1::Framing;
use tollgate_net::http1::server::Exchange;

use super::{Form, check_beginning};
use crate::error::{Failure, Fault};
use crate::parts::Buffers;
use crate::rules::Rules;
use crate::visit::Visit;

/// Room is taken in such pieces.
const PIECE_BYTES: usize = 64 * 1024;

/// From this length on, and at each doubling of it, what is there is looked through for too many requests: 20,000 of the
/// smallest fill about that much.
const BEGINNING_BYTES: usize = 1 << 20;

/// The room for batches and their answers.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pieces: Arc<Semaphore>,
    pieces_max: usize,
}

impl Room {
    /// Room for two of the largest batches that `rules` allow, and their answers, or for thousands of the usual size; 503
    /// beyond.
    pub(crate) fn of<'r>(rules: impl Iterator<Item = &'r Rules>) -> Room {
        let largest = rules.map(|rules| rules.batch_bytes_max + rules.batch_answer_bytes_max).max().unwrap_or(0);
        let pieces_max = 2 * largest.div_ceil(PIECE_BYTES) + 1;
        Room { pieces: Arc::new(Semaphore::new(pieces_max)), pieces_max }
    }

    /// Bytes that all batches together may hold.
    pub(crate) fn limit_bytes(&self) -> usize {
        self.pieces_max * PIECE_BYTES
    }

    /// Bytes that they hold now.
    pub(crate) fn held_bytes(&self) -> usize {
        self.pieces_max.saturating_sub(self.pieces.available_permits()) * PIECE_BYTES
    }
}

/// A share of the room.
#[derive(Debug)]
pub(super) struct Share {
    room: Room,
    permit: Option<OwnedSemaphorePermit>,
}

impl Share {
    fn new(room: &Room) -> Share {
        Share { room: room.clone(), permit: None }
    }

    /// Holds at least so many bytes from now on, until it is dropped.
    ///
    /// # Errors
    /// 503 when the room is taken.
    pub(super) fn hold(&mut self, bytes: usize) -> Result<(), Fault> {
        let held = self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let wanted = bytes.div_ceil(PIECE_BYTES).saturating_sub(held);
        if wanted == 0 {
            return Ok(());
        }
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        let Ok(more) = Arc::clone(&self.room.pieces).try_acquire_many_owned(wanted) else {
            return Err(Fault::overloaded("the room for batches is taken by others; ask again later"));
        };
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        Ok(())
    }
}

/// A gathered body, with its share of the room and the one for its answer.
#[derive(Debug)]
pub(super) struct Gathered {
    bytes: Vec<u8>,
    buffers: Buffers,
    share: Share,
}

impl Gathered {
    /// The body.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The body, and the share, which the answer may make larger.
    pub(super) fn split(&mut self) -> (&[u8], &mut Share) {
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
/// 413 as soon as a limit of the rules is passed, 503 when there is no room, and all that can befall a body.
pub(super) async fn body(
    visit: &Visit<'_>,
    rules: &Rules,
    form: &Form<String>,
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
    let buffers = &visit.shared.buffers;
    let mut gathered =
        Gathered { bytes: buffers.take(), buffers: buffers.clone(), share: Share::new(&visit.shared.batch_room) };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_shared_and_given_back() {
        let room = Room { pieces: Arc::new(Semaphore::new(3)), pieces_max: 3 };
        let mut one = Share::new(&room);
        let mut other = Share::new(&room);
        one.hold(0).unwrap();
        one.hold(1).unwrap();
        one.hold(PIECE_BYTES).unwrap();
        assert_eq!(room.pieces.available_permits(), 2);
        other.hold(2 * PIECE_BYTES).unwrap();
        assert!(one.hold(PIECE_BYTES + 1).is_err());
        drop(other);
        one.hold(3 * PIECE_BYTES).unwrap();
        assert!(one.hold(3 * PIECE_BYTES + 1).is_err());
        drop(one);
        assert_eq!(room.pieces.available_permits(), 3);
    }
}
