//! Stored results of connections and their encryption: the meaning of levels, the way users connect, the cost of
//! handshakes, the response times at a rate that all variants were offered, the messages on the wire, and the speed of
//! the cryptography.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figure::{GeneratorUse, PercentileIntervals, Percentiles, TcpCounts};
use crate::stats::Estimate;

/// A level that means a way of encrypting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NamedLevel {
    /// The level, as cells name it.
    pub level: u64,
    /// A few words for people, such as `TLS 1.3, P-256`.
    pub title: String,
    /// Version of TLS, such as `1.3`; where the server chose, as all connections negotiated it, or empty.
    pub tls: String,
    /// Kind of the server's key, such as `p256` or `rsa-2048`; where the server chose, as all connections saw it, or empty.
    pub key: String,
    /// Certificates that the server sends; where the server chose, as all connections saw them, or 0.
    pub chain: u32,
    /// Round-trip time to the subject over a line of packets; absent without a line.
    pub round_trip_ms: Option<f64>,
}

impl NamedLevel {
    /// The settings that levels of one way of encrypting share at any distance.
    pub fn way(&self) -> (&str, &str, u32) {
        (&self.tls, &self.key, self.chain)
    }

    /// Fills in the parameters that are not set and on which all `negotiated` connections agree.
    pub fn fill(&mut self, negotiated: &[&Negotiated]) {
        let Some(first) = negotiated.first() else { return };
        let agree = |alike: fn(&Negotiated, &Negotiated) -> bool| negotiated.iter().all(|other| alike(first, other));
        if self.tls.is_empty() && agree(|one, other| one.version == other.version) {
            self.tls.clone_from(&first.version);
        }
        if self.key.is_empty() && agree(|one, other| one.key == other.key) {
            self.key = first.key.clone().unwrap_or_default();
        }
        if self.chain == 0 && agree(|one, other| one.certificates == other.certificates) {
            self.chain = first.certificates;
        }
    }

    /// The title without the distance.
    pub fn way_title(&self) -> String {
        let distance = self.round_trip_ms.map(distance_words).unwrap_or_default();
        self.title.strip_suffix(&distance).unwrap_or(&self.title).to_owned()
    }
}

/// Suffix of a level's title for its distance.
pub fn distance_words(round_trip_ms: f64) -> String {
    format!(", {round_trip_ms} ms away")
}

/// Cost of a request on a fresh connection over a line: its time is `fixed_ms` plus this many round trips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTripCost {
    /// Variant.
    pub variant: String,
    /// The way of encrypting, in a few words.
    pub way: String,
    /// The slope of its time over the length of the line.
    pub round_trips: Estimate,
    /// The rest of its time at no distance.
    pub fixed_ms: Estimate,
    /// Number of times that the client waited for the server, as seen on the wire.
    pub seen: Option<f64>,
    /// Bytes received below the encryption.
    pub wire_bytes_received: Option<f64>,
    /// Rules of validity that marked cells behind it.
    #[serde(default)]
    pub marks: Vec<String>,
    /// The reason why it is no law; absent for a good line.
    pub doubt: Option<String>,
}

/// The parameters that connections of a cell negotiated, as they saw them themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Negotiated {
    /// Version of TLS, such as `1.3`.
    pub version: String,
    /// Cipher suite, by the name that OpenSSL has for it.
    pub suite: String,
    /// Kind of the server's key with its size, such as `p256` or `rsa-2048`; absent where it could not be read.
    pub key: Option<String>,
    /// Certificates that the server sent.
    pub certificates: u32,
    /// Group of the key exchange, such as `x25519`; absent where a session went on with the keys that it had.
    pub group: Option<String>,
    /// Protocol inside, as it was agreed on (ALPN); absent where the server chose none.
    pub protocol: Option<String>,
    /// Number of connections; one that is kept counts in each trial.
    pub connections: u64,
}

impl Negotiated {
    /// The parameters in a few words.
    pub fn words(&self) -> String {
        let group = self.group.as_ref().map_or_else(|| "no key exchange".to_owned(), String::clone);
        let protocol = self.protocol.as_ref().map_or_else(|| "no ALPN".to_owned(), |name| format!("ALPN {name}"));
        let Negotiated { version, suite, certificates, .. } = self;
        let s = if *certificates == 1 { "" } else { "s" };
        let key = self.key.as_deref().unwrap_or("unknown");
        format!("TLS {version}, {suite}, key {key}, {certificates} certificate{s}, {group}, {protocol}")
    }
}

/// The way in which the users of a variant connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connecting {
    /// Requests on one connection; absent: as many as the server keeps it for.
    pub requests_per_connection: Option<u32>,
    /// The encryption of a connection.
    pub encryption: Encryption,
}

/// The encryption of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Encryption {
    /// Not at all.
    #[default]
    Off,
    /// By a full handshake on each connection.
    Full,
    /// By resuming an earlier session on each connection.
    Resumed,
}

/// The connections of a cell, and their cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionUse {
    /// Connections opened in its trials.
    pub opened: u64,
    /// Full handshakes.
    pub handshakes_full: u64,
    /// Handshakes that resumed an earlier session.
    pub handshakes_resumed: u64,
    /// Handshakes that failed.
    pub handshakes_failed: u64,
    /// Handshakes per second, full and resumed.
    pub handshakes_per_second: f64,
    /// Bytes received below the encryption.
    pub wire_bytes_received: u64,
    /// Bytes sent below the encryption.
    pub wire_bytes_sent: u64,
    /// The parts of the time of requests that opened a connection.
    pub phases: Phases,
    /// Cost of a first request on a connection; absent if none was opened.
    pub first_request: Option<FirstRequest>,
}

/// Parts of the time of a request that opened its connection, each from the end of the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Phases {
    /// Until the connection was open.
    pub connect_ms: Percentiles,
    /// Until the handshake was done; without encryption empty.
    pub handshake_ms: Percentiles,
    /// Until the first byte of the answer.
    pub first_byte_ms: Percentiles,
    /// Until its last byte.
    pub last_byte_ms: Percentiles,
}

/// A first request on a connection, from its opening to the last byte of the answer, on average.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FirstRequest {
    /// Times that the client waited for the server, as it saw them, including that for the connection itself; absent if
    /// the kernel does not report it.
    pub round_trips: Option<f64>,
    /// Bytes sent below the encryption.
    pub wire_bytes_sent: f64,
    /// Bytes received below the encryption.
    pub wire_bytes_received: f64,
    /// Number of requests examined.
    pub n: u64,
    /// TCP segments of some of them, as the kernel counted them; absent if it does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<Segments>,
}

/// TCP segments of a first request until the answer was read (TCP_INFO), those without data included, on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segments {
    /// Sent.
    pub sent: f64,
    /// Received.
    pub received: f64,
    /// Sent again.
    pub retransmitted: f64,
    /// The kernel's smoothed round-trip time.
    pub round_trip_time_ms: f64,
    /// Number of requests for which the kernel was asked.
    pub n: u64,
}

/// A distribution of response times in bins of one width, from zero.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Linear {
    /// Width of a bin.
    pub bin_ms: f64,
    /// Answers in each bin, empty ones at the end left out.
    pub counts: Vec<u64>,
    /// Answers beyond the last bin that there may be.
    pub overflow: u64,
    /// Lower end of the overflow, in milliseconds.
    pub overflow_from_ms: f64,
    /// Share of the answers (0 to 1) that took longer than 200 ms.
    pub share_over_200_ms: f64,
}

/// Results of a cell whose requests came at a rate, independent of the subject.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EqualRate {
    /// Requests per second, the same for all variants of the level.
    pub rate_per_second: f64,
    /// The rate by the least throughput of the level's variants: it was chosen so, or named by the user.
    pub rate_share: f64,
    /// Distribution of the intended starts.
    pub arrivals: Arrivals,
    /// Requests that were to be sent.
    pub intended: u64,
    /// Requests that were sent.
    pub sent: u64,
    /// Requests that could not be sent, since all users were waiting.
    pub unsent: u64,
    /// Valid answers.
    #[serde(default)]
    pub answered: u64,
    /// Failed requests by class.
    #[serde(default)]
    pub errors: BTreeMap<String, u64>,
    /// The first failure's text for each class.
    #[serde(default)]
    pub error_examples: BTreeMap<String, String>,
    /// Full handshakes.
    #[serde(default)]
    pub handshakes_full: u64,
    /// Handshakes that resumed an earlier session.
    #[serde(default)]
    pub handshakes_resumed: u64,
    /// The parameters that its connections negotiated; empty without TLS, and in results that do not have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub negotiated: Vec<Negotiated>,
    /// Delay between the intended start and the sending of requests.
    pub lateness_ms: Percentiles,
    /// The part of that which is the generator's own doing: a user was there, or none was only from then on.
    #[serde(default)]
    pub overdue_ms: Percentiles,
    /// Resource use of the generator; zeros in results that do not have it.
    #[serde(default)]
    pub generator: GeneratorUse,
    /// Cores that the subject kept busy meanwhile; absent where it was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_cores: Option<Estimate>,
    /// TCP counters of the kernel in its network namespace, all programs together.
    pub tcp: Option<TcpCounts>,
    /// From the intended start to the last byte, valid answers only.
    pub response_time_ms: Percentiles,
    /// The intervals of its percentiles; absent in results that do not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_interval_ms: Option<PercentileIntervals>,
    /// The same without the generator's own delay; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undelayed_ms: Option<Percentiles>,
    /// The same in bins of one width.
    pub linear: Linear,
    /// The same by groups of blocks, behind the tolls on percentiles.
    pub groups: Vec<RateGroup>,
}

/// Distributions of the intended starts of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, derive_more::Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Equally far apart.
    #[default]
    Constant,
    /// Like a Poisson process.
    Poisson,
}

/// Response times at equal rate over some neighbouring blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateGroup {
    /// Its number, from 0; the same blocks for all variants of a level.
    pub group: u32,
    /// Blocks in it.
    pub blocks: u32,
    /// Valid answers.
    pub requests: u64,
    /// Median.
    pub p50_ms: Option<f64>,
    /// 95th percentile.
    pub p95_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
}

/// The messages of one request on a fresh connection, in the order in which the client saw them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// A few words for people, such as `TLS 1.3, resumed`.
    pub title: String,
    /// The level whose listener was used.
    pub level: u64,
    /// The kind of handshake.
    pub encryption: Encryption,
    /// The messages.
    pub steps: Vec<FlowStep>,
    /// Exchanges that the times are medians of.
    pub n: u32,
}

/// A message of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowStep {
    /// The sender.
    pub from: FlowSide,
    /// The message, such as `ClientHello`.
    pub what: String,
    /// The time when the client sent or received it, since it began to connect.
    pub at_us: f64,
    /// Its bytes on the wire; 0 for messages of TCP itself.
    pub bytes: u64,
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowSide {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// Speed of one part of the cryptography on one core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CryptoSpeed {
    /// The operation: `sign`, or `encrypt`.
    pub operation: String,
    /// The algorithm, such as `RSA-2048` or `AES-128-GCM`.
    pub algorithm: String,
    /// The speed.
    pub value: f64,
    /// Unit of the value: `1/s`, or `MB/s`.
    pub unit: String,
    /// The same with its 95 % interval over the slices; absent in results that do not have it.
    pub estimate: Option<Estimate>,
    /// CPU time of one slice.
    #[serde(default)]
    pub slice_ms: f64,
}

/// The most that was seen of something that a subject has a limit for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peak {
    /// Variant.
    pub variant: String,
    /// Level.
    pub level: u64,
    /// The series: `work-processes-busy`, `subject-threads` ...
    pub name: String,
    /// The most that was seen.
    pub value: f64,
    /// The limit; absent if there is none, or the subject does not report it.
    pub limit: Option<f64>,
    /// Unit of both.
    pub unit: String,
}
