//! One step of a sequence: the common interface of all mediators.
//!
//! It knows no kind.

use super::message::Passing;
use crate::error::Fault;

/// Part of a message that a mediator needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Need {
    /// Only its head.
    #[default]
    Head,
    /// Its body, only a little of it.
    Body,
    /// Its whole body, which may be rewritten: large ones are work for a work process.
    WholeBody,
}

/// Result of a sequence for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The message goes on, with the edits and the body of its [`Memory`].
    Continue,
    /// The client is answered at once: the body is the memory's, the fields are those that its edits set.
    Respond {
        /// The answer's status.
        status: u16,
    },
}

/// Use of a field by a mediator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touches {
    /// The result for the message depends on it.
    Reads,
    /// It is changed or removed.
    Changes,
}

/// One step of a sequence. It is compiled when the configuration is read, and shared by all loops.
pub(crate) trait Mediator: std::fmt::Debug + Send + Sync {
    /// Part of a message that it needs.
    fn need(&self) -> Need;

    /// Names the fields of messages that it reads or changes.
    fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str));

    /// Processes one message.
    ///
    /// # Errors
    /// The fault for the client.
    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault>;
}
