//! Judgement of answers: whether one is right, and otherwise how it failed.
//!
//! It sends no requests and counts nothing.

pub mod checks;
pub(crate) mod compare;
pub(crate) mod content;
pub mod failure;
pub mod json;
pub mod odata_batch;
pub(crate) mod read;
pub mod soap;

/// Whether the content of an answer is known to be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Checked, and right.
    Right,
    /// Not checked.
    Unknown,
}
