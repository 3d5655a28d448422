//! Keeps parts of an answer back until it is whole, for a caller between a service and its client that wants to see the
//! whole before it is sent.
//!
//! An answer that grows beyond the limit is sent in parts after all, and the caller is notified at once: how long the
//! sending takes is up to the client. The same applies if the core has no room: kept parts take no more than half of
//! the memory for all exchanges, so that there is room for those that are only passed on.

use std::fmt;

use super::super::held::Held;
use super::Exchange;

/// Whether an answer is still in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// Nothing of it was sent.
    Whole,
    /// Some or all of it was.
    Sent,
}

/// The parts kept back.
pub(super) struct Kept {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// Its share of the memory that the core accounts for.
    held: Held,
    outgrown: Box<dyn FnOnce()>,
}

impl Exchange<'_> {
    /// Keeps back parts that are sent, up to `bytes_max` altogether, until [`end_keeping`](Exchange::end_keeping). If
    /// that is too little, or memory is short, `outgrown` is called before anything is sent.
    pub fn keep_parts(&mut self, bytes_max: usize, outgrown: impl FnOnce() + 'static) {
        let held = Held::nothing(&self.link.core);
        self.kept = Some(Kept { bytes: Vec::new(), bytes_max, held, outgrown: Box::new(outgrown) });
    }

    /// Puts the kept parts into the body of the answer, which is then whole and unsent, unless it grew beyond the
    /// limit.
    pub fn end_keeping(&mut self) -> Keeping {
        let Some(kept) = self.kept.take() else { return Keeping::Sent };
        self.put_back(kept.bytes);
        Keeping::Whole
    }

    /// Takes back an answer that is still unsent, with its kept parts.
    pub fn withdraw(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.bytes.clear();
        }
        self.buffers.response.clear();
    }

    /// Keeps the part in the body buffer back and clears the buffer, or puts all kept parts before it.
    pub(super) fn keep_part(&mut self) -> Keeping {
        let Some(mut kept) = self.kept.take() else { return Keeping::Sent };
        let body = &mut self.buffers.response.body;
        if kept.makes_room(body.len()) {
            kept.bytes.append(body);
            self.kept = Some(kept);
            return Keeping::Whole;
        }
        let Kept { bytes, outgrown, .. } = kept;
        self.put_back(bytes);
        outgrown();
        Keeping::Sent
    }

    /// Puts the kept parts before the content of the body buffer.
    fn put_back(&mut self, mut bytes: Vec<u8>) {
        if !bytes.is_empty() {
            let body = &mut self.buffers.response.body;
            bytes.reserve_exact(body.len());
            bytes.append(body);
            *body = bytes;
        }
    }
}

impl Kept {
    /// Makes room for more bytes, if they may be kept too.
    fn makes_room(&mut self, more: usize) -> bool {
        let wanted = self.bytes.len() + more;
        if wanted > self.bytes_max {
            return false;
        }
        if wanted > self.bytes.capacity() {
            let capacity = wanted.next_power_of_two().min(self.bytes_max);
            if self.held.resize_within_half(capacity).is_err() {
                return false;
            }
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        true
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kept { bytes, bytes_max, .. } = self;
        formatter
            .debug_struct("Kept")
            .field("bytes", &bytes.len())
            .field("bytes_max", bytes_max)
            .finish_non_exhaustive()
    }
}
