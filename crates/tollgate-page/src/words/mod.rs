//! A result in words: in the order of the pages, with the doubts about each figure.
//!
//! It knows results and their statistics; it lays nothing out.

pub mod headline;
pub mod marked;
pub(crate) mod peers;
pub mod sentence;
pub mod terms;
pub mod thresholds;
pub mod view;
