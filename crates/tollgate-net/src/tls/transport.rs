//! How the bytes of a connection travel: as they are, or encrypted and by which agreement.
//!
//! It describes a connection and touches none.

use super::server::Version;

/// How the bytes of a connection travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// As they are.
    Plain,
    /// Encrypted.
    Tls {
        /// The version of TLS.
        version: Version,
        /// The cipher suite by its registered name.
        cipher: &'static str,
        /// Whether the handshake took up an earlier session.
        resumed: bool,
    },
}
