//! Texts of values and their escapes: what knows neither a model nor a document.
//!
//! It deliberately decides nothing: which text stands where is the business of those above.

pub mod base64;
pub mod date;
pub mod decimal;
pub mod escape;
pub mod number;
pub mod suggest;
