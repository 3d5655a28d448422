//! The memory in which records are opened and sealed: one set per thread, since a thread works on one connection at a
//! time.
//!
//! So a connection that waits has no buffer except for left-over bytes, which are rare.

use std::cell::RefCell;

/// Plaintext that is sealed at once at most: four full records, sent by one system call.
pub(super) const SEALED_BYTES_MAX: usize = 4 * RECORD_BYTES_MAX;

/// Plaintext in a full record (RFC 8446 section 5.1).
pub(super) const RECORD_BYTES_MAX: usize = 16 * 1024;

/// Bytes read from the socket at once at most.
pub(super) const READ_BYTES_MAX: usize = 64 * 1024;

/// Room that a record takes beyond its plaintext, amply.
pub(super) const RECORD_OVERHEAD_BYTES: usize = 512;

thread_local! {
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch::new()) };
}

/// The set of one thread.
pub(super) struct Scratch {
    /// Records that came.
    pub(super) incoming: Vec<u8>,
    /// Records that go.
    pub(super) outgoing: Outgoing,
    /// Plaintext of several pieces for one record.
    pub(super) gathered: Vec<u8>,
}

/// Records that go, one behind the other.
pub(super) struct Outgoing {
    // Its length is that of the memory, which is zeroed once and not for each answer.
    bytes: Vec<u8>,
    filled: usize,
}

impl Scratch {
    const fn new() -> Scratch {
        let outgoing = Outgoing { bytes: Vec::new(), filled: 0 };
        Scratch { incoming: Vec::new(), outgoing, gathered: Vec::new() }
    }

    /// Room for this many incoming bytes.
    pub(super) fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.incoming.len() < bytes {
            self.incoming.resize(bytes, 0);
        }
        &mut self.incoming[..bytes]
    }
}

/// Lends the thread's set; to TLS over TLS, which is inside the work of another, one of its own.
pub(super) fn with<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => work(&mut scratch),
        Err(_) => work(&mut Scratch::new()),
    })
}

impl Outgoing {
    /// Forgets all records.
    pub(super) fn clear(&mut self) {
        self.filled = 0;
    }

    /// The records.
    pub(super) fn records(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Room behind them for this many bytes.
    pub(super) fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.bytes.len() < self.filled + bytes {
            self.bytes.resize(self.filled + bytes, 0);
        }
        &mut self.bytes[self.filled..]
    }

    /// Marks bytes of the room as records.
    pub(super) fn fill(&mut self, bytes: usize) {
        self.filled += bytes;
        debug_assert!(self.filled <= self.bytes.len(), "no more can be filled than there was room");
    }

    /// Adds records that were made elsewhere.
    pub(super) fn append(&mut self, records: &[u8]) {
        self.room(records.len())[..records.len()].copy_from_slice(records);
        self.fill(records.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_works_inside_the_work_of_another_has_a_set_of_its_own() {
        with(|outer| {
            outer.room(1)[0] = 1;
            with(|inner| assert_eq!(inner.room(1), [0]));
            assert_eq!(outer.room(1), [1]);
        });
    }
}
