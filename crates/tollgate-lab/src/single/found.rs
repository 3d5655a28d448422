//! The result of a quick load, as it is printed and written as JSON.
//!
//! The records are evaluated here; the command line lays them out.

use std::time::Duration;

use hdrhistogram::Histogram;
use tollgate_net::http1::client::Target;

use super::marks::{self, Evidence};
use super::{QuickLoad, Rate, rows};
use crate::judge::{cells, intervals, tail};
use crate::load::connections::Phases;
use crate::load::record::course::BIN;
use crate::load::record::little;
use crate::load::record::recorder::Recorder;
use crate::load::target::Connection;
use crate::probe::generator::ThreadsUsed;
use crate::probe::meter::Passed;
use crate::secret;
use tollgate_facts::results::load::{
    ConnectionTimes, CoursePoint, Handshaken, Offered, PhaseTimes, QuickResult, Spread, Subject,
};
use tollgate_facts::results::{Played, TcpCounts, Within, is_delayed};
use tollgate_facts::stats::percentile;
use tollgate_facts::stats::percentile_interval::Cluster;

/// Version of the document.
const FORMAT: u32 = 1;
/// Percentages of ab's table, and two that it leaves out.
const PERCENTAGES: [f64; 10] = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99];
/// Maximum number of points of the course.
const COURSE_POINTS_MAX: usize = 600;
const NS_PER_MS: f64 = 1e6;

/// The records of a load.
pub(super) struct Recorded<'a> {
    pub(super) load: &'a QuickLoad,
    pub(super) target: &'a Target,
    pub(super) all: &'a Recorder,
    pub(super) took: Duration,
    pub(super) used: ThreadsUsed,
    pub(super) passed: Passed,
    pub(super) interrupted: bool,
}

impl Recorded<'_> {
    /// Computes the result.
    pub(super) fn result(&self, started: jiff::Timestamp) -> QuickResult {
        let Recorded { load, all, took, used, .. } = self;
        let tally = &all.tally;
        let asked = (tally.requests + tally.failures()).max(1);
        let wall_ms = took.as_secs_f64() * 1e3;
        let run_queue_share = used.run_queue_max_ns as f64 / took.as_nanos().max(1) as f64;
        let stolen_share = self.passed.ticks.stolen_ms() / wall_ms.max(f64::MIN_POSITIVE);
        let littles_law = little::law(all, load.concurrency as u64, wall_ms)
            .filter(|_| !self.interrupted)
            .map(|law| law.without_core(little::between_reads(all, run_queue_share, stolen_share, wall_ms)));
        let result = QuickResult {
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
            errors: cells::errors(&tally.errors),
            error_examples: cells::error_examples(&tally.errors),
            duration_ms: wall_ms,
            requests_per_second: tally.requests as f64 / took.as_secs_f64().max(1e-9),
            response_time_ms: cells::percentiles(&all.response),
            response_interval_ms: intervals::intervals(&all.response, |ns| clusters(all, ns)),
            undelayed_ms: cells::undelayed(all),
            undelayed_within_ms: undelayed_within(all),
            service_time_ms: cells::percentiles(&all.service),
            tail: tail::tail(all, PERCENTAGES.map(|percent| percent / 100.0)),
            served_within_ms: PERCENTAGES
                .map(|percent| (percent, cells::quantile_ms(&all.response, percent / 100.0)))
                .to_vec(),
            served_within_interval_ms: within_interval(all),
            connection_times_ms: connection_times(all),
            staged: all.staged.as_deref().map(|staged| cells::staged(staged, 1)),
            seed: load.scenario.as_ref().map(|_| load.seed),
            played: all.stepped.as_deref().map(|stepped| Played {
                trials_out_of_rows: u32::from(tally.out_of_rows > 0),
                ..cells::played(stepped)
            }),
            course: course(all.bins()),
            curve: cells::curve(&all.response),
            bytes_received: tally.received_bytes,
            body_bytes_received: tally.body_bytes,
            bytes_sent: tally.sent_bytes,
            wire_bytes_received: tally.wire_received_bytes,
            wire_bytes_sent: tally.wire_sent_bytes,
            // Users of a scenario opened theirs before anything counted.
            connections: tally.connections
                + all.before.as_ref().filter(|_| load.scenario.is_some()).map_or(0, |before| before.connections),
            kept_alive: tally.kept_alive,
            other_statuses: tally.other_statuses,
            parts: tally.parts.clone(),
            checked: tally.checked,
            handshakes: Some(tally.handshakes).filter(|found| *found != Handshaken::default()),
            phases: all.phases.as_deref().and_then(phase_times),
            first_request: cells::first_request(&tally.first_requests),
            offered: load.rate.map(|rate| offered(rate, all)),
            generator_cpu_us_per_request: used.cpu_ns as f64 / 1e3 / asked as f64,
            // Where nothing was counted, what the users' setup took is in the one and not in the other.
            generator_cpu_share: (used.busiest_cpu_ns as f64 / took.as_nanos().max(1) as f64).min(1.0),
            generator_stalls_ms: all.stalls.as_ref().map(cells::percentiles).unwrap_or_default(),
            tcp: TcpCounts { own: Some(tally.used.sockets), ..self.passed.tcp },
            littles_law,
            validity: Vec::new(),
            thresholds: Vec::new(),
            interrupted: self.interrupted,
        };
        let iterations = result.played.as_ref().map_or(0, |played| played.iterations + played.failed);
        let evidence = Evidence {
            before: all.before.as_deref(),
            absent: tally.absent,
            is_staged: load.stages.is_some(),
            rows: rows::short(load, (tally, iterations), *took).filter(|_| !self.interrupted),
            run_queue_share,
            beats: all.stalls.as_ref(),
            ticks: self.passed.ticks,
            fresh_connections: match load.connection {
                // At a rate users come as they are needed, fewer than there may be; how many came is not known of a load that
                // was cut off.
                Connection::KeepAlive if !self.interrupted => {
                    let came = result.offered.as_ref().map_or(load.concurrency as u64, |offered| offered.users);
                    // Who came before anything counted opened its connection then.
                    let opened_before = all.before.as_ref().map_or(0, |before| before.connections);
                    tally.connections.saturating_sub(came.saturating_sub(opened_before))
                }
                Connection::KeepAlive | Connection::Requests(_) | Connection::New => 0,
            },
            connections: match &all.detail {
                // In stages users come and go: their connections do not meet the same.
                Some(detail) if load.connection == Connection::KeepAlive && load.stages.is_none() => {
                    &detail.connections
                }
                _ => &[],
            },
            log_dropped: all.detail.as_ref().and_then(|detail| detail.log.as_ref()).map_or(0, |log| log.dropped),
            result,
        };
        let validity = marks::judge(&evidence);
        // In stages users come and go: there is no number of them that could be found.
        let littles_law = littles_law.filter(|_| load.stages.is_none());
        let result = QuickResult { littles_law, validity, ..evidence.result };
        if result.is_unsteady() { without_times(result) } else { result }
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

/// The responses in each stretch of the load, and how many of them took longer than this.
fn clusters(all: &Recorder, ns: u64) -> Vec<Cluster> {
    all.detail.as_ref().map(|detail| detail.stretches.clusters(ns)).unwrap_or_default()
}

/// The percentages that have an interval, with their intervals.
fn within_interval(all: &Recorder) -> Vec<(f64, Within)> {
    let interval = |percent: f64| {
        let (quantile, times) = (percent / 100.0, &all.response);
        let clusters = clusters(all, times.value_at_quantile(quantile));
        Some((percent, intervals::interval(times, quantile, &clusters)?))
    };
    PERCENTAGES.into_iter().filter_map(interval).collect()
}

/// The percentages whose times differ without the generator's own delay, up to the highest known one.
fn undelayed_within(all: &Recorder) -> Vec<(f64, f64)> {
    let known = cells::undelayed(all).map(|known| known.by_quantile());
    let highest = known.and_then(|known| known.into_iter().find_map(|(quantile, time)| time.map(|_| quantile)));
    let off = |percent: f64| {
        let of = |times| cells::quantile_ms(times, percent / 100.0);
        let (time_ms, undelayed_ms) = (of(&all.response)?, of(&all.undelayed)?);
        is_delayed(time_ms, undelayed_ms).then_some((percent, undelayed_ms))
    };
    let is_known = |percent: &f64| highest.is_some_and(|highest| *percent <= highest * 100.0);
    PERCENTAGES.into_iter().filter(is_known).filter_map(off).collect()
}

/// A growing load has no overall times: they would depend on its length. Its course has them.
fn without_times(mut result: QuickResult) -> QuickResult {
    (result.response_time_ms, result.service_time_ms) = Default::default();
    result.served_within_ms.iter_mut().for_each(|(_, time)| *time = None);
    (result.undelayed_ms, result.undelayed_within_ms) = (None, Vec::new());
    (result.response_interval_ms, result.served_within_interval_ms) = (None, Vec::new());
    result.curve.clear();
    (result.connection_times_ms, result.phases, result.tail) = (None, None, None);
    if let Some(played) = &mut result.played {
        played.iteration_time_ms = played.iteration_time_ms.unsteady();
        played.steps.iter_mut().for_each(|step| step.response_time_ms = step.response_time_ms.unsteady());
    }
    result
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

fn spread(times: &Histogram<u64>) -> Spread {
    with_zeros(times, times.len())
}

/// The spread of `count` values; those that are not among `times` are 0.
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

/// Bins merged until they are few enough; the last one is incomplete, and left out if there are others.
fn course(bins: &[(u64, u64)]) -> Vec<CoursePoint> {
    let whole = if bins.len() > 1 { &bins[..bins.len() - 1] } else { bins };
    let step = whole.len().div_ceil(COURSE_POINTS_MAX).max(1);
    let point = |(place, bins): (usize, &[(u64, u64)])| {
        let (count, total_ns) = bins.iter().fold((0, 0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
        CoursePoint {
            until_s: (place * step + bins.len()) as f64 * BIN.as_secs_f64(),
            requests_per_second: count as f64 / (bins.len() as f64 * BIN.as_secs_f64()),
            response_time_ms: (count > 0).then(|| total_ns as f64 / count as f64 / NS_PER_MS),
        }
    };
    whole.chunks(step).enumerate().map(point).collect()
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

fn offered(rate: Rate, all: &Recorder) -> Offered {
    let sends = all.tally.sends;
    Offered {
        rate_per_second: rate.per_second,
        arrivals: rate.arrivals,
        seed: rate.seed,
        intended: sends.intended,
        unsent: sends.unsent,
        users: sends.users,
        lateness_ms: all.lateness.as_ref().map(cells::percentiles).unwrap_or_default(),
        overdue_ms: all.overdue.as_ref().map(cells::percentiles).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::record::recorder::times;

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
