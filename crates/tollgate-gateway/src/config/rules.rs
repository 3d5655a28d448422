//! What a service asks of those who write, how much it takes from them at once (the table of these limits), and how long
//! what it tells those who read stays good.
//!
//! It deliberately decides nothing: the protocols keep the rules.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::csrf::Csrf;

/// The rules of one service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Whether a token must be fetched before writing.
    pub csrf: Csrf,
    /// Whether `If-Match` must be said where an entity has an ETag.
    pub if_match: IfMatch,
    /// Requests in one batch, those in change sets included; 413 beyond.
    pub batch_requests_max: usize,
    /// Bytes of one batch; 413 beyond.
    pub batch_bytes_max: usize,
    /// Bytes of the answer to one batch; 413 beyond, and nothing of the batch is done.
    pub batch_answer_bytes_max: usize,
    /// How long one batch may hold its work process, and others up who want to write; 503 beyond, and nothing of the batch
    /// is done.
    pub batch_ms_max: u32,
    /// Bytes of one entity; 413 beyond.
    pub body_bytes_max: usize,
    /// Bytes of one array of plain REST, which is never gathered; 413 beyond.
    pub array_bytes_max: u64,
    /// Entities of one array of plain REST; 413 beyond.
    pub array_rows_max: u64,
    /// How long one array of plain REST may hold its work process, and others up who want to write; 408 beyond, and nothing
    /// of the array is done.
    pub array_ms_max: u32,
    /// Who is said to have created and changed entities: nobody signs in yet.
    pub user: Arc<str>,
    /// What answers to those who read say of caches, our own among them.
    pub cache_control: Option<Arc<str>>,
}

/// Whether changing an entity that has an ETag needs `If-Match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IfMatch {
    /// It does, else 428.
    #[default]
    Required,
    /// It does not; where it is said, it counts.
    Optional,
}

impl Rules {
    /// Bytes of the largest body that is taken at all.
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
            batch_requests_max: 20_000,
            batch_bytes_max: 64 << 20,
            batch_answer_bytes_max: 64 << 20,
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
