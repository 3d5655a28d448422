//! What HTTP says about any message, whoever speaks it: negotiation, conditions, caching directives, fields and answers.
//!
//! It deliberately knows no service and no fault: whoever asks decides what follows.

pub(crate) mod accept;
pub(crate) mod answer;
pub mod cache_control;
pub(crate) mod conditions;
pub(crate) mod data_version;
pub(crate) mod headers;
pub(crate) mod rest_format;

/// The methods of what can only be read.
pub(crate) const READING: &str = "GET, HEAD, OPTIONS";
