//! What is asked of an answer beside its content: a status that was wanted, the length of the first one, no fault in a SOAP
//! envelope, every answer of a batch.
//!
//! What it deliberately does not do: read an answer; see [`super::content`].

use std::sync::{Arc, OnceLock};

use super::json::JsonValue;
use super::odata_batch::BatchForm;
use crate::traffic::statuses::Statuses;

/// What is asked of answers.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// Which statuses are wanted.
    pub statuses: Statuses,
    /// What they are as long as: the first valid one of all workers, as ApacheBench has it; absent for nothing. It is
    /// written once and then only read, so that workers share it for nothing.
    pub length: Option<Arc<OnceLock<u64>>>,
    /// What they are.
    pub kind: AnswerKind,
    /// JSON values that they have.
    pub json: Vec<JsonValue>,
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
