//! Rules of a service: requirements for writing, the table of limits for one client, and the lifetime of answers.
//!
//! It enforces nothing: the protocols do.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::csrf::Csrf;

/// The rules of one service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Whether a token must be fetched before writing.
    pub csrf: Csrf,
    /// Whether `If-Match` is required where an entity has an ETag.
    pub if_match: IfMatch,
    /// Bytes of one answer to a read; 413 beyond, or the answer is cut off where it has begun.
    pub answer_bytes_max: u64,
    /// Entities of one answer to a read, expanded ones included; the same beyond.
    pub answer_entities_max: u64,
    /// Requests in one batch, those in change sets included; 413 beyond.
    pub batch_requests_max: usize,
    /// Bytes of one batch; 413 beyond.
    pub batch_bytes_max: usize,
    /// Bytes of the answer to one batch; 413 beyond, and the whole batch is undone.
    pub batch_answer_bytes_max: usize,
    /// Longest time one batch may occupy its work process and block other writers; 503 beyond, and nothing of the batch
    /// is done.
    pub batch_ms_max: u32,
    /// Bytes of one entity; 413 beyond.
    pub body_bytes_max: usize,
    /// Bytes of one array of plain REST, which is never gathered; 413 beyond.
    pub array_bytes_max: u64,
    /// Entities of one array of plain REST; 413 beyond.
    pub array_rows_max: u64,
    /// Longest time one array of plain REST may occupy its work process and block other writers; 408 beyond, and
    /// nothing of the array is done.
    pub array_ms_max: u32,
    /// User recorded as creator and changer of entities if the client is not signed in.
    pub user: Arc<str>,
    /// `Cache-Control` of answers to reads, which our own cache follows too.
    pub cache_control: Option<Arc<str>>,
}

/// Whether changing an entity that has an ETag needs `If-Match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IfMatch {
    /// It is required, else 428.
    #[default]
    Required,
    /// It is optional; if sent, it is checked.
    Optional,
}

impl Rules {
    /// Bytes of the largest accepted body.
    pub(crate) fn largest_body(&self) -> usize {
        let array = usize::try_from(self.array_bytes_max).unwrap_or(usize::MAX);
        array.max(self.batch_bytes_max).max(self.body_bytes_max)
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            csrf: Csrf::default(),
            if_match: IfMatch::default(),
            // 1,000 entities of a page, with 64 KiB for each and what it expands.
            answer_bytes_max: 64 << 20,
            answer_entities_max: 1_000_000,
            batch_requests_max: 20_000,
            batch_bytes_max: 32 << 20,
            batch_answer_bytes_max: 32 << 20,
            batch_ms_max: 300_000,
            body_bytes_max: 1 << 20,
            array_bytes_max: 64 << 20,
            array_rows_max: 1_000_000,
            array_ms_max: 30_000,
            user: "anonymous".into(),
            cache_control: None,
        }
    }
}
