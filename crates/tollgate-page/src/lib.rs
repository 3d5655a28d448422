//! What a page is made of: its blocks, charts as inline SVG, numbers as people read them, a result in words, and the
//! sections that several kinds of work share.
//!
//! What it deliberately does not do: know a kind of experiment, whose page stands in the kind's own folder, or a format,
//! which renders blocks.

pub mod blocks;
pub mod chart;
pub mod gather;
pub mod number;
pub mod parts;
pub mod text;
pub mod words;
