//! HTTP for any message and protocol: negotiation, conditions, caching directives, fields and answers.
//!
//! It knows no service and no fault: the caller decides what follows.

pub(crate) mod accept;
pub(crate) mod answer;
pub mod cache_control;
pub(crate) mod conditions;
pub(crate) mod data_version;
pub(crate) mod headers;
pub(crate) mod rest_format;

use tollgate_net::stream::Transport;

/// Methods of read-only resources.
pub(crate) const READING: &str = "GET, HEAD, OPTIONS";

/// URL scheme of the client's connection.
pub(crate) fn scheme(transport: Transport) -> &'static str {
    match transport {
        Transport::Plain => "http",
        Transport::Tls { .. } => "https",
    }
}
