//! Parts of an answer that are kept back until it is whole, for whoever stands between a service and its client and
//! wants to see the whole before it is sent.
//!
//! An answer that grows beyond the limit is sent in parts after all: nothing waits for more memory than that.

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
#[derive(Debug)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Exchange<'_> {
    /// Keeps back what is sent in parts, up to `bytes_max` altogether, until
    /// [`end_keeping`](Exchange::end_keeping).
    pub fn keep_parts(&mut self, bytes_max: usize) {
        self.kept = Some(Kept { bytes: Vec::new(), bytes_max });
    }

    /// Puts what was kept back into the body of the answer, which then stands there whole and unsent, unless it grew
    /// beyond the limit.
    pub fn end_keeping(&mut self) -> Keeping {
        let Some(mut kept) = self.kept.take() else { return Keeping::Sent };
        if !kept.bytes.is_empty() {
            let body = &mut self.buffers.response.body;
            kept.bytes.append(body);
            *body = kept.bytes;
        }
        Keeping::Whole
    }

    /// Keeps the part that stands in the body buffer back and clears the buffer, or puts all that was kept before it.
    pub(super) fn keep_part(&mut self) -> Keeping {
        let Some(kept) = &mut self.kept else { return Keeping::Sent };
        let body = &mut self.buffers.response.body;
        if kept.bytes.len() + body.len() <= kept.bytes_max {
            kept.bytes.append(body);
            return Keeping::Whole;
        }
        self.end_keeping();
        Keeping::Sent
    }
}
