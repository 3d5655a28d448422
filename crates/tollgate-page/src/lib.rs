//! The parts of a page: its blocks, charts as inline SVG, numbers as people read them, a result in words, and the
//! sections that several kinds of work share.
//!
//! It knows no kind of experiment, whose page is in the kind's own folder, and no format, which renders blocks.

pub mod blocks;
pub mod chart;
pub mod gather;
pub mod number;
pub mod parts;
pub mod text;
pub mod words;
