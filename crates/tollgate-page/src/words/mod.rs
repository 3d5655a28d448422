//! A result in words: put in the order in which pages show it, with what is in doubt of each figure.
//!
//! It knows results and their statistics; it lays nothing out.

pub mod headline;
pub mod marked;
pub(crate) mod peers;
pub mod sentence;
pub mod terms;
pub mod thresholds;
pub mod view;
