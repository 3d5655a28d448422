//! Mediation: what becomes of a message between client and endpoint, as each route's configuration says. A sequence of
//! mediators for the request, and one for the answer.
//!
//! It moves no message: the proxy hands over heads and bodies, and sends what comes back. A route without mediators costs
//! nothing, and a body is gathered only where a mediator needs it.

mod away;
mod choose;
mod compile;
mod condition;
mod edits;
mod effort;
mod fault;
mod log;
mod message;
mod pattern;
mod payload;
pub mod pointer;
mod reading;
mod redact;
mod remove_header;
mod rename_header;
mod respond;
mod set_header;
mod source;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod view;
mod wsdl;
mod xslt;

use std::sync::Arc;

use tollgate_net::http1::RequestHead;

pub(crate) use self::compile::compile;
pub(crate) use self::edits::Edits;
pub(crate) use self::effort::Effort;
pub(crate) use self::message::{Memories, Memory, Origin, Passing, Way};
pub(crate) use self::reading::SequenceTable;
use self::reading::{Kind, Reading};
use self::wsdl::Description;
use crate::dispatcher::Dispatcher;
use crate::error::Fault;

/// Messages larger than this are mediated on a work process, where that takes time: 64 KiB are about 150 us of XSLT.
pub(crate) const INLINE_BYTES_MAX: usize = 64 * 1024;

/// What the work processes for large messages are called on the monitor.
pub(crate) const NAME: &str = "mediation";

/// Every kind of mediator. To add one: its file, and its line here.
const MEDIATORS: &[Kind] = &[
    choose::KIND,
    xslt::KIND,
    set_header::KIND,
    remove_header::KIND,
    rename_header::KIND,
    fault::KIND,
    respond::KIND,
    log::KIND,
];

/// Fields of a request that may make an answer one that cannot be read: compressed, or in parts.
const NOT_WITH_READ_ANSWERS: [&str; 3] = ["accept-encoding", "range", "if-range"];
/// Fields of an answer that are true of one body only: not of another in its place.
const OF_THE_BODY_ALONE: [&str; 6] =
    ["etag", "accept-ranges", "content-md5", "content-digest", "repr-digest", "digest"];

/// What becomes of the messages of one route.
#[derive(Debug, Clone)]
pub(crate) struct Mediation {
    /// What requests pass.
    pub(crate) request: Sequence,
    /// What answers pass.
    pub(crate) answer: Sequence,
    /// What descriptions of a service of SOAP pass, instead of the answers' sequence.
    description: Option<Sequence>,
    /// Permits to mediate large messages.
    processes: Dispatcher<()>,
}

/// Mediators in the order in which a message passes them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sequence {
    mediators: Arc<[Box<dyn Mediator>]>,
    need: Need,
}

/// What a mediator needs of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Need {
    /// Its head.
    #[default]
    Head,
    /// Its body, of which little is read.
    Body,
    /// Its body, which is read whole and may be written anew: large ones are work for a work process.
    WholeBody,
}

/// What becomes of a message behind a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It goes on, with the edits and the body of its [`Memory`].
    Continue,
    /// The client is answered at once: the body is the memory's, the fields are those that its edits set.
    Respond {
        /// The answer's status.
        status: u16,
    },
}

/// What a mediator does with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touches {
    /// What becomes of the message depends on it.
    Reads,
    /// It leaves with another value, or not at all.
    Changes,
}

/// One step of a sequence. It is compiled when the configuration is read, and shared by all loops.
pub(crate) trait Mediator: std::fmt::Debug + Send + Sync {
    /// What it needs of messages.
    fn need(&self) -> Need;

    /// Names the fields of messages that it looks at or changes.
    fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str));

    /// Does its work on one message.
    ///
    /// # Errors
    /// What the client is told instead of an answer.
    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault>;
}

impl Mediation {
    /// For a route of these sequences; large messages wait for one of `processes`.
    pub(crate) fn new(request: Sequence, answer: Sequence, processes: Dispatcher<()>) -> Mediation {
        Mediation { request, answer, description: None, processes }
    }

    /// The same for a service of SOAP, whose addresses are rewritten in its descriptions: the route's path, and what that
    /// is at the backend.
    pub(crate) fn describing(self, path: &str, there: &str) -> Mediation {
        let description = Sequence::new(vec![Box::new(Description::new(path, there))]);
        Mediation { description: Some(description), ..self }
    }

    /// Whether this request and its answer pass untouched.
    pub(crate) fn leaves(&self, request: &RequestHead) -> bool {
        self.request.is_empty() && self.for_answer(request).is_empty()
    }

    /// What the answer to this request passes.
    pub(crate) fn for_answer(&self, request: &RequestHead) -> &Sequence {
        match &self.description {
            Some(description) if Description::is_asked(request) => description,
            _ => &self.answer,
        }
    }

    /// Takes a request through its sequence.
    ///
    /// # Errors
    /// What the client is told instead of an answer.
    pub(crate) async fn mediate_request(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        let outcome = self.request.run(passing, &self.processes).await?;
        if outcome == Outcome::Continue && self.for_answer(passing.request).needs_body() {
            for name in NOT_WITH_READ_ANSWERS {
                passing.memory.edits.remove(name);
            }
        }
        if passing.memory.replacement().is_some() {
            passing.memory.edits.remove("content-md5");
            passing.memory.edits.remove("content-digest");
        }
        Ok(outcome)
    }

    /// Takes an answer through its sequence.
    ///
    /// # Errors
    /// What the client is told instead of the answer.
    pub(crate) async fn mediate_answer(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        let outcome = self.for_answer(passing.request).run(passing, &self.processes).await?;
        if outcome == Outcome::Continue && passing.memory.replacement().is_some() {
            forget_body(&mut passing.memory.edits);
        }
        Ok(outcome)
    }
}

/// Takes the fields away that are true of one body only.
pub(crate) fn forget_body(edits: &mut Edits) {
    for name in OF_THE_BODY_ALONE {
        edits.remove(name);
    }
}

impl Sequence {
    /// These mediators, in this order.
    pub(crate) fn new(mediators: Vec<Box<dyn Mediator>>) -> Sequence {
        let need = mediators.iter().map(|mediator| mediator.need()).max().unwrap_or_default();
        Sequence { mediators: mediators.into(), need }
    }

    /// Whether messages pass it untouched.
    pub(crate) fn is_empty(&self) -> bool {
        self.mediators.is_empty()
    }

    /// Whether the body has to be gathered before a message can pass.
    pub(crate) fn needs_body(&self) -> bool {
        self.need > Need::Head
    }

    /// What its mediators need at most.
    pub(crate) fn need(&self) -> Need {
        self.need
    }

    /// Names the fields of messages that its mediators look at or change.
    pub(crate) fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str)) {
        for mediator in self.mediators.iter() {
            mediator.fields(note);
        }
    }

    /// Takes a message through: here, or on one of `processes` where it is large.
    ///
    /// # Errors
    /// What the client is told instead of an answer.
    pub(crate) async fn run(&self, passing: &mut Passing<'_>, processes: &Dispatcher<()>) -> Result<Outcome, Fault> {
        if self.need == Need::WholeBody && passing.body.len() > INLINE_BYTES_MAX {
            return away::run(self, passing, processes).await;
        }
        passing.effort = Effort::begins();
        self.pass(passing)
    }

    /// Takes a message through, here.
    ///
    /// # Errors
    /// What the client is told instead of an answer.
    pub(crate) fn pass(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        for mediator in self.mediators.iter() {
            match mediator.mediate(passing)? {
                Outcome::Continue => {}
                respond @ Outcome::Respond { .. } => return Ok(respond),
            }
        }
        Ok(Outcome::Continue)
    }
}
