//! What encryption is to an experiment that sweeps it: ways of encrypting as levels, and what all of them share.
//!
//! What it deliberately does not do: make a certificate or open a connection (see [`super::subjects::secured`]).

use std::time::Duration;

use tollgate_facts::results::Arrivals;

/// What is swept when encryption is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Encrypting {
    /// The ways of encrypting: the first one is level 1. None where a server that is there already has what it has.
    pub(crate) levels: Vec<EncryptionLevel>,
    /// Over which time they come before anything counts.
    pub(crate) ramp_up: Duration,
    /// Whether they say who they are.
    pub(crate) authentication: Authentication,
    /// What is offered at equal rate; absent: nothing.
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
    /// How far away the subject is, over a line of packets; absent: on this machine without a line.
    pub(crate) round_trip: Option<Duration>,
}

impl Encrypting {
    /// The way of a level.
    pub(crate) fn level(&self, level: u64) -> Option<&EncryptionLevel> {
        self.levels.get(usize::try_from(level).ok()?.checked_sub(1)?)
    }

    /// Whether the subjects are far away: all levels say how far, or none does.
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

/// Whether users say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Authentication {
    /// No.
    #[default]
    Anonymous,
    /// By name and password with every request, without being asked.
    Basic,
}

/// What is offered at equal rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EqualRateShape {
    /// How large the rate is.
    pub(crate) size: RateSize,
    /// How the intended starts lie.
    pub(crate) arrivals: Arrivals,
}

/// How large a rate is that all variants of a level are offered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RateSize {
    /// A share of the least throughput that the closed load found among the variants of the level.
    Share(f64),
    /// So many requests per second.
    PerSecond(f64),
}

impl EncryptionLevel {
    /// Whether one listener serves both: they differ in their distance at most.
    pub(crate) fn is_alike(&self, other: &EncryptionLevel) -> bool {
        (self.version, self.key, self.chain) == (other.version, other.key, other.chain)
    }
}
