//! What a service asks of those who write, and how much it takes from them at once: the table of these limits.
//!
//! It deliberately decides nothing: the protocols keep the rules.

/// The rules of one service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Whether a token must be fetched before writing.
    pub(crate) csrf: Csrf,
    /// Whether `If-Match` must be said where an entity has an ETag.
    pub(crate) if_match: IfMatch,
    /// Requests in one batch, those in change sets included; 413 beyond.
    pub(crate) batch_requests_max: usize,
    /// Bytes of one batch; 413 beyond.
    pub(crate) batch_bytes_max: usize,
    /// Bytes of one entity; 413 beyond.
    pub(crate) body_bytes_max: usize,
    /// Bytes of one array of plain REST, which is never gathered; 413 beyond.
    pub(crate) array_bytes_max: u64,
    /// Entities of one array of plain REST; 413 beyond.
    pub(crate) array_rows_max: u64,
    /// Who is said to have created and changed entities: nobody signs in yet.
    pub(crate) user: String,
}

/// Whether requests that write need a token (`X-CSRF-Token`) that was fetched before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Csrf {
    /// They do not.
    Off,
    /// They do, else 403.
    Required,
}

/// Whether changing an entity that has an ETag needs `If-Match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMatch {
    /// It does, else 428.
    Required,
    /// It does not; where it is said, it counts.
    Optional,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            csrf: Csrf::Off,
            if_match: IfMatch::Required,
            batch_requests_max: 20_000,
            batch_bytes_max: 64 << 20,
            body_bytes_max: 1 << 20,
            array_bytes_max: 256 << 20,
            array_rows_max: 1_000_000,
            user: "anonymous".to_owned(),
        }
    }
}
