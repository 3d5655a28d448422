//! The agreement of both sides of a connection: the version, the kind of handshake, and the way its bytes travel.
//!
//! It describes a connection and touches none.

use std::str::FromStr;

use rustls::SupportedProtocolVersion;

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// RFC 5246.
    Tls12,
    /// RFC 8446.
    Tls13,
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Version, String> {
        let named = Version::ALL.iter().find(|version| version.number() == text);
        named.copied().ok_or_else(|| format!("1.2 or 1.3 is expected, but `{text}` was given"))
    }
}

impl Version {
    /// Every version, the oldest first.
    pub const ALL: &[Version] = &[Version::Tls12, Version::Tls13];

    /// The number, as in configurations: `1.2`.
    #[must_use]
    pub fn number(self) -> &'static str {
        match self {
            Version::Tls12 => "1.2",
            Version::Tls13 => "1.3",
        }
    }

    pub(crate) fn supported(self) -> &'static SupportedProtocolVersion {
        match self {
            Version::Tls12 => &rustls::version::TLS12,
            Version::Tls13 => &rustls::version::TLS13,
        }
    }
}

/// The kind of handshake that opened a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeKind {
    /// With certificates and signatures.
    Full,
    /// From an earlier connection's session.
    Resumed,
}

/// The way in which the bytes of a connection travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Unencrypted.
    Plain,
    /// Encrypted.
    Tls {
        /// The version of TLS.
        version: Version,
        /// The cipher suite by its registered name.
        cipher: &'static str,
        /// Whether the handshake resumed an earlier session.
        resumed: bool,
    },
}
