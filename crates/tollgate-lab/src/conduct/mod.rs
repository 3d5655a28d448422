//! What every run has, whatever kind it is of: what it is asked, whom it tells, its book, its folder, and the one conductor
//! of its blocks.
//!
//! What it deliberately does not do: know how anything is measured (see [`crate::kinds`]).

pub(crate) mod book;
pub(crate) mod conductor;
pub(crate) mod finite;
mod looking;
pub(crate) mod options;
pub(crate) mod series;
pub(crate) mod stop;
pub(crate) mod store;
