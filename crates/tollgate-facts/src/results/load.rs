//! The result of a single load, as it is printed and written as JSON.

use std::collections::BTreeMap;

use derive_more::AddAssign;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Arrivals, FirstRequest, PercentileIntervals, Percentiles, Played, Staged, Tail, TcpCounts, ThresholdResult,
    Verdict, Within,
};

/// Smallest bound at which the law says nothing: it would be met in any case.
const TELLING_BOUND_MAX: f64 = 0.1;

/// Results of a quick load.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct QuickResult {
    /// Format of this document.
    pub format: u32,
    /// Version of tollgate.
    pub version: String,
    /// Start time, in UTC (RFC 3339).
    pub started: String,
    /// The URL, without its secrets.
    pub url: String,
    /// The server under load, as its first answer shows it.
    pub subject: Subject,
    /// Lifetime of connections: `keep-alive`, `N requests each` or `one request each`.
    pub connection: String,
    /// The load model: `closed`, users who wait for their answers, so that a stall of the server delays each user once;
    /// or `open`, at a rate, independent of the server.
    pub model: &'static str,
    /// Users, at a rate the most that there might be.
    pub concurrency: usize,
    /// Valid answers: whole ones that were as they had to be, with a status of 2xx if nothing else was wanted.
    pub requests: u64,
    /// Failed requests by class.
    pub errors: BTreeMap<String, u64>,
    /// The first failure's text for each class.
    pub error_examples: BTreeMap<String, String>,
    /// From the first request to the last answer.
    pub duration_ms: f64,
    /// Valid answers per second.
    pub requests_per_second: f64,
    /// From the intended start to the last byte; absent where there was no valid answer.
    #[serde(serialize_with = "of_any")]
    #[schemars(with = "Option<Percentiles>")]
    pub response_time_ms: Percentiles,
    /// The 95 % intervals of its percentiles, over stretches of the load's time; absent of a load that has no percentiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_interval_ms: Option<PercentileIntervals>,
    /// From the send to the last byte; absent where there was no valid answer.
    #[serde(serialize_with = "of_any")]
    #[schemars(with = "Option<Percentiles>")]
    pub service_time_ms: Percentiles,
    /// The response time without the generator's own delay: for how long each answer lay unread, and how late its request was
    /// begun. Absent where the kernel does not say when answers came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undelayed_ms: Option<Percentiles>,
    /// Time of users who wait beyond the highest percentile that is printed; absent at a rate, and of few answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// For each percentage, the time within which this share of the valid answers came, in milliseconds; without it if
    /// fewer than 30 took longer.
    pub served_within_ms: Vec<(f64, Option<f64>)>,
    /// The percentages that have a 95 % interval, with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub served_within_interval_ms: Vec<(f64, Within)>,
    /// The percentages whose time differs without the generator's own delay, with that time in milliseconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undelayed_within_ms: Vec<(f64, f64)>,
    /// The parts of the time of valid answers, as ApacheBench divides it; absent if there was none.
    pub connection_times_ms: Option<ConnectionTimes>,
    /// Results of each stage, and over time by them; absent of a load that stays as it is.
    pub staged: Option<Staged>,
    /// The seed of a scenario's think times and random rows; absent of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The iterations and steps of a scenario; absent of others. Its requests are in the other figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<Played>,
    /// The course over time; empty of a load without an answer.
    pub course: Vec<CoursePoint>,
    /// Points of the response time's distribution: share of requests (0 to 1) and the time in milliseconds.
    pub curve: Vec<(f64, f64)>,
    /// Head and body bytes received.
    pub bytes_received: u64,
    /// Bytes of bodies among them.
    pub body_bytes_received: u64,
    /// Head and body bytes sent.
    pub bytes_sent: u64,
    /// Bytes received below TLS, its handshakes included.
    pub wire_bytes_received: u64,
    /// Bytes sent below TLS, its handshakes included.
    pub wire_bytes_sent: u64,
    /// Connections opened.
    pub connections: u64,
    /// Answers after which the connection went on, as far as the server is concerned.
    pub kept_alive: u64,
    /// Answers with a status outside 2xx, wanted or not.
    pub other_statuses: u64,
    /// Answers in the answers to batches, by status; empty without batches.
    pub parts: BTreeMap<u16, u64>,
    /// Valid answers whose content was looked at: more than their status and their length.
    pub checked: u64,
    /// Handshakes of TLS; absent where there was none.
    pub handshakes: Option<Handshaken>,
    /// The parts of the time of requests that opened a connection; absent if none did.
    pub phases: Option<PhaseTimes>,
    /// Cost on the wire of a request that opened its connection; absent if none did.
    pub first_request: Option<FirstRequest>,
    /// The offered rate; absent if users asked as fast as they were answered.
    pub offered: Option<Offered>,
    /// The generator's CPU time for one request, in microseconds.
    pub generator_cpu_us_per_request: f64,
    /// CPU time of the generator's busiest thread by wall time: above 0.8 it is the limit.
    pub generator_cpu_share: f64,
    /// Delay with which the generator noticed a timer of its own that rings each millisecond.
    pub generator_stalls_ms: Percentiles,
    /// TCP counters of the kernel during the load, all programs together.
    pub tcp: TcpCounts,
    /// Users as requested, compared with those that the records find; absent for a load that was cut off, at a rate,
    /// which has no users of its own, and in stages, in which they come and go.
    pub littles_law: Option<LittlesLaw>,
    /// Doubts about the figures; empty if there are none.
    pub validity: Vec<Mark>,
    /// Thresholds for the figures (`--threshold`) with their outcomes; empty if there were none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdResult>,
    /// Whether it was stopped before its bound.
    pub interrupted: bool,
}

/// The server under load, as its first answer shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Subject {
    /// The `Server` field; empty without.
    pub software: String,
    /// Host name or address.
    pub hostname: String,
    /// Port.
    pub port: u16,
    /// Version of TLS, cipher suite and the bits of its key; absent without TLS.
    pub tls: Option<String>,
    /// Path and query.
    pub path: String,
    /// Bytes of the first answer's body; absent where there was no answer.
    pub document_bytes: Option<u64>,
    /// Its status; absent where there was no answer.
    pub status: Option<u16>,
}

/// The parts of the time of valid answers, in milliseconds, as ApacheBench divides it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct ConnectionTimes {
    /// Connecting, with the handshake of TLS; 0 for answers on a connection that was there.
    pub connect: Spread,
    /// From the send to the last byte.
    pub processing: Spread,
    /// From the send to the first byte.
    pub waiting: Spread,
    /// From the intended start to the last byte.
    pub total: Spread,
}

/// A distribution in five numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Median; absent where fewer than 30 took longer.
    pub median: Option<f64>,
    /// Largest.
    pub max: f64,
}

/// A piece of the course over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CoursePoint {
    /// Its end, in seconds from the start.
    pub until_s: f64,
    /// Valid answers per second.
    pub requests_per_second: f64,
    /// Their mean response time in milliseconds; absent where none came.
    pub response_time_ms: Option<f64>,
}

/// Handshakes of TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign, Serialize, JsonSchema)]
pub struct Handshaken {
    /// Handshakes with certificates and signatures.
    pub full: u64,
    /// Handshakes that resumed an earlier connection's session.
    pub resumed: u64,
    /// Handshakes that failed.
    pub failed: u64,
}

/// The parts of the time of requests that opened a connection, each from the end of the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PhaseTimes {
    /// From the intended start until connecting began.
    pub waited_ms: Percentiles,
    /// Until TCP was connected.
    pub connect_ms: Percentiles,
    /// Until the TLS handshake was complete; absent without TLS.
    pub tls_ms: Option<Percentiles>,
    /// From the send to the first byte of the answer.
    pub first_byte_ms: Percentiles,
    /// From there to its last byte.
    pub last_byte_ms: Percentiles,
    /// Number of these requests.
    pub n: u64,
}

/// The load offered at a rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Offered {
    /// Requests per second; in stages the most.
    pub rate_per_second: f64,
    /// Distribution of the intended starts: `constant` or `poisson`.
    pub arrivals: Arrivals,
    /// Seed of the random draws.
    pub seed: u64,
    /// Requests that were to be sent.
    pub intended: u64,
    /// Requests that were not begun, since all users were still waiting for answers at the end.
    pub unsent: u64,
    /// Users that were needed.
    pub users: u64,
    /// Delay between the intended start and the begin of requests.
    pub lateness_ms: Percentiles,
    /// The part of that which is the generator's own doing: a user was there, or none was only from then on.
    pub overdue_ms: Percentiles,
}

/// A doubt about figures, or the reason for their refusal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mark {
    /// The rule.
    pub rule: &'static str,
    /// `marked`, or `refused` if the figures are not valid.
    pub verdict: Verdict,
    /// The finding.
    pub reason: String,
    /// The remedy.
    pub remedy: &'static str,
    /// The number that decided.
    pub value: f64,
    /// Its bound.
    pub bound: f64,
}

impl QuickResult {
    /// Whether the figures are refused.
    pub fn is_refused(&self) -> bool {
        self.validity.iter().any(|mark| mark.verdict == Verdict::Refused)
    }
}

/// Users, and their number according to the records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LittlesLaw {
    /// Requested number of users.
    pub users: u64,
    /// Users as answers and response times find them.
    pub found: f64,
    /// The share by which they differ.
    pub off: f64,
    /// The largest share that is allowed: 1 %, or two mean response times by the span of a trial if that is more, of
    /// fewer than 10 answers 10 ms; and on top of it the share of the time for which the generator may have had no core
    /// between two reads of the clock.
    pub bound: f64,
    /// The share of the time for which the generator may have had no core.
    pub without_core: f64,
    /// Whether the law is met; absent if the bound is so large, 10 % or more, that it would be met in any case.
    pub holds: Option<bool>,
}

impl LittlesLaw {
    /// The law where `share` of the users' time is off and `bound` is allowed.
    pub fn new(users: u64, share: f64, bound: f64) -> LittlesLaw {
        let off = (share - 1.0).abs();
        LittlesLaw { users, found: users as f64 * share, off, bound, without_core: 0.0, holds: holds(off, bound) }
    }

    /// The same, where a thread of the generator had no core for this share of the time: that may fall between two reads
    /// of the clock rather than into a record.
    pub fn without_core(self, share: f64) -> LittlesLaw {
        let bound = (self.bound + share).min(1.0);
        LittlesLaw { bound, without_core: share, holds: holds(self.off, bound), ..self }
    }

    /// Whether the records contradict the clock.
    pub fn is_broken(&self) -> bool {
        self.holds == Some(false)
    }

    /// The finding, in words.
    pub fn verdict(&self) -> String {
        let share = self.without_core;
        match self.holds {
            Some(true) => "holds".to_owned(),
            Some(false) => "does not hold".to_owned(),
            None if self.bound - share < TELLING_BOUND_MAX => {
                format!("cannot be told: the generator may have had no core for {:.0} % of the time", share * 100.0)
            }
            None => "too few requests to check".to_owned(),
        }
    }
}

fn holds(off: f64, bound: f64) -> Option<bool> {
    match off <= bound {
        false => Some(false),
        true => (bound < TELLING_BOUND_MAX).then_some(true),
    }
}

/// The times of at least one answer, else none. No answer takes no time, so the largest shows whether there was one.
fn of_any<S: serde::Serializer>(times: &Percentiles, serializer: S) -> Result<S::Ok, S::Error> {
    (times.max > 0.0).then_some(times).serialize(serializer)
}
