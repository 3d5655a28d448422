//! The common parts of all kinds of runs: options, observer, book, folder, and the one conductor of blocks.
//!
//! It does not know how anything is measured (see [`crate::kinds`]).

pub(crate) mod book;
pub(crate) mod conductor;
pub(crate) mod finite;
mod looking;
pub(crate) mod options;
pub(crate) mod series;
pub(crate) mod stop;
pub(crate) mod store;
