//! A memory of the loop, lent while a message passes mediators.
//!
//! It mediates nothing.

use tollgate_net::http1::server::Response;

use crate::mediate::{Edits, Memories, Memory};

/// A memory of the loop, given back when dropped.
pub(super) struct Lent<'m> {
    memories: &'m Memories,
    pub(super) memory: Memory,
}

impl<'m> Lent<'m> {
    /// Takes one of these.
    pub(super) fn of(memories: &'m Memories) -> Lent<'m> {
        Lent { memory: memories.take(), memories }
    }

    /// Edits of the fields.
    pub(super) fn edits(&self) -> &Edits {
        &self.memory.edits
    }

    /// The new body, if replaced.
    pub(super) fn replacement(&self) -> Option<&[u8]> {
        self.memory.replacement()
    }

    /// Answers the client with the mediators' answer.
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
