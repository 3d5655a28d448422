//! A message on its way through the mediators: its head and body as they came, and what becomes of them.
//!
//! It owns nothing of the message. What mediators write stands in a [`Memory`] that the event loop keeps and hands to the
//! next message.

use std::cell::RefCell;

use tollgate_net::http1::{FieldsIter, RequestHead, ResponseHead};
use tollgate_wire::soap;
use tollgate_xml::Workspace;

use super::edits::Edits;

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
    pub(crate) origin: Origin<'p>,
    /// The body as it came; empty where no mediator needs it.
    pub(crate) body: &'p [u8],
    /// The endpoint that it goes to, as its place among those of the configuration.
    pub(crate) endpoint: Option<usize>,
    /// What mediators write.
    pub(crate) memory: &'p mut Memory,
}

/// Which way a message goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way<'p> {
    /// From the client.
    Request,
    /// To the client, with this head.
    Answer(&'p ResponseHead),
}

/// How a client reached us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin<'p> {
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
    pub(super) workspace: Workspace,
    /// For texts of parameters and fields.
    pub(super) text: Vec<u8>,
}

/// The memories of one event loop.
#[derive(Debug, Default)]
pub(crate) struct Memories(RefCell<Vec<Memory>>);

impl<'p> Passing<'p> {
    /// The fields as they came.
    pub(crate) fn fields(&self) -> FieldsIter<'p> {
        match self.way {
            Way::Request => self.request.headers(),
            Way::Answer(head) => head.headers(),
        }
    }

    /// The first field of this name as the mediators left it, if its value is text.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let value = self.memory.edits.find(self.fields(), name)?;
        std::str::from_utf8(value).ok()
    }

    /// The body as the mediators left it.
    pub(crate) fn body(&self) -> &[u8] {
        self.memory.replacement().unwrap_or(self.body)
    }

    /// The version of SOAP that its content type announces.
    pub(crate) fn soap(&self) -> Option<soap::Version> {
        self.field("content-type").and_then(soap::Version::of_content_type)
    }
}

impl Memory {
    /// The body in place of the one that came; `None` where that one leaves as it is.
    pub(crate) fn replacement(&self) -> Option<&[u8]> {
        self.is_replaced.then_some(self.body.as_slice())
    }

    /// An empty buffer for another body, to be handed to [`Memory::replace`].
    pub(super) fn room(&mut self) -> Vec<u8> {
        let mut room = std::mem::take(&mut self.spare);
        room.clear();
        room
    }

    /// Puts a body in place of the last one.
    pub(super) fn replace(&mut self, body: Vec<u8>) {
        self.spare = std::mem::replace(&mut self.body, body);
        self.is_replaced = true;
    }

    /// Forgets the message; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.edits.clear();
        self.is_replaced = false;
        for buffer in [&mut self.body, &mut self.spare, &mut self.text] {
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
