//! The result of a single load, as it is printed and written as JSON.

use std::collections::BTreeMap;

use derive_more::AddAssign;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Arrivals, FirstRequest, PercentileIntervals, Percentiles, Staged, Tail, TcpCounts, ThresholdResult, Verdict, Within,
};

/// From this bound on, that the law was not broken says nothing.
const TELLING_BOUND_MAX: f64 = 0.1;

/// What a quick load found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct QuickResult {
    /// Of this document.
    pub format: u32,
    /// Of tollgate.
    pub version: String,
    /// When it began, in UTC (RFC 3339).
    pub started: String,
    /// The URL, without its secrets.
    pub url: String,
    /// What was loaded, as its first answer shows it.
    pub subject: Subject,
    /// How long connections live: `keep-alive`, `N requests each` or `one request each`.
    pub connection: String,
    /// Who asks: `closed`, users who wait for their answers, so that a stall of the server shows once for each; or
    /// `open`, at a rate, whatever the server does.
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
    /// What users who wait spent beyond the highest percentile that is printed; absent at a rate, and of few answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// For each percentage the time within which so many of the valid answers came, in milliseconds; without it where fewer
    /// than 30 took longer.
    pub served_within_ms: Vec<(f64, Option<f64>)>,
    /// Of these percentages those that have a 95 % interval, with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub served_within_interval_ms: Vec<(f64, Within)>,
    /// Those of these percentages that are another time without the generator's own delay, with that time in milliseconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undelayed_within_ms: Vec<(f64, f64)>,
    /// Where the time of valid answers went, as ApacheBench divides it; absent where there was none.
    pub connection_times_ms: Option<ConnectionTimes>,
    /// What was found of each stage, and over time by them; absent of a load that stays as it is.
    pub staged: Option<Staged>,
    /// The course over time; empty of a load without an answer.
    pub course: Vec<CoursePoint>,
    /// Points of the response time's distribution: share of requests (0 to 1) and the time in milliseconds.
    pub curve: Vec<(f64, f64)>,
    /// Head and body bytes received.
    pub bytes_received: u64,
    /// Of them bytes of bodies.
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
    /// Answers in the answers to batches, by status; empty where nothing was asked in batches.
    pub parts: BTreeMap<u16, u64>,
    /// Valid answers whose content was looked at: more than their status and their length.
    pub checked: u64,
    /// Handshakes of TLS; absent where there was none.
    pub handshakes: Option<Handshaken>,
    /// Where the time of requests that opened a connection went; absent where none did.
    pub phases: Option<PhaseTimes>,
    /// What a request that opened its connection took on the wire; absent where none did.
    pub first_request: Option<FirstRequest>,
    /// What was offered at a rate; absent where users asked as fast as they were answered.
    pub offered: Option<Offered>,
    /// The generator's CPU time for one request, in microseconds.
    pub generator_cpu_us_per_request: f64,
    /// CPU time of the generator's busiest thread by wall time: above 0.8 it is the limit.
    pub generator_cpu_share: f64,
    /// How late the generator noticed a timer of its own that rings each millisecond.
    pub generator_stalls_ms: Percentiles,
    /// What the kernel counted of TCP meanwhile, all programs together.
    pub tcp: TcpCounts,
    /// Users as they were asked for, held against what the records find; absent for a load that was cut off, at a rate,
    /// which has no users of its own, and in stages, in which they come and go.
    pub littles_law: Option<LittlesLaw>,
    /// What is to be thought of when the figures are read; empty where nothing is.
    pub validity: Vec<Mark>,
    /// What was expected of the figures (`--threshold`), and what came of it; empty where nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdResult>,
    /// Whether it was stopped before its bound.
    pub interrupted: bool,
}

/// What was loaded, as its first answer shows it.
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

/// Where the time of valid answers went, in milliseconds, as ApacheBench divides it.
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
    /// Least.
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
    /// Where it ends, in seconds from the start.
    pub until_s: f64,
    /// Valid answers per second.
    pub requests_per_second: f64,
    /// Their mean response time in milliseconds; absent where none came.
    pub response_time_ms: Option<f64>,
}

/// Handshakes of TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign, Serialize, JsonSchema)]
pub struct Handshaken {
    /// With certificates and signatures.
    pub full: u64,
    /// From an earlier connection's session.
    pub resumed: u64,
    /// Without a connection in the end.
    pub failed: u64,
}

/// Where the time of requests that opened a connection went, each part from the end of the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PhaseTimes {
    /// From the intended start until connecting began.
    pub waited_ms: Percentiles,
    /// Until TCP stood.
    pub connect_ms: Percentiles,
    /// Until TLS stood; absent without.
    pub tls_ms: Option<Percentiles>,
    /// From the send to the first byte of the answer.
    pub first_byte_ms: Percentiles,
    /// From there to its last byte.
    pub last_byte_ms: Percentiles,
    /// How many there were.
    pub n: u64,
}

/// What was offered at a rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Offered {
    /// Requests per second; in stages the most.
    pub rate_per_second: f64,
    /// How the intended starts lay: `constant` or `poisson`.
    pub arrivals: Arrivals,
    /// Seed of what was drawn.
    pub seed: u64,
    /// Requests that were to be sent.
    pub intended: u64,
    /// Those that were not, since all users were still waiting for answers at the end.
    pub unsent: u64,
    /// Users that were needed.
    pub users: u64,
    /// How long after their intended start requests were begun.
    pub lateness_ms: Percentiles,
    /// The part of that which is the generator's own doing: a user was there, or none was only from then on.
    pub overdue_ms: Percentiles,
}

/// A doubt about figures, or why they must not be read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mark {
    /// Which rule.
    pub rule: &'static str,
    /// `marked`, or `refused` where the figures must not be read.
    pub verdict: Verdict,
    /// What was found.
    pub reason: String,
    /// What to do about it.
    pub remedy: &'static str,
    /// The number that decided.
    pub value: f64,
    /// Its bound.
    pub bound: f64,
}

impl QuickResult {
    /// Whether the figures must not be read.
    pub fn is_refused(&self) -> bool {
        self.validity.iter().any(|mark| mark.verdict == Verdict::Refused)
    }
}

/// Users, and what the records find of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LittlesLaw {
    /// Users as they were asked for.
    pub users: u64,
    /// Users as answers and response times find them.
    pub found: f64,
    /// The share by which they differ.
    pub off: f64,
    /// The largest share that is allowed: 1 %, or two mean response times by the span of a trial if that is more, of
    /// fewer than 10 answers 10 ms; and on top of it the share of the time for which the generator may have had no core
    /// between two reads of the clock.
    pub bound: f64,
    /// That share.
    pub without_core: f64,
    /// Whether it holds; absent where so much is allowed, 10 % or more, that it would hold in any case.
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

    /// What is found, in words.
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

/// Times of nothing are none. No answer takes no time, so that the largest tells whether there was one.
fn of_any<S: serde::Serializer>(times: &Percentiles, serializer: S) -> Result<S::Ok, S::Error> {
    (times.max > 0.0).then_some(times).serialize(serializer)
}
