//! A message on its way through the mediators: its head and body as they came, and what becomes of them.
//!
//! It owns nothing of the message. What mediators write stands in a [`Memory`] that the event loop keeps and hands to the
//! next message.

use std::cell::RefCell;

use tollgate_net::http1::{FieldsIter, RequestHead};
use tollgate_xml::Workspace;

use super::edits::Edits;
use super::effort::Effort;
use super::view::View;
use super::way::Way;

/// Memories that a loop keeps: more messages than that are seldom between two waits.
const MEMORIES_MAX: usize = 64;
/// The largest buffer that is kept for the next message.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// A message on its way.
#[derive(Debug)]
pub(crate) struct Passing<'p> {
    /// The request: it passes itself, or what passes is its answer.
    pub(crate) request: &'p RequestHead,
    /// Which way the message goes.
    pub(crate) way: Way<'p>,
    /// How the client reached us.
    pub(crate) origin: ClientOrigin<'p>,
    /// The body as it came; empty where no mediator needs it.
    pub(crate) body: &'p [u8],
    /// The endpoint that it goes to, as its place among those of the configuration.
    pub(crate) endpoint: Option<usize>,
    /// What they took so far.
    pub(crate) effort: Effort,
    /// What mediators write.
    pub(crate) memory: &'p mut Memory,
}

/// How a client reached us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientOrigin<'p> {
    /// `http` or `https`.
    pub(crate) scheme: &'p str,
    /// Host and port as the client said them.
    pub(crate) authority: &'p str,
}

/// What mediators write of one message, and the memory that they need for it.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// What becomes of its fields.
    pub(crate) edits: Edits,
    /// The body in place of the one that came, where [`Memory::replacement`] says so.
    body: Vec<u8>,
    is_replaced: bool,
    /// For the next body while the last one is read.
    spare: Vec<u8>,
    /// For trees.
    workspace: Workspace,
}

/// What a mediator writes into while it reads.
pub(super) struct Tools<'t> {
    /// For trees.
    pub(super) workspace: &'t mut Workspace,
    /// For another body: see [`Memory::replace_by_spare`].
    pub(super) spare: &'t mut Vec<u8>,
}

/// The memories of one event loop.
#[derive(Debug, Default)]
pub(crate) struct Memories(RefCell<Vec<Memory>>);

impl Passing<'_> {
    /// The message as the mediators before left it.
    pub(super) fn view(&self) -> View<'_> {
        let Passing { request, way, body, effort, memory, .. } = self;
        let body = memory.replacement().unwrap_or(body);
        View { request, way: *way, edits: &memory.edits, body, effort: *effort }
    }

    /// The same, and beside it what is written into.
    pub(super) fn split(&mut self) -> (View<'_>, Tools<'_>) {
        let Passing { request, way, body, effort, memory, .. } = self;
        let Memory { edits, body: replacement, is_replaced, workspace, spare } = &mut **memory;
        let body = if *is_replaced { replacement } else { *body };
        (View { request, way: *way, edits, body, effort: *effort }, Tools { workspace, spare })
    }
}

impl<'p> Way<'p> {
    /// The fields of what passes: of the request, or of its answer.
    pub(super) fn fields(self, request: &'p RequestHead) -> FieldsIter<'p> {
        match self {
            Way::Request => request.headers(),
            Way::Answer(head) => head.headers(),
        }
    }
}

impl Memory {
    /// The body in place of the one that came; `None` where that one leaves as it is.
    pub(crate) fn replacement(&self) -> Option<&[u8]> {
        self.is_replaced.then_some(self.body.as_slice())
    }

    /// Puts a body in place of the last one.
    pub(super) fn replace(&mut self, body: Vec<u8>) {
        self.body = body;
        self.is_replaced = true;
    }

    /// The same with the body that was written into the spare buffer.
    pub(super) fn replace_by_spare(&mut self) {
        std::mem::swap(&mut self.body, &mut self.spare);
        self.is_replaced = true;
    }

    /// Makes the message an answer of ours: `write` its body.
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
    /// An empty memory.
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
