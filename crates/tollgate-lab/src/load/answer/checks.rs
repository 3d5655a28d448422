//! Checks of an answer other than its content: the wanted status, the length of the first answer, no fault in a SOAP
//! envelope, all answers of a batch.
//!
//! It does not read answers; see [`super::content`].

use std::sync::{Arc, OnceLock};

use super::json::JsonValue;
use super::odata_batch::BatchForm;
use crate::traffic::statuses::Statuses;

/// Checks of each answer.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// The wanted statuses.
    pub statuses: Statuses,
    /// Expected length: that of the first valid answer of all workers, as in ApacheBench; absent if lengths are not
    /// compared. It is written once and then only read, so workers share it at no cost.
    pub length: Option<Arc<OnceLock<u64>>>,
    /// The kind of answer.
    pub kind: AnswerKind,
    /// JSON values that they have.
    pub json: Vec<JsonValue>,
}

/// Kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerKind {
    /// A plain answer, which is not read.
    #[default]
    Plain,
    /// A SOAP envelope, which may contain a fault.
    Soap,
    /// The answer to a batch of several requests.
    Batch {
        /// Of this form.
        form: BatchForm,
        /// Requests in each batch.
        requests: usize,
    },
}
