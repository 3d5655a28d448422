//! Kinds of experiments: what each measures and how.
//!
//! What it deliberately does not do: order blocks, or store anything (see [`crate::conduct`]).

pub(crate) mod distance;
pub(crate) mod http;
