//! A message on its way through the mediators: its original head and body, and their changes.
//!
//! It owns nothing of the message. Mediators write into a [`Memory`] that the event loop keeps and passes to the next
//! message.

use std::cell::RefCell;

use tollgate_net::http1::{FieldsIter, RequestHead};
use tollgate_xml::Workspace;

use super::edits::Edits;
use super::effort::Effort;
use super::view::View;
use super::way::Way;
use crate::base::client::Client;

/// Memories kept by a loop: more messages are seldom processed between two waits.
const MEMORIES_MAX: usize = 64;
/// The largest buffer that is kept for the next message.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// A message on its way.
#[derive(Debug)]
pub(crate) struct Passing<'p> {
    /// The client.
    pub(crate) client: &'p Client,
    /// The request: the message itself, or the one that it answers.
    pub(crate) request: &'p RequestHead,
    /// Direction of the message.
    pub(crate) way: Way<'p>,
    /// Scheme and host used by the client.
    pub(crate) origin: ClientOrigin<'p>,
    /// The original body; empty if no mediator needs it.
    pub(crate) body: &'p [u8],
    /// The endpoint of the message, as an index in the configuration.
    pub(crate) endpoint: Option<usize>,
    /// Work done so far.
    pub(crate) effort: Effort,
    /// Output of mediators.
    pub(crate) memory: &'p mut Memory,
}

/// Scheme and host used by a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientOrigin<'p> {
    /// `http` or `https`.
    pub(crate) scheme: &'p str,
    /// Host and port as the client sent them.
    pub(crate) authority: &'p str,
}

/// Output of mediators for one message, and their working memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Changes of its fields.
    pub(crate) edits: Edits,
    /// The new body, if [`Memory::replacement`] returns it.
    body: Vec<u8>,
    is_replaced: bool,
    /// Buffer for the next body while the last one is read.
    spare: Vec<u8>,
    /// Memory for trees.
    workspace: Workspace,
}

/// Working memory of a mediator while it reads.
pub(super) struct Tools<'t> {
    /// Memory for trees.
    pub(super) workspace: &'t mut Workspace,
    /// Buffer for another body: see [`Memory::replace_by_spare`].
    pub(super) spare: &'t mut Vec<u8>,
}

/// The memories of one event loop.
#[derive(Debug, Default)]
pub(crate) struct Memories(RefCell<Vec<Memory>>);

impl Passing<'_> {
    /// The message after the previous mediators.
    pub(super) fn view(&self) -> View<'_> {
        let Passing { request, way, body, effort, memory, .. } = self;
        let body = memory.replacement().unwrap_or(body);
        View { request, way: *way, edits: &memory.edits, body, effort: *effort }
    }

    /// The same, and beside it the working memory.
    pub(super) fn split(&mut self) -> (View<'_>, Tools<'_>) {
        let Passing { request, way, body, effort, memory, .. } = self;
        let Memory { edits, body: replacement, is_replaced, workspace, spare } = &mut **memory;
        let body = if *is_replaced { replacement } else { *body };
        (View { request, way: *way, edits, body, effort: *effort }, Tools { workspace, spare })
    }
}

impl<'p> Way<'p> {
    /// The fields of the message: of the request, or of its answer.
    pub(super) fn fields(self, request: &'p RequestHead) -> FieldsIter<'p> {
        match self {
            Way::Request => request.headers(),
            Way::Answer(head) => head.headers(),
        }
    }
}

impl Memory {
    /// The new body; `None` if the original one leaves unchanged.
    pub(crate) fn replacement(&self) -> Option<&[u8]> {
        self.is_replaced.then_some(self.body.as_slice())
    }

    /// Replaces the body.
    pub(super) fn replace(&mut self, body: Vec<u8>) {
        self.body = body;
        self.is_replaced = true;
    }

    /// Replaces the body by the one in the spare buffer.
    pub(super) fn replace_by_spare(&mut self) {
        std::mem::swap(&mut self.body, &mut self.spare);
        self.is_replaced = true;
    }

    /// Makes the message our own answer; `write` writes its body.
    pub(super) fn respond(&mut self, content_type: Option<&[u8]>, write: impl FnOnce(&mut Vec<u8>)) {
        // Nothing of what was to become of the message's own fields is meant for it.
        self.edits.clear();
        if let Some(content_type) = content_type {
            self.edits.set("content-type", content_type);
        }
        self.spare.clear();
        write(&mut self.spare);
        self.replace_by_spare();
    }

    /// Forgets the message; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.edits.clear();
        self.is_replaced = false;
        for buffer in [&mut self.body, &mut self.spare] {
            buffer.clear();
            if buffer.capacity() > BUFFER_BYTES_MAX {
                *buffer = Vec::new();
            }
        }
    }
}

impl Memories {
    /// Returns an empty memory.
    pub(crate) fn take(&self) -> Memory {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Keeps a memory for the next message.
    pub(crate) fn give(&self, mut memory: Memory) {
        let mut memories = self.0.borrow_mut();
        if memories.len() < MEMORIES_MAX {
            memory.clear();
            memories.push(memory);
        }
    }
}
