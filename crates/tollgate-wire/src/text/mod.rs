//! Texts of values and their escapes, independent of models and documents.
//!
//! It deliberately decides nothing: its callers place the texts.

pub mod base64;
pub mod csp;
pub mod date;
pub mod decimal;
pub mod escape;
pub mod number;
pub mod suggest;
