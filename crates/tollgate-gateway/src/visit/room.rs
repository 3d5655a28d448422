//! Memory budget for the bodies of all loops together: of batches, which are gathered, and of arrays, which are read
//! ahead.
//!
//! It stores no bytes itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Fault;

/// Unit in which memory is reserved.
const PIECE_BYTES: usize = 64 * 1024;

/// Bytes that all bodies together may read ahead; beyond it each goes on with its own.
pub(crate) const AHEAD_BYTES_TOTAL_MAX: usize = 16 << 20;

/// The memory budget for batches and their answers.
#[derive(Debug, Clone)]
pub(crate) struct BatchRoom {
    pieces: Arc<Semaphore>,
    pieces_max: usize,
}

impl BatchRoom {
    /// Creates room for one of the largest batches, which have `largest_bytes` with their answers, and for half of another,
    /// or for thousands of the usual size; 503 beyond.
    pub(crate) fn of(largest_bytes: usize) -> BatchRoom {
        let pieces_max = BatchRoom::bytes_max(largest_bytes).div_ceil(PIECE_BYTES);
        BatchRoom { pieces: Arc::new(Semaphore::new(pieces_max)), pieces_max }
    }

    /// Memory limit of all batches together, in bytes, if the largest have `largest_bytes` with their answers.
    pub(crate) fn bytes_max(largest_bytes: usize) -> usize {
        largest_bytes + largest_bytes / 2 + PIECE_BYTES
    }

    /// Memory limit of all batches together, in bytes.
    pub(crate) fn limit_bytes(&self) -> usize {
        self.pieces_max * PIECE_BYTES
    }

    /// Bytes they occupy now.
    pub(crate) fn held_bytes(&self) -> usize {
        self.pieces_max.saturating_sub(self.pieces.available_permits()) * PIECE_BYTES
    }
}

/// A share of the budget.
#[derive(Debug)]
pub(crate) struct BatchShare {
    room: BatchRoom,
    permit: Option<OwnedSemaphorePermit>,
}

impl BatchShare {
    /// Creates an empty share.
    pub(crate) fn new(room: &BatchRoom) -> BatchShare {
        BatchShare { room: room.clone(), permit: None }
    }

    /// Reserves at least so many bytes, until it is dropped.
    ///
    /// # Errors
    /// 503 if the budget is used up.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), Fault> {
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

/// Bytes that all bodies together have read ahead.
#[derive(Debug, Clone, Default)]
pub(crate) struct AheadBytes(Arc<AtomicUsize>);

impl AheadBytes {
    /// Bytes that all bodies together may have read ahead.
    pub(crate) fn limit_bytes(&self) -> usize {
        AHEAD_BYTES_TOTAL_MAX
    }

    /// Bytes read ahead now.
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Bytes counted in [`AheadBytes`] until it is dropped.
#[derive(Debug)]
pub(crate) struct AheadShare {
    total: AheadBytes,
    bytes: usize,
}

impl AheadShare {
    /// Creates an empty share.
    pub(crate) fn new(total: &AheadBytes) -> AheadShare {
        AheadShare { total: total.clone(), bytes: 0 }
    }

    /// Counts more bytes; returns whether all are within the limit.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.total.0.fetch_add(bytes, Ordering::Relaxed) + bytes <= AHEAD_BYTES_TOTAL_MAX
    }
}

impl Drop for AheadShare {
    fn drop(&mut self) {
        self.total.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_shared_and_given_back() {
        let room = BatchRoom { pieces: Arc::new(Semaphore::new(3)), pieces_max: 3 };
        let mut one = BatchShare::new(&room);
        let mut other = BatchShare::new(&room);
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
