//! Memory for large answers of all services together: one entity with its expansions, or an answer that is not sent in
//! parts.
//!
//! Small answers need none of it: their number is bounded by the work processes and the event loops.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tollgate_net::memory::MAPPED_BYTES_MIN;

/// Memory that each answer may have without asking: as much as the buffer of a part has once it had to grow.
pub(crate) const FREE_BYTES: usize = 272 * 1024;

/// Memory of all of them: one of 32 MiB with what it grows into, or hundreds of the usual size.
pub(crate) const ROOM_BYTES: usize = 40 << 20;

/// Largest buffer on a thread's heap, whose top the C library keeps: 11 MiB stayed of each thread that had written a large
/// answer. Beyond it a buffer is mapped for itself, and what is not written of it takes no memory.
const HEAP_BYTES_MAX: usize = 1 << 20;

/// A large answer grows by this part of itself at once.
const GROWTH: usize = 4;

/// Memory for what answers hold beyond [`FREE_BYTES`], of all services together.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerRoom(Arc<Room>);

#[derive(Debug, Default)]
struct Room {
    bytes_max: usize,
    held: AtomicUsize,
    peak: AtomicUsize,
    met: AtomicU64,
}

/// A share of that memory, given back when dropped.
#[derive(Debug, Default)]
pub(crate) struct AnswerShare {
    room: Option<AnswerRoom>,
    bytes: usize,
}

impl AnswerRoom {
    /// Creates room of so many bytes.
    pub(crate) fn of(bytes_max: usize) -> AnswerRoom {
        AnswerRoom(Arc::new(Room { bytes_max, ..Room::default() }))
    }

    /// Memory limit of all large answers together, in bytes.
    pub(crate) fn limit_bytes(&self) -> usize {
        self.0.bytes_max
    }

    /// Bytes that they occupy now, the most so far, and how often there was no room.
    pub(crate) fn use_of(&self) -> (usize, usize, u64) {
        let Room { held, peak, met, .. } = &*self.0;
        (held.load(Ordering::Relaxed), peak.load(Ordering::Relaxed), met.load(Ordering::Relaxed))
    }
}

impl AnswerShare {
    /// Accounts for `buffer`, and lets it grow by less than it would by itself; returns whether there is room.
    ///
    /// The buffer of a large answer is to be cut to what is written of it ([`settle`]) before others account for it.
    #[inline]
    pub(crate) fn covers(&mut self, room: &AnswerRoom, buffer: &mut Vec<u8>) -> bool {
        buffer.capacity() <= FREE_BYTES || self.covers_large(room, buffer)
    }

    fn covers_large(&mut self, room: &AnswerRoom, buffer: &mut Vec<u8>) -> bool {
        if buffer.capacity() - buffer.len() < FREE_BYTES / GROWTH {
            let grown = buffer.capacity() + buffer.len() / GROWTH;
            let grown = if grown > HEAP_BYTES_MAX { grown.max(MAPPED_BYTES_MIN + FREE_BYTES) } else { grown };
            buffer.reserve_exact(grown - buffer.len());
        }
        let written = (buffer.len() + buffer.len() / GROWTH).next_multiple_of(FREE_BYTES);
        let wanted = buffer.capacity().min(written);
        if wanted <= self.bytes {
            return true;
        }
        let Room { bytes_max, held, peak, met, .. } = &*room.0;
        let more = wanted - self.bytes;
        let now = held.fetch_add(more, Ordering::Relaxed) + more;
        if now > *bytes_max {
            held.fetch_sub(more, Ordering::Relaxed);
            met.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        peak.fetch_max(now, Ordering::Relaxed);
        (self.room, self.bytes) = (Some(room.clone()), wanted);
        true
    }
}

/// Cuts the buffer of a large answer, which is written, to its length.
#[inline]
pub(crate) fn settle(buffer: &mut Vec<u8>) {
    if buffer.capacity() > FREE_BYTES {
        buffer.shrink_to_fit();
    }
}

impl Drop for AnswerShare {
    fn drop(&mut self) {
        if let Some(AnswerRoom(room)) = &self.room {
            room.held.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_answers_share_their_memory() {
        let room = AnswerRoom::of(6 * FREE_BYTES);
        let buffer = |bytes: usize| vec![b'x'; bytes];
        let (mut first, mut second) = (AnswerShare::default(), AnswerShare::default());
        assert!(first.covers(&room, &mut buffer(FREE_BYTES)));
        assert_eq!(room.use_of(), (0, 0, 0));
        // What is written, and a quarter of that to grow into.
        assert!(first.covers(&room, &mut buffer(3 * FREE_BYTES)));
        let taken = 3 * FREE_BYTES + 3 * FREE_BYTES / 4;
        assert_eq!(room.use_of(), (taken, taken, 0));
        assert!(!second.covers(&room, &mut buffer(2 * FREE_BYTES)));
        drop(first);
        assert!(second.covers(&room, &mut buffer(2 * FREE_BYTES)));
        drop(second);
        assert_eq!(room.use_of(), (0, taken, 1));
    }

    #[test]
    fn a_buffer_beyond_a_heap_is_mapped_and_cut_to_what_is_written() {
        let (room, mut share) = (AnswerRoom::of(ROOM_BYTES), AnswerShare::default());
        let mut buffer = vec![b'x'; HEAP_BYTES_MAX];
        assert!(share.covers(&room, &mut buffer));
        assert!(buffer.capacity() > MAPPED_BYTES_MIN);
        assert!(room.use_of().0 < 2 * HEAP_BYTES_MAX, "nothing is written there");
        settle(&mut buffer);
        assert_eq!((buffer.len(), buffer.capacity()), (HEAP_BYTES_MAX, HEAP_BYTES_MAX));
    }
}
