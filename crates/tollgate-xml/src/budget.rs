//! What one document, one expression and one transformation may take: the table of limits.
//!
//! Hostile input meets a limit and gets an [`Error`] of the kind [`ErrorKind::Budget`] that names it; nothing here measures
//! time.

use crate::error::{Error, ErrorKind};

/// The limits. All of them hold for each document or run by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of a document, before it is read.
    pub document_bytes_max: usize,
    /// Elements that stand in each other.
    pub depth_max: usize,
    /// Nodes of a document: elements, attributes, texts, comments, processing instructions.
    pub nodes_max: usize,
    /// Attributes of one element, namespace declarations among them.
    pub attributes_max: usize,
    /// Bytes of one text or attribute value.
    pub text_bytes_max: usize,
    /// Bytes that entities of an internal subset may expand to, where such are read at all.
    pub entity_bytes_max: usize,
    /// Bytes of a result.
    pub output_bytes_max: usize,
    /// Instructions and steps of one transformation or evaluation.
    pub instructions_max: u64,
    /// Templates that may call each other in a row.
    pub template_depth_max: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            document_bytes_max: 64 * 1024 * 1024,
            depth_max: 512,
            nodes_max: 10_000_000,
            attributes_max: 1024,
            text_bytes_max: 16 * 1024 * 1024,
            entity_bytes_max: 1024 * 1024,
            output_bytes_max: 64 * 1024 * 1024,
            instructions_max: 100_000_000,
            template_depth_max: 1000,
        }
    }
}

/// The error for a limit that was reached.
pub(crate) fn exceeded(what: &str, limit: u64) -> Error {
    Error::new(ErrorKind::Budget, format!("{what}: more than the limit of {limit}"))
}
