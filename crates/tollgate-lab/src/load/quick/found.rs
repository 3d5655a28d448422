//! What a quick load found, as it is printed and written as JSON.
//!
//! Here stands what is made of the records; how it is laid out is the command line's.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use super::{QuickLoad, Rate};
use crate::cells;
use crate::load::connections::{FirstRequests, Phases};
use crate::load::little::LittlesLaw;
use crate::load::model::Arrivals;
use crate::load::recorder::{Recorder, Tally};
use crate::load::worker::Report;
use crate::results::Percentiles;
use crate::secret;
use crate::validity::at_rate::{self, Late, SENT_SHARE_MIN};

/// What a quick load found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuickResult {
    /// The URL, without its secrets.
    pub url: String,
    /// Users, at a rate the most that there might be.
    pub concurrency: usize,
    /// Valid answers: whole ones with a status of 2xx.
    pub requests: u64,
    /// Failed requests by class.
    pub errors: BTreeMap<String, u64>,
    /// The first failure's text for each class.
    pub error_examples: BTreeMap<String, String>,
    /// From the first request to the last answer.
    pub duration_ms: f64,
    /// Valid answers per second.
    pub requests_per_second: f64,
    /// From the intended start to the last byte.
    pub response_time_ms: Percentiles,
    /// From the send to the last byte.
    pub service_time_ms: Percentiles,
    /// Points of the response time's distribution: share of requests (0 to 1) and the time in milliseconds.
    pub curve: Vec<(f64, f64)>,
    /// Head and body bytes received.
    pub bytes_received: u64,
    /// Head and body bytes sent.
    pub bytes_sent: u64,
    /// Bytes received below TLS, its handshakes included.
    pub wire_bytes_received: u64,
    /// Bytes sent below TLS, its handshakes included.
    pub wire_bytes_sent: u64,
    /// Connections opened.
    pub connections: u64,
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
    /// Users as they were asked for, held against what the records find; absent for a load that was cut off, and at a
    /// rate, which has no users of its own.
    pub littles_law: Option<LittlesLaw>,
    /// Whether it was stopped before its bound.
    pub interrupted: bool,
}

/// Handshakes of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Handshaken {
    /// With certificates and signatures.
    pub full: u64,
    /// From an earlier connection's session.
    pub resumed: u64,
    /// Without a connection in the end.
    pub failed: u64,
}

/// Where the time of requests that opened a connection went, each part from the end of the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Offered {
    /// Requests per second.
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
    /// Why the figures must not be read; empty where they may.
    pub refusals: Vec<String>,
}

impl QuickResult {
    /// What is made of the workers' reports.
    pub(super) fn of(load: &QuickLoad, reports: &[Report], interrupted: bool) -> QuickResult {
        let mut all = Recorder::default();
        for report in reports {
            all.add(&report.recorder);
        }
        let started = reports.iter().map(|report| report.started).min().unwrap_or_else(Instant::now);
        let finished = reports.iter().map(|report| report.finished).max().unwrap_or(started);
        let wall = finished.saturating_duration_since(started);
        let cpu_ns: u64 = reports.iter().map(|report| report.used.cpu_ns).sum();
        let busiest_ns = reports.iter().map(|report| report.used.cpu_ns).max().unwrap_or(0);
        let tally = &all.tally;
        let asked = (tally.requests + tally.failures()).max(1);
        let littles_law = LittlesLaw::of(&all, load.concurrency as u64, wall.as_secs_f64() * 1e3);
        QuickResult {
            url: secret::hide(&load.url),
            concurrency: load.concurrency,
            requests: tally.requests,
            errors: cells::errors(tally),
            error_examples: cells::error_examples(tally),
            duration_ms: wall.as_secs_f64() * 1e3,
            requests_per_second: tally.requests as f64 / wall.as_secs_f64().max(1e-9),
            response_time_ms: cells::percentiles(&all.response),
            service_time_ms: cells::percentiles(&all.service),
            curve: cells::curve(&all.response),
            bytes_received: tally.received_bytes,
            bytes_sent: tally.sent_bytes,
            wire_bytes_received: tally.wire_received_bytes,
            wire_bytes_sent: tally.wire_sent_bytes,
            connections: tally.connections,
            handshakes: handshaken(tally),
            phases: all.phases.as_deref().and_then(phase_times),
            first_request: first_request(&tally.first_requests),
            offered: load.rate.map(|rate| offered(rate, &all)),
            generator_cpu_us_per_request: cpu_ns as f64 / 1e3 / asked as f64,
            generator_cpu_share: busiest_ns as f64 / wall.as_nanos().max(1) as f64,
            littles_law: littles_law.filter(|_| !interrupted),
            interrupted,
        }
    }
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
        refusals: refusals(sends.intended, sends.unsent, lateness_ms, cells::percentiles(&all.response)),
    }
}

/// Why figures at a rate must not be read.
fn refusals(intended: u64, unsent: u64, lateness_ms: Percentiles, response_ms: Percentiles) -> Vec<String> {
    let mut refusals = Vec::new();
    let sent = intended.saturating_sub(unsent);
    if (sent as f64) < SENT_SHARE_MIN * intended as f64 {
        refusals.push(format!("{unsent} of {intended} requests could not be sent: allow more users, or offer less"));
    }
    if let Some(Late { share, late_ms, bound_ms }) = at_rate::too_late(lateness_ms, response_ms.p50.unwrap_or(0.0)) {
        refusals.push(format!(
            "{share} of the requests were sent {late_ms:.2} ms late or later, at most {bound_ms:.2} may be: allow more \
             users, offer less, or give the generator a core of its own"
        ));
    }
    refusals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_was_not_kept_is_refused() {
        let at = |p50, p99| Percentiles { p50: Some(p50), p99: Some(p99), ..Percentiles::default() };
        let check = |unsent: u64, late_ms: f64, median_ms: f64, expected: &[&str]| {
            let found = refusals(1000, unsent, at(0.1, late_ms), at(median_ms, 50.0));
            let begins = |(found, expected): (&String, &&str)| found.starts_with(expected);
            assert!(found.len() == expected.len() && found.iter().zip(expected).all(begins), "{found:?}");
        };
        check(0, 0.9, 2.0, &[]);
        check(10, 0.9, 2.0, &[]);
        check(11, 0.9, 2.0, &["11 of 1000 requests could not be sent"]);
        check(0, 1.1, 2.0, &["1 % of the requests were sent 1.10 ms late or later, at most 1.00 may be"]);
        check(0, 1.1, 12.0, &[]);
        let few = Percentiles { p90: Some(1.1), ..Percentiles::default() };
        let found = refusals(300, 0, few, Percentiles { p50: Some(2.0), ..Percentiles::default() });
        assert!(found[0].starts_with("10 % of the requests were sent 1.10 ms late"), "{found:?}");
    }
}
