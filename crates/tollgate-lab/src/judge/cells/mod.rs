//! Computes the cells of a result from recorded trials: percentiles from merged histograms, means with their intervals
//! over blocks.
//!
//! Pure: records in, stored figures out. It judges nothing.

mod staged;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::iter::Sum;

use hdrhistogram::Histogram;

use super::tail::tail;
use crate::load::connections::{ConnectionsUsed, FirstRequests};
use crate::load::record::recorder::{ErrorTally, Recorder};
use crate::load::scenario::record::{StepRecord, Stepped};
pub use staged::staged;
use tollgate_facts::results::{
    BackendUse, Cell, ConnectionUse, Estimate, FirstRequest, GeneratorUse, Inserted, Negotiated, Percentiles, Phases,
    Played, Segments, StepFound, SubjectUse, Trial,
};
use tollgate_facts::stats::{self, between_starts, percentile};
use tollgate_net::tls::Agreed;

pub(super) const NS_PER_MS: f64 = 1e6;
/// Largest part of the answers beyond a percentile whose time of arrival may be unknown.
const UNKNOWN_PART_MAX: f64 = 0.1;
/// Largest share of answers that opened their connection: only a part of their own delay is known.
const OPENED_SHARE_MAX: f64 = 0.01;
/// Points of a distribution's curve for each halving of the share beyond.
const POINTS_PER_HALVING: u32 = 4;

/// Failed requests by class.
pub fn errors(failures: &[ErrorTally]) -> BTreeMap<String, u64> {
    failures.iter().map(|error| (error.class.to_string(), error.count)).collect()
}

/// The first failure's text for each class.
pub fn error_examples(failures: &[ErrorTally]) -> BTreeMap<String, String> {
    failures.iter().map(|error| (error.class.to_string(), error.example.clone())).collect()
}

/// Computes the cell of these trials, all of one variant at one level, from the joint record of its users and the
/// memory and threads seen of the subject, if it could be watched.
pub fn cell(trials: &[&Trial], recorder: &Recorder, seen: Option<SubjectUse>) -> Cell {
    let Recorder { tally, response, service, .. } = recorder;
    let blocks = by_block(trials);
    let estimate = |figure: &dyn Fn(&[&Trial]) -> Option<f64>| {
        let of_block = |trials: &Vec<&Trial>| Some((trials.first()?.start, figure(trials)?));
        let starts = stats::by_key(blocks.values().filter_map(of_block));
        between_starts::estimate_over(&starts.into_values().collect::<Vec<_>>())
    };
    let each_second = |of: fn(&Trial) -> u64| {
        estimate(&|trials| ratio(sum(trials, of) as f64, sum(trials, |trial| trial.duration_ms) / 1e3))
    };
    let by = |whole: fn(&Trial) -> u64, part: fn(&Trial) -> Option<f64>| {
        estimate(&|trials| ratio(sum(trials, part)?, sum(trials, whole) as f64))
    };
    let counted = |whole: fn(&Trial) -> u64| {
        let count = by(whole, |trial| trial.subject_instructions.map(|count| count as f64));
        Some(count).filter(|count| count.n > 0)
    };
    let wall_ms: f64 = sum(trials, |trial| trial.duration_ms);
    let wall_share = |used_us: f64| ratio(used_us / 1e3, wall_ms);
    let used_us: Option<f64> = sum(trials, |trial| trial.subject_cpu_us);
    let behind_us: Option<f64> = sum(trials, |trial| trial.backend_cpu_us);
    let by_unit = |count: u64| ratio(count as f64, sum(trials, |trial| trial.units) as f64).unwrap_or(0.0);
    Cell {
        variant: trials.first().map(|trial| trial.variant.clone()).unwrap_or_default(),
        level: trials.first().map_or(0, |trial| trial.level),
        rounds: blocks.values().filter(|trials| trials.len() >= crate::plan::TRIALS_PER_BLOCK as usize).count() as u32,
        trials: trials.len() as u32,
        requests: sum(trials, |trial| trial.requests),
        errors: errors(&tally.errors),
        error_examples: error_examples(&tally.errors),
        requests_per_second: each_second(|trial| trial.requests),
        unit_time_ms: estimate(&|trials| {
            let times: Vec<f64> = trials.iter().flat_map(|trial| trial.unit_times_ms.iter().copied()).collect();
            stats::mean(&times)
        }),
        response_time_ms: percentiles(response),
        undelayed_ms: undelayed(recorder),
        service_time_ms: percentiles(service),
        tail: tail(recorder, Percentiles::default().by_quantile().map(|(quantile, _)| quantile)),
        curve: curve(response),
        bytes_received: tally.received_bytes,
        bytes_sent: tally.sent_bytes,
        bytes_per_unit: by_unit(sum(trials, |trial| trial.bytes_received)),
        list_bytes: tally.lists.mean_bytes(),
        detail_bytes: tally.details.mean_bytes(),
        list_time_ms: tally.lists.mean_ms(),
        detail_time_ms: tally.details.mean_ms(),
        left_out_per_unit: Some(by_unit(tally.left_out)).filter(|left_out| *left_out > 0.0),
        connections: tally.connections,
        negotiated: negotiated(&tally.used),
        subject: seen.and_then(|seen| {
            Some(SubjectUse {
                cpu_us_per_request: by(|trial| trial.requests, |trial| trial.subject_cpu_us),
                instructions_per_request: counted(|trial| trial.requests),
                cpu_share: wall_share(used_us?)?,
                ..seen
            })
        }),
        generator: generator(trials, recorder.stalls.as_ref()),
        inserted: (tally.transfers.settlement.counted > 0).then(|| Inserted {
            records: tally.transfers.records,
            ms_per_record: by(|trial| trial.records, |trial| Some(trial.duration_ms)),
            records_per_second: each_second(|trial| trial.records),
            subject_cpu_us_per_record: seen.map(|_| by(|trial| trial.records, |trial| trial.subject_cpu_us)),
            subject_instructions_per_record: seen.and_then(|_| counted(|trial| trial.records)),
            settlement: tally.transfers.settlement,
            ..Inserted::default()
        }),
        backend: behind_us.and_then(wall_share).map(|cpu_share| BackendUse {
            cpu_us_per_request: by(|trial| trial.requests, |trial| trial.backend_cpu_us),
            cpu_share,
        }),
        ..Cell::default()
    }
}

/// Cores that the subject keeps busy in these trials; absent where it was not watched.
pub fn cores_kept_busy(trials: &[Trial]) -> Option<Estimate> {
    let cores = |trials: Vec<&Trial>| {
        let used_us: Option<f64> = sum(&trials, |trial| trial.subject_cpu_us);
        ratio(used_us? / 1e3, sum(&trials, |trial| trial.duration_ms))
    };
    let of_blocks = stats::by_key(trials.iter().map(|trial| (trial.block, trial))).into_values();
    let cores: Vec<f64> = of_blocks.filter_map(cores).collect();
    (!cores.is_empty()).then(|| stats::estimate_above_zero(&cores))
}

/// The generator's resource use in these trials, and how late it noticed its own heartbeat.
pub fn generator<T: Borrow<Trial>>(trials: &[T], beats: Option<&Histogram<u64>>) -> GeneratorUse {
    let wall_ms: f64 = sum(trials, |trial| trial.duration_ms);
    let share = |used_us: f64| ratio(used_us / 1e3, wall_ms).unwrap_or(0.0);
    let asked: u64 = sum(trials, |trial| trial.requests + trial.errors);
    GeneratorUse {
        cpu_share: share(sum(trials, |trial| trial.generator_busiest_cpu_us)),
        cpu_us_per_request: sum(trials, |trial| trial.generator_cpu_us) / asked.max(1) as f64,
        run_queue_share: share(sum(trials, |trial| trial.generator_run_queue_us)),
        stalls_ms: beats.map(percentiles).unwrap_or_default(),
    }
}

/// The figures of a scenario.
pub fn played(stepped: &Stepped) -> Played {
    let step = |step: &StepRecord| StepFound {
        name: step.name.clone(),
        requests: step.response.len(),
        errors: errors(&step.failures),
        error_examples: error_examples(&step.failures),
        response_time_ms: percentiles(&step.response),
    };
    Played {
        iterations: stepped.iterations.len(),
        failed: stepped.failed,
        iteration_time_ms: percentiles(&stepped.iterations),
        steps: stepped.steps.iter().map(step).collect(),
        ..Played::default()
    }
}

/// The parameters that connections negotiated, the most frequent first.
pub fn negotiated(used: &ConnectionsUsed) -> Vec<Negotiated> {
    let one = |(agreed, connections): &(Agreed, u64)| Negotiated {
        version: agreed.version.number().to_owned(),
        suite: agreed.suite.map_or_else(String::new, |suite| suite.to_string()),
        key: agreed.key.map(|key| key.to_string()),
        certificates: agreed.certificates,
        group: agreed.group.map(str::to_owned),
        protocol: agreed.protocol.map(str::to_owned),
        connections: *connections,
    };
    let mut all: Vec<Negotiated> = used.agreed.iter().map(one).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.connections));
    all
}

/// Properties and costs of a cell's connections, over trials of `wall_s` seconds in all.
pub fn connected(recorder: &Recorder, wall_s: f64) -> ConnectionUse {
    let tally = &recorder.tally;
    let handshakes = (tally.handshakes.full + tally.handshakes.resumed) as f64;
    ConnectionUse {
        opened: tally.connections,
        handshakes_full: tally.handshakes.full,
        handshakes_resumed: tally.handshakes.resumed,
        handshakes_failed: tally.handshakes.failed,
        handshakes_per_second: ratio(handshakes, wall_s).unwrap_or(0.0),
        wire_bytes_received: tally.wire_received_bytes,
        wire_bytes_sent: tally.wire_sent_bytes,
        phases: recorder.phases.as_deref().map_or_else(Phases::default, |phases| Phases {
            connect_ms: percentiles(&phases.connect),
            handshake_ms: percentiles(&phases.tls),
            first_byte_ms: percentiles(&phases.first_byte),
            last_byte_ms: percentiles(&phases.last_byte),
        }),
        first_request: first_request(&tally.first_requests),
    }
}

/// Means over requests that opened their connection; absent without any.
pub fn first_request(all: &FirstRequests) -> Option<FirstRequest> {
    let mean = |sum: u64, count: u64| sum as f64 / count as f64;
    (all.count > 0).then(|| FirstRequest {
        round_trips: Some(mean(all.round_trips, all.count)),
        wire_bytes_sent: mean(all.wire_sent_bytes, all.count),
        wire_bytes_received: mean(all.wire_received_bytes, all.count),
        n: all.count,
        segments: (all.looked_at > 0).then(|| Segments {
            sent: mean(all.segments_sent, all.looked_at),
            received: mean(all.segments_received, all.looked_at),
            retransmitted: mean(all.retransmitted, all.looked_at),
            round_trip_time_ms: mean(all.round_trip_time_ns, all.looked_at) / NS_PER_MS,
            n: all.looked_at,
        }),
    })
}

/// Percentiles without the generator's own delay. Each is absent where the delay is not known, as are all where many
/// answers opened their connection, since only part of it is known.
pub(crate) fn undelayed(recorder: &Recorder) -> Option<Percentiles> {
    let answers = recorder.response.len();
    let opened = recorder.phases.as_ref().map_or(0, |phases| phases.connect.len());
    if answers == 0 || recorder.undelayed.len() != answers || opened as f64 > OPENED_SHARE_MAX * answers as f64 {
        return None;
    }
    let all = percentiles(&recorder.undelayed);
    let unknown = answers.saturating_sub(recorder.tally.stamped) as f64 / answers as f64;
    let known = |quantile: f64, time: Option<f64>| time.filter(|_| unknown <= UNKNOWN_PART_MAX * (1.0 - quantile));
    known(0.5, all.p50)?;
    Some(Percentiles {
        p90: known(0.9, all.p90),
        p95: known(0.95, all.p95),
        p99: known(0.99, all.p99),
        p999: known(0.999, all.p999),
        ..all
    })
}

/// Percentiles in milliseconds of a histogram in nanoseconds; those with too few samples beyond them are absent.
pub fn percentiles(times: &Histogram<u64>) -> Percentiles {
    if times.is_empty() {
        return Percentiles::default();
    }
    let at = |quantile: f64| quantile_ms(times, quantile);
    Percentiles {
        mean: times.mean() / NS_PER_MS,
        p50: at(0.5),
        p90: at(0.9),
        p95: at(0.95),
        p99: at(0.99),
        p999: at(0.999),
        max: times.max() as f64 / NS_PER_MS,
    }
}

/// A quantile in milliseconds; absent with too few samples beyond it.
pub fn quantile_ms(times: &Histogram<u64>, quantile: f64) -> Option<f64> {
    percentile::is_available(quantile, times.len()).then(|| times.value_at_quantile(quantile) as f64 / NS_PER_MS)
}

/// The distribution's curve: denser towards the tail, as far as percentiles may be printed.
pub fn curve(times: &Histogram<u64>) -> Vec<(f64, f64)> {
    let quantiles = (0..).map(|step| 1.0 - 0.5_f64.powf(f64::from(step) / f64::from(POINTS_PER_HALVING)));
    let printed = quantiles.take_while(|quantile| percentile::is_available(*quantile, times.len()));
    printed.map(|quantile| (quantile, times.value_at_quantile(quantile) as f64 / NS_PER_MS)).collect()
}

fn sum<T: Borrow<Trial>, S: Sum>(trials: &[T], of: impl Fn(&Trial) -> S) -> S {
    trials.iter().map(|trial| of(trial.borrow())).sum()
}

/// Trials by the block that they belong to.
pub(crate) fn by_block<'a>(trials: &[&'a Trial]) -> BTreeMap<u32, Vec<&'a Trial>> {
    stats::by_key(trials.iter().map(|trial| (trial.block, *trial)))
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// 1, 2, 3 … `count` microseconds.
    fn recorded(count: u64) -> Recorder {
        let start = Instant::now();
        let mut recorder = Recorder::default();
        for micros in 1..=count {
            recorder.answer(start, start, start + Duration::from_micros(micros));
        }
        recorder
    }

    #[test]
    fn cores_kept_busy_are_cpu_time_over_the_time_of_a_block() {
        let trials = [trial(0, 10.0, 3, Some(1200.0)), trial(0, 10.0, 1, Some(400.0)), trial(1, 10.0, 2, Some(800.0))];
        let found = cores_kept_busy(&trials).unwrap();
        assert!((found.mean - 0.08).abs() < 1e-9 && found.n == 2, "{found:?}");
        assert_eq!(cores_kept_busy(&[trial(0, 10.0, 3, None)]), None);
    }

    fn trial(block: u32, duration_ms: f64, requests: u64, subject_cpu_us: Option<f64>) -> Trial {
        Trial {
            variant: "v".to_owned(),
            level: 1,
            start: 0,
            block,
            place: 0,
            start_ms: 0.0,
            duration_ms,
            units: 2,
            unit_times_ms: vec![duration_ms / 2.0; 2],
            requests,
            records: 0,
            errors: 0,
            bytes_received: 10,
            bytes_sent: 1,
            response_time_mean_ms: 0.1,
            subject_cpu_us,
            backend_cpu_us: None,
            subject_instructions: None,
            backend_instructions: None,
            batch: None,
            generator_cpu_us: 400.0,
            generator_busiest_cpu_us: 300.0,
            generator_run_queue_us: 10.0,
            stolen_share: 0.0,
        }
    }

    #[test]
    fn percentiles_need_thirty_samples_beyond_them() {
        let of = percentiles(&recorded(1000).response);
        let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < expected * 1e-3;
        assert!(near(of.p50, 0.5) && near(of.p90, 0.9) && near(of.p95, 0.95));
        assert_eq!((of.p99, of.p999), (None, None));
        assert!(near(Some(of.max), 1.0) && near(Some(of.mean), 0.5005));
        assert_eq!(percentiles(&recorded(0).response), Percentiles::default());
    }

    #[test]
    fn the_curve_rises_and_ends_where_samples_are_too_few() {
        let curve = curve(&recorded(10_000).response);
        assert!(curve.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1));
        assert!(curve.last().unwrap().0 > 0.99 && curve.last().unwrap().0 <= 0.997);
    }

    #[test]
    fn a_cell_has_its_figures_over_blocks() {
        let recorder = recorded(400);
        let trials = [
            trial(0, 100.0, 100, Some(1000.0)),
            trial(0, 100.0, 100, Some(1000.0)),
            trial(1, 100.0, 200, Some(4000.0)),
        ];
        let trials: Vec<&Trial> = trials.iter().collect();
        let cell = cell(&trials, &recorder, Some(SubjectUse { threads_max: 2, ..SubjectUse::default() }));
        assert_eq!((cell.rounds, cell.trials, cell.requests), (1, 3, 400));
        assert!((cell.requests_per_second.mean - 1500.0).abs() < 1e-6);
        assert!((cell.bytes_per_unit - 5.0).abs() < 1e-9, "of the trials, which have those of TLS");
        let subject = cell.subject.unwrap();
        assert!((subject.cpu_us_per_request.mean - 15.0).abs() < 1e-9);
        assert!((subject.cpu_share - 0.02).abs() < 1e-9);
        assert!((cell.generator.run_queue_share - 1e-4).abs() < 1e-9);
        assert!((cell.generator.cpu_us_per_request - 3.0).abs() < 1e-9, "of all threads");
        assert!((cell.generator.cpu_share - 3e-3).abs() < 1e-9, "of the busiest one");
    }
}
