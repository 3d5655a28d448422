//! Verbs of the gateway: serve, generate, and tools for its configuration.
//!
//! Their work is the gateway's, and TLS is the net's.

pub(crate) mod cert;
pub(crate) mod generate;
pub(crate) mod password;
pub(crate) mod serve;
