//! The formats of a page, or of a result for machines: one file each.
//!
//! Page formats know blocks and no result; no format knows a kind of work.

pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod jtl;
pub(crate) mod junit;
pub(crate) mod markdown;
mod options;
pub(crate) mod terminal;

pub use options::{Colour, RenderOptions};
