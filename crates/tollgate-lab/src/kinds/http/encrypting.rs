//! Encryption as the subject of an experiment: ways of encrypting as levels, and their common settings.
//!
//! It does not make a certificate or open a connection (see [`super::subjects::secured`]).

use std::time::Duration;

use tollgate_facts::results::Arrivals;

/// Settings of an experiment that sweeps encryption.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Encrypting {
    /// The ways of encrypting: the first one is level 1. Empty for an existing server, which has its own.
    pub(crate) levels: Vec<EncryptionLevel>,
    /// Time over which users come before anything counts.
    pub(crate) ramp_up: Duration,
    /// Authentication of users.
    pub(crate) authentication: Authentication,
    /// The load at equal rate; absent: none.
    pub(crate) equal_rate: Option<EqualRateShape>,
}

/// One way of encrypting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EncryptionLevel {
    /// The version of TLS.
    pub(crate) version: TlsVersion,
    /// The kind of the server's key.
    pub(crate) key: KeyKind,
    /// Certificates that the server sends.
    pub(crate) chain: u32,
    /// Round trip to the subject over a line of packets; absent: on this machine without a line.
    pub(crate) round_trip: Option<Duration>,
}

impl Encrypting {
    /// The way of a level.
    pub(crate) fn level(&self, level: u64) -> Option<&EncryptionLevel> {
        self.levels.get(usize::try_from(level).ok()?.checked_sub(1)?)
    }

    /// Whether the subjects are at a distance: all levels name one, or none does.
    pub(crate) fn is_afar(&self) -> bool {
        self.levels.iter().any(|level| level.round_trip.is_some())
    }
}

/// The versions of TLS that can be measured, by their names in files and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display, serde::Deserialize, schemars::JsonSchema)]
pub(crate) enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "1.2")]
    #[display("1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "1.3")]
    #[display("1.3")]
    Tls13,
}

/// The kinds of a server's key that can be measured, by their names in files, in results, and for `tollgate cert`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display, serde::Deserialize, schemars::JsonSchema)]
pub(crate) enum KeyKind {
    /// ECDSA on P-256.
    #[serde(rename = "p256")]
    #[display("p256")]
    P256,
    /// RSA with 2048 bits.
    #[serde(rename = "rsa-2048")]
    #[display("rsa-2048")]
    Rsa2048,
    /// RSA with 4096 bits.
    #[serde(rename = "rsa-4096")]
    #[display("rsa-4096")]
    Rsa4096,
}

/// Authentication of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Authentication {
    /// None.
    #[default]
    Anonymous,
    /// With name and password in every request, without a challenge.
    Basic,
}

/// The load at equal rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EqualRateShape {
    /// Size of the rate.
    pub(crate) size: RateSize,
    /// Distribution of the intended starts.
    pub(crate) arrivals: Arrivals,
}

/// Size of a rate that all variants of a level are offered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RateSize {
    /// A share of the least throughput that the closed load found among the variants of the level.
    Share(f64),
    /// A number of requests per second.
    PerSecond(f64),
}

impl EncryptionLevel {
    /// Whether one listener serves both: they differ at most in their distance.
    pub(crate) fn is_alike(&self, other: &EncryptionLevel) -> bool {
        (self.version, self.key, self.chain) == (other.version, other.key, other.chain)
    }
}
