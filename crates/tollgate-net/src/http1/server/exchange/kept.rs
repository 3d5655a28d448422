//! Parts of an answer that are kept back until it is whole, for whoever stands between a service and its client and
//! wants to see the whole before it is sent.
//!
//! An answer that grows beyond the limit is sent in parts after all, and whoever wanted to see it whole is told at once:
//! how long the sending takes is up to the client. So is one for which the core has no room: what is kept back is held, and
//! takes no more than half of what all exchanges may hold, so that there is room for those that are only passed on.

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

/// What is kept back.
pub(super) struct Kept {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// The share of it in what the core holds.
    held: Held,
    outgrown: Box<dyn FnOnce()>,
}

impl Exchange<'_> {
    /// Keeps back what is sent in parts, up to `bytes_max` altogether, until
    /// [`end_keeping`](Exchange::end_keeping). Where that is too little, or memory is short, `outgrown` is told so before
    /// anything is sent.
    pub fn keep_parts(&mut self, bytes_max: usize, outgrown: impl FnOnce() + 'static) {
        let held = Held::nothing(&self.link.core);
        self.kept = Some(Kept { bytes: Vec::new(), bytes_max, held, outgrown: Box::new(outgrown) });
    }

    /// Puts what was kept back into the body of the answer, which then stands there whole and unsent, unless it grew
    /// beyond the limit.
    pub fn end_keeping(&mut self) -> Keeping {
        let Some(kept) = self.kept.take() else { return Keeping::Sent };
        self.put_back(kept.bytes);
        Keeping::Whole
    }

    /// Takes back what was made of an answer of which nothing was sent, and what was kept back of it too.
    pub fn withdraw(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.bytes.clear();
        }
        self.buffers.response.clear();
    }

    /// Keeps the part that stands in the body buffer back and clears the buffer, or puts all that was kept before it.
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

    /// Puts what was kept before what stands in the body buffer.
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
    /// Makes room for so many bytes more, if they may be kept too.
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
