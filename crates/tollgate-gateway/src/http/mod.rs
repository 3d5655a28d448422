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

use tollgate_net::stream::Transport;

/// The methods of what can only be read.
pub(crate) const READING: &str = "GET, HEAD, OPTIONS";

/// How a client reached us, as URLs have it.
pub(crate) fn scheme(transport: Transport) -> &'static str {
    match transport {
        Transport::Plain => "http",
        Transport::Tls { .. } => "https",
    }
}
