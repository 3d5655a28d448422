//! Verbs of the gateway: serve, generate, and what its configuration needs.
//!
//! Deliberately not here: what they do (the gateway, and TLS of the net).

pub(crate) mod cert;
pub(crate) mod generate;
pub(crate) mod password;
pub(crate) mod serve;
