//! What is asked of an answer beside its content: a status that was wanted, the length of the first one, no fault in a SOAP
//! envelope, every answer of a batch.
//!
//! What it deliberately does not do: read an answer; see [`super::content`].

use std::sync::{Arc, OnceLock};

use super::failure::{ErrorClass, Failure};
use super::odata_batch::BatchForm;
use crate::traffic::statuses::Statuses;

/// What is asked of answers.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// Which statuses are wanted.
    pub statuses: Statuses,
    /// What they are as long as: the first valid one of all workers, as ApacheBench has it; absent for nothing.
    pub length: Option<FirstLength>,
    /// What they are.
    pub kind: AnswerKind,
}

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerKind {
    /// Nothing that would be read.
    #[default]
    Plain,
    /// A SOAP envelope, which may hold a fault.
    Soap,
    /// The answer to a batch of so many requests.
    Batch {
        /// Of this form.
        form: BatchForm,
        /// Requests in each batch.
        requests: usize,
    },
}

/// The length of the first valid answer. It is written once and then only read, so that workers share it for nothing.
#[derive(Debug, Clone, Default)]
pub struct FirstLength(Arc<OnceLock<u64>>);

impl FirstLength {
    pub(crate) fn judge(&self, came_bytes: u64) -> Result<(), Failure> {
        let known = *self.0.get_or_init(|| came_bytes);
        if known == came_bytes {
            return Ok(());
        }
        let text = format!("the answer has {came_bytes} bytes, the first one had {known}");
        Err(Failure::new(ErrorClass::Length, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_held_against_the_first() {
        let first = FirstLength::default();
        assert_eq!(first.judge(5), Ok(()));
        assert_eq!(first.clone().judge(5), Ok(()));
        assert_eq!(first.judge(4).unwrap_err().text, "the answer has 4 bytes, the first one had 5");
    }
}
