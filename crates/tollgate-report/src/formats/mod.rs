//! The forms in which a page, or what machines read of a result, is written: one file each.
//!
//! Those of pages know blocks and no result; nobody here knows a kind of work.

pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod jtl;
pub(crate) mod junit;
pub(crate) mod markdown;
mod options;
pub(crate) mod terminal;

pub use options::{Colour, RenderOptions};
