//! Whether an answer is what was asked for, and how it failed where it is not.
//!
//! What it deliberately does not do: ask, or count.

pub mod checks;
pub(crate) mod compare;
pub(crate) mod content;
pub mod failure;
pub mod odata_batch;
pub(crate) mod read;
pub mod soap;
