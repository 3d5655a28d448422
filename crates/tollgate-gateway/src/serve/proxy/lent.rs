//! A memory of the loop's while a message passes mediators.
//!
//! It deliberately mediates nothing.

use tollgate_net::http1::server::Response;

use crate::mediate::{Edits, Memories, Memory};

/// A memory of the loop's, given back when dropped.
pub(super) struct Lent<'m> {
    memories: &'m Memories,
    pub(super) memory: Memory,
}

impl<'m> Lent<'m> {
    /// One of these.
    pub(super) fn of(memories: &'m Memories) -> Lent<'m> {
        Lent { memory: memories.take(), memories }
    }

    /// What becomes of the fields.
    pub(super) fn edits(&self) -> &Edits {
        &self.memory.edits
    }

    /// The body in place of the one that came.
    pub(super) fn replacement(&self) -> Option<&[u8]> {
        self.memory.replacement()
    }

    /// Answers the client in the mediators' words.
    pub(super) fn respond(&self, response: &mut Response, status: u16) {
        response.clear();
        response.status = status;
        self.memory.edits.apply([], |name, value| response.header(name, value));
        response.body.extend_from_slice(self.memory.replacement().unwrap_or_default());
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.memories.give(std::mem::take(&mut self.memory));
    }
}
