//! What a quick load found, as it is printed and written as JSON.
//!
//! Here stands what is made of the records; how it is laid out is the command line's.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use tollgate_net::http1::client::Target;

use super::marks::{self, Evidence, Mark};
use super::rows::Short;
use super::{QuickLoad, Rate};
use crate::cells;
use crate::load::connections::{FirstRequests, Phases};
use crate::load::course::BIN;
use crate::load::little::{self, LittlesLaw};
use crate::load::model::Arrivals;
use crate::load::recorder::{Recorder, Tally};
use crate::load::target::Connection;
use crate::probe::generator::ThreadsUsed;
use crate::probe::meter::Passed;
use crate::probe::network::TcpCounts;
use crate::results::{Percentiles, Staged, Verdict};
use crate::secret;
use crate::stats::percentile;
use crate::validity::Settling;

/// What a quick load found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
    /// From the send to the last byte; absent where there was no valid answer.
    #[serde(serialize_with = "of_any")]
    #[schemars(with = "Option<Percentiles>")]
    pub service_time_ms: Percentiles,
    /// For each percentage the time within which so many of the valid answers came, in milliseconds; without it where fewer
    /// than 30 took longer.
    pub served_within_ms: Vec<(f64, Option<f64>)>,
    /// Where the time of valid answers went, as ApacheBench divides it; absent where there was none.
    pub connection_times_ms: Option<ConnectionTimes>,
    /// What was found of each stage, and over time by them; absent of a load that stays as it is.
    pub staged: Option<Staged>,
    /// The course over time; empty where it was not asked for.
    pub course: Vec<Course>,
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
pub struct Course {
    /// Where it ends, in seconds from the start.
    pub until_s: f64,
    /// Valid answers per second.
    pub requests_per_second: f64,
    /// Their mean response time in milliseconds; absent where none came.
    pub response_time_ms: Option<f64>,
}

/// Handshakes of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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

/// A request that opened its connection, from connecting to the last byte, on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FirstRequest {
    /// Times that the client waited for the server: once for TCP, then each time that bytes came back after some were
    /// sent.
    pub round_trips: f64,
    /// Bytes sent below TLS.
    pub wire_bytes_sent: f64,
    /// Bytes received below TLS.
    pub wire_bytes_received: f64,
    /// How many there were.
    pub n: u64,
    /// What the kernel counted of some of them; absent where it does not tell.
    pub segments: Option<Segments>,
}

/// TCP segments of a first request until the answer was read (TCP_INFO), those without data included, on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Segments {
    /// Sent.
    pub sent: f64,
    /// Received.
    pub received: f64,
    /// Sent again.
    pub retransmitted: f64,
    /// The kernel's smoothed round-trip time.
    pub round_trip_time_ms: f64,
    /// Of how many the kernel was asked.
    pub n: u64,
}

/// What was offered at a rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Offered {
    /// Requests per second; in stages the most.
    pub rate_per_second: f64,
    /// How the intended starts lay: `constant` or `poisson`.
    pub arrivals: &'static str,
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

/// Version of the document.
const FORMAT: u32 = 1;
/// Percentages of ab's table, and two that it leaves out.
const PERCENTAGES: [f64; 10] = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99];
/// Points of the course, at most.
const COURSE_POINTS_MAX: usize = 600;
const NS_PER_MS: f64 = 1e6;

/// What was seen of a load.
pub(super) struct Seen<'a> {
    pub(super) load: &'a QuickLoad,
    pub(super) target: &'a Target,
    pub(super) all: &'a Recorder,
    pub(super) took: Duration,
    pub(super) used: ThreadsUsed,
    pub(super) passed: Passed,
    pub(super) interrupted: bool,
}

impl Seen<'_> {
    /// What is made of it.
    pub(super) fn result(&self, started: jiff::Timestamp) -> QuickResult {
        let Seen { load, all, took, used, .. } = self;
        let tally = &all.tally;
        let asked = (tally.requests + tally.failures()).max(1);
        let wall_ms = took.as_secs_f64() * 1e3;
        let offered = load.rate.map(|rate| offered(rate, all));
        let run_queue_share = used.run_queue_max_ns as f64 / took.as_nanos().max(1) as f64;
        let stolen_share = self.passed.ticks.stolen_ms() / wall_ms.max(f64::MIN_POSITIVE);
        let littles_law = LittlesLaw::of(all, load.concurrency as u64, wall_ms)
            .filter(|_| !self.interrupted)
            .map(|law| law.without_core(little::between_reads(all, run_queue_share, stolen_share, wall_ms)));
        let generator_cpu_share = used.busiest_cpu_ns as f64 / took.as_nanos().max(1) as f64;
        let response_time_ms = cells::percentiles(&all.response);
        let (errors, error_examples) = (cells::errors(tally), cells::error_examples(tally));
        let before = all.before.as_deref().map_or(Settling::NONE, Settling::of);
        let validity = marks::judge(&Evidence {
            requests: tally.requests,
            checked: tally.checked,
            errors: &errors,
            before: &before,
            error_examples: &error_examples,
            offered: offered.as_ref(),
            is_staged: load.stages.is_some(),
            rows: Short::of(load, tally, *took).filter(|_| !self.interrupted),
            response_ms: response_time_ms,
            littles_law,
            generator_cpu_share,
            run_queue_share,
            beats: all.stalls.as_ref(),
            ticks: self.passed.ticks,
            tcp: self.passed.tcp,
            larger_bytes: tally.received_bytes.max(tally.sent_bytes) as f64 / asked as f64,
            fresh_connections: match load.connection {
                // At a rate users come as they are needed, fewer than there may be.
                Connection::KeepAlive => {
                    let came = offered.as_ref().map_or(load.concurrency as u64, |offered| offered.users);
                    // Who came before anything counted opened its connection then.
                    let opened_before = all.before.as_ref().map_or(0, |before| before.connections);
                    tally.connections.saturating_sub(came.saturating_sub(opened_before))
                }
                Connection::Requests(_) | Connection::New => 0,
            },
            log_dropped: all.detail.as_ref().and_then(|detail| detail.log.as_ref()).map_or(0, |log| log.dropped),
        });
        QuickResult {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: started.to_string(),
            url: secret::hide(&load.url),
            subject: self.subject(),
            connection: match load.connection {
                Connection::KeepAlive => "keep-alive".to_owned(),
                Connection::Requests(count) => format!("{count} requests each"),
                Connection::New => "one request each".to_owned(),
            },
            model: if load.rate.is_some() { "open" } else { "closed" },
            concurrency: load.concurrency,
            requests: tally.requests,
            errors,
            error_examples,
            duration_ms: wall_ms,
            requests_per_second: tally.requests as f64 / took.as_secs_f64().max(1e-9),
            response_time_ms,
            service_time_ms: cells::percentiles(&all.service),
            served_within_ms: PERCENTAGES.map(|percent| (percent, within_ms(&all.response, percent))).to_vec(),
            connection_times_ms: connection_times(all),
            staged: all.staged.as_deref().map(|staged| cells::staged(staged, 1)),
            course: course(all.bins()),
            curve: cells::curve(&all.response),
            bytes_received: tally.received_bytes,
            body_bytes_received: tally.body_bytes,
            bytes_sent: tally.sent_bytes,
            wire_bytes_received: tally.wire_received_bytes,
            wire_bytes_sent: tally.wire_sent_bytes,
            connections: tally.connections,
            kept_alive: tally.kept_alive,
            other_statuses: tally.other_statuses,
            parts: tally.parts.iter().copied().collect(),
            checked: tally.checked,
            handshakes: handshaken(tally),
            phases: all.phases.as_deref().and_then(phase_times),
            first_request: first_request(&tally.first_requests),
            offered,
            generator_cpu_us_per_request: used.cpu_ns as f64 / 1e3 / asked as f64,
            generator_cpu_share,
            generator_stalls_ms: all.stalls.as_ref().map(cells::percentiles).unwrap_or_default(),
            tcp: self.passed.tcp,
            // In stages users come and go: there is no number of them that could be found.
            littles_law: littles_law.filter(|_| load.stages.is_none()),
            validity,
            interrupted: self.interrupted,
        }
    }

    fn subject(&self) -> Subject {
        let first = self.all.detail.as_ref().and_then(|detail| detail.first.as_ref());
        let path = secret::hide(&self.load.url);
        let path = path.split_once("://").and_then(|(_, rest)| rest.find(['/', '?']).map(|at| rest[at..].to_owned()));
        Subject {
            software: first.map(|first| first.server.clone()).unwrap_or_default(),
            hostname: self.target.host().to_owned(),
            port: self.target.port(),
            tls: first.and_then(|first| first.tls.clone()),
            path: path.unwrap_or_else(|| "/".to_owned()),
            document_bytes: first.map(|first| first.body_bytes),
            status: first.map(|first| first.status),
        }
    }
}

impl QuickResult {
    /// Whether the figures must not be read.
    pub fn is_refused(&self) -> bool {
        self.validity.iter().any(|mark| mark.verdict == Verdict::Refused)
    }
}

fn within_ms(times: &Histogram<u64>, percent: f64) -> Option<f64> {
    let quantile = percent / 100.0;
    let is_available = percentile::is_available(quantile, times.len());
    is_available.then(|| times.value_at_quantile(quantile) as f64 / NS_PER_MS)
}

fn connection_times(all: &Recorder) -> Option<ConnectionTimes> {
    let detail = all.detail.as_ref().filter(|_| !all.response.is_empty())?;
    Some(ConnectionTimes {
        connect: with_zeros(&detail.opening, all.response.len()),
        processing: spread(&all.service),
        waiting: spread(&detail.waiting),
        total: spread(&all.response),
    })
}

/// Times of nothing are none. No answer takes no time, so that the largest tells whether there was one.
fn of_any<S: serde::Serializer>(times: &Percentiles, serializer: S) -> Result<S::Ok, S::Error> {
    (times.max > 0.0).then_some(times).serialize(serializer)
}

fn spread(times: &Histogram<u64>) -> Spread {
    with_zeros(times, times.len())
}

/// Of `count` values all that are not among these `times` are 0.
fn with_zeros(times: &Histogram<u64>, count: u64) -> Spread {
    let has_median = percentile::is_available(0.5, count);
    if times.is_empty() || count == 0 {
        return Spread { median: has_median.then_some(0.0), ..Spread::default() };
    }
    let (present, count) = (times.len() as f64, count.max(times.len()) as f64);
    let zeros = count - present;
    let mean = times.mean() * present / count;
    let squares = (times.stdev().powi(2) + times.mean().powi(2)) * present / count;
    let middle = ((0.5 * count - zeros) / present).max(0.0);
    let median = if middle > 0.0 { times.value_at_quantile(middle) as f64 / NS_PER_MS } else { 0.0 };
    Spread {
        min: if zeros > 0.0 { 0.0 } else { times.min() as f64 / NS_PER_MS },
        mean: mean / NS_PER_MS,
        deviation: (squares - mean.powi(2)).max(0.0).sqrt() / NS_PER_MS,
        median: has_median.then_some(median),
        max: times.max() as f64 / NS_PER_MS,
    }
}

/// Bins put together until they are few enough; the last one is not whole, and left out where there are others.
fn course(bins: &[(u64, u64)]) -> Vec<Course> {
    let whole = if bins.len() > 1 { &bins[..bins.len() - 1] } else { bins };
    let step = whole.len().div_ceil(COURSE_POINTS_MAX).max(1);
    let point = |(place, bins): (usize, &[(u64, u64)])| {
        let (count, total_ns) = bins.iter().fold((0, 0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
        Course {
            until_s: (place * step + bins.len()) as f64 * BIN.as_secs_f64(),
            requests_per_second: count as f64 / (bins.len() as f64 * BIN.as_secs_f64()),
            response_time_ms: (count > 0).then(|| total_ns as f64 / count as f64 / NS_PER_MS),
        }
    };
    whole.chunks(step).enumerate().map(point).collect()
}

fn handshaken(tally: &Tally) -> Option<Handshaken> {
    let handshakes = tally.handshakes;
    let (full, resumed, failed) = (handshakes.full, handshakes.resumed, handshakes.failed);
    (full + resumed + failed > 0).then_some(Handshaken { full, resumed, failed })
}

fn phase_times(phases: &Phases) -> Option<PhaseTimes> {
    (!phases.connect.is_empty()).then(|| PhaseTimes {
        waited_ms: cells::percentiles(&phases.waited),
        connect_ms: cells::percentiles(&phases.connect),
        tls_ms: (!phases.tls.is_empty()).then(|| cells::percentiles(&phases.tls)),
        first_byte_ms: cells::percentiles(&phases.first_byte),
        last_byte_ms: cells::percentiles(&phases.last_byte),
        n: phases.connect.len(),
    })
}

fn first_request(first: &FirstRequests) -> Option<FirstRequest> {
    let mean = |sum: u64, count: u64| sum as f64 / count as f64;
    (first.count > 0).then(|| FirstRequest {
        round_trips: mean(first.round_trips, first.count),
        wire_bytes_sent: mean(first.wire_sent_bytes, first.count),
        wire_bytes_received: mean(first.wire_received_bytes, first.count),
        n: first.count,
        segments: (first.looked_at > 0).then(|| Segments {
            sent: mean(first.segments_sent, first.looked_at),
            received: mean(first.segments_received, first.looked_at),
            retransmitted: mean(first.retransmitted, first.looked_at),
            round_trip_time_ms: mean(first.round_trip_time_ns, first.looked_at) / 1e6,
            n: first.looked_at,
        }),
    })
}

fn offered(rate: Rate, all: &Recorder) -> Offered {
    let sends = all.tally.sends;
    let lateness_ms = all.lateness.as_ref().map(cells::percentiles).unwrap_or_default();
    Offered {
        rate_per_second: rate.per_second,
        arrivals: match rate.arrivals {
            Arrivals::Constant => "constant",
            Arrivals::Poisson => "poisson",
        },
        seed: rate.seed,
        intended: sends.intended,
        unsent: sends.unsent,
        users: sends.users,
        lateness_ms,
        overdue_ms: all.overdue.as_ref().map(cells::percentiles).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::recorder::times;

    #[test]
    fn answers_on_a_connection_that_was_there_took_no_time_to_connect() {
        let check = |opened_ms: &[u64], count: u64, expected: [f64; 5]| {
            let mut histogram = times();
            opened_ms.iter().for_each(|ms| histogram.record_n(ms * 1_000_000, 15).unwrap());
            let Spread { min, mean, deviation, median, max } = with_zeros(&histogram, 15 * count);
            let median = median.unwrap();
            for (found, expected) in [min, mean, deviation, median, max].into_iter().zip(expected) {
                assert!((found - expected).abs() <= 0.002 * expected, "{opened_ms:?} of {count}: {found} {expected}");
            }
        };
        check(&[], 4, [0.0; 5]);
        check(&[4], 4, [0.0, 1.0, 3f64.sqrt(), 0.0, 4.0]);
        check(&[2, 2, 2, 6], 4, [2.0, 3.0, 3f64.sqrt(), 2.0, 6.0]);
        check(&[4, 4, 4], 4, [0.0, 3.0, 3f64.sqrt(), 4.0, 4.0]);
        assert_eq!(with_zeros(&times(), 0), Spread::default());
        // The middle of a few is none.
        assert_eq!((with_zeros(&times(), 59).median, with_zeros(&times(), 60).median), (None, Some(0.0)));
    }

    #[test]
    fn the_course_has_whole_bins_only_and_as_many_points_as_can_be_drawn() {
        let check = |bins: &[(u64, u64)], expected: &[(f64, f64, Option<f64>)]| {
            let found: Vec<(f64, f64, Option<f64>)> = course(bins)
                .iter()
                .map(|point| (point.until_s, point.requests_per_second, point.response_time_ms))
                .collect();
            assert_eq!(found, expected, "{bins:?}");
        };
        check(&[], &[]);
        check(&[(1, 1_000_000)], &[(0.05, 20.0, Some(1.0))]);
        check(&[(2, 4_000_000), (0, 0), (9, 9)], &[(0.05, 40.0, Some(2.0)), (0.1, 0.0, None)]);
        assert_eq!(course(&vec![(1, 1); 1202]).len(), 401);
    }
}
