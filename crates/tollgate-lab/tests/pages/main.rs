//! Pages of every kind of experiment in every format, from results as they may come out.
//!
//! Nothing is measured here.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod generated;
mod headlines;
mod html;
mod marked;
mod reporters;
