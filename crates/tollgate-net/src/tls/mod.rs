//! TLS over a connection, each side in a file of its own; so far [`client`], which asks.
//!
//! Both are rustls on ring. What is said inside the connection is not known here.

pub mod client;

pub use client::{HandshakeKind, Over, Resumption, TlsChoice, Upgrade, client_config, handshake};
