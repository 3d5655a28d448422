//! Mediators in the order in which a message passes them.
//!
//! It does not choose the place of the work.

use std::sync::Arc;

use super::mediator::{Mediator, Need, Outcome, Touches};
use super::message::Passing;
use crate::error::Fault;

/// Mediators in the order in which a message passes them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sequence {
    mediators: Arc<[Box<dyn Mediator>]>,
    need: Need,
}

impl Sequence {
    /// Creates a sequence of these mediators, in this order.
    pub(crate) fn new(mediators: Vec<Box<dyn Mediator>>) -> Sequence {
        let need = mediators.iter().map(|mediator| mediator.need()).max().unwrap_or_default();
        Sequence { mediators: mediators.into(), need }
    }

    /// Whether it changes no messages.
    pub(crate) fn is_empty(&self) -> bool {
        self.mediators.is_empty()
    }

    /// Whether the body must be gathered first.
    pub(crate) fn needs_body(&self) -> bool {
        self.need > Need::Head
    }

    /// Largest need of its mediators.
    pub(crate) fn need(&self) -> Need {
        self.need
    }

    /// Names the fields of messages that its mediators read or change.
    pub(crate) fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str)) {
        for mediator in self.mediators.iter() {
            mediator.fields(note);
        }
    }

    /// Passes a message through, on this thread.
    ///
    /// # Errors
    /// The fault for the client.
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
