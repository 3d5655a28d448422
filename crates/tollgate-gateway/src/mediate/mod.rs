//! Mediation: changes of messages between client and endpoint, configured for each route. A sequence of mediators for
//! the request, and one for the answer.
//!
//! It moves no message: the proxy hands over heads and bodies, and sends the result. A route without mediators costs
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

/// Name of the work processes for large messages on the monitor.
pub(crate) const NAME: &str = "mediation";

/// Request fields that may make an answer unreadable: compressed, or in parts.
const NOT_WITH_READ_ANSWERS: [&str; 3] = ["accept-encoding", "range", "if-range"];
/// Answer fields that describe one body only, not a replacement.
const OF_THE_BODY_ALONE: [&str; 6] =
    ["etag", "accept-ranges", "content-md5", "content-digest", "repr-digest", "digest"];

/// Mediation of one route.
#[derive(Debug, Clone)]
pub(crate) struct Mediation {
    /// Sequence for requests.
    pub(crate) request: Sequence,
    /// Sequence for answers.
    pub(crate) answer: Sequence,
    /// Sequence for descriptions of a SOAP service, instead of the answers' sequence.
    description: Option<Sequence>,
    /// Permits to mediate large messages.
    processes: Dispatcher<()>,
}

impl Mediation {
    /// Creates the mediation of a route with these sequences; large messages wait for one of `processes`.
    pub(crate) fn new(request: Sequence, answer: Sequence, processes: Dispatcher<()>) -> Mediation {
        Mediation { request, answer, description: None, processes }
    }

    /// The same for a SOAP service, whose addresses are rewritten in its descriptions: the route's path, and its path
    /// at the backend.
    pub(crate) fn describing(self, path: &str, there: &str) -> Mediation {
        let description = Sequence::new(vec![Box::new(Description::new(path, there))]);
        Mediation { description: Some(description), ..self }
    }

    /// Whether this request and its answer pass untouched.
    pub(crate) fn leaves(&self, request: &RequestHead) -> bool {
        self.request.is_empty() && self.for_answer(request).is_empty()
    }

    /// Sequence for the answer to this request.
    pub(crate) fn for_answer(&self, request: &RequestHead) -> &Sequence {
        match &self.description {
            Some(description) if Description::is_asked(request) => description,
            _ => &self.answer,
        }
    }

    /// Passes a request through its sequence.
    ///
    /// # Errors
    /// The fault for the client.
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

    /// Passes an answer through its sequence.
    ///
    /// # Errors
    /// The fault for the client.
    pub(crate) async fn mediate_answer(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        let outcome = away::run(self.for_answer(passing.request), passing, &self.processes).await?;
        if outcome == Outcome::Continue && passing.memory.replacement().is_some() {
            forget_body(&mut passing.memory.edits);
        }
        Ok(outcome)
    }
}

/// Removes the fields that describe one body only.
pub(crate) fn forget_body(edits: &mut Edits) {
    for name in OF_THE_BODY_ALONE {
        edits.remove(name);
    }
}
