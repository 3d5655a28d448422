//! Mediation: what becomes of a message between client and endpoint, as each route's configuration says. A sequence of
//! mediators for the request, and one for the answer.
//!
//! It moves no message: the proxy hands over heads and bodies, and sends what comes back. A route without mediators costs
//! nothing, and a body is gathered only where a mediator needs it.

mod away;
mod condition;
mod edits;
mod effort;
mod mediator;
mod mediators;
mod message;
mod pattern;
mod payload;
pub mod pointer;
mod reading;
mod redact;
mod sequence;
mod source;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod view;
mod way;
mod wsdl;

use tollgate_net::http1::RequestHead;

pub(crate) use self::edits::Edits;
pub(crate) use self::effort::Effort;
pub(crate) use self::mediator::{Outcome, Touches};
pub(crate) use self::mediators::{MEDIATORS, SequenceTable};
pub(crate) use self::message::{ClientOrigin, Memories, Memory, Passing};
pub(crate) use self::reading::MediatorReader;
pub(crate) use self::sequence::Sequence;
pub(crate) use self::way::Way;
use self::wsdl::Description;
use crate::error::Fault;
use crate::work::dispatcher::Dispatcher;

/// What the work processes for large messages are called on the monitor.
pub(crate) const NAME: &str = "mediation";

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
        let outcome = away::run(&self.request, passing, &self.processes).await?;
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
        let outcome = away::run(self.for_answer(passing.request), passing, &self.processes).await?;
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
