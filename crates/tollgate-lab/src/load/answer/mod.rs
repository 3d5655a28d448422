//! Whether an answer is what was asked for, and how it failed where it is not.
//!
//! What it deliberately does not do: ask, or count.

pub mod checks;
pub(crate) mod compare;
pub(crate) mod content;
pub mod failure;
pub mod json;
pub mod odata_batch;
pub(crate) mod read;
pub mod soap;

/// Whether the content of answers is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was, and was right.
    Right,
    /// Nothing is known of it.
    Unknown,
}
