//! TLS over a connection, each side in a file of its own: [`client`] asks, [`server`] is asked.
//!
//! Both are rustls on ring. The content of the connection is not known here.

mod agreement;
pub mod authority;
mod certificate;
mod channel;
pub mod client;
mod der;
pub mod flow;
mod names;
mod records;
mod scratch;
pub mod server;
pub mod speed;

pub use agreement::{HandshakeKind, Transport, Version};
pub use certificate::{AlternativeName, PeerCertificate, PublicKey};
pub use client::{
    Agreed, Client, ClientSettings, Handshake, Over, Resumption, ServerNameSent, Sessions, Suite, TlsChoice, Upgrade,
};
