//! One step of a sequence: what every kind of mediator is to the rest.
//!
//! It deliberately knows no kind.

use super::message::Passing;
use crate::error::Fault;

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
