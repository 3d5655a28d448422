//! Times: constant and drawn ones against the server's log, stalls against arithmetic, paces.

use std::time::Duration;

use tollgate_facts::results::Percentiles;
use tollgate_facts::results::load::QuickResult;
use tollgate_lab::load::record::recorder::Recorder;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, Rate, quick, quick_recorded};
use tollgate_lab::traffic::model::Arrivals;

use super::{Table, median, repetitions, skipped};
use crate::bare::{bare_times, percentile_ms};
use crate::frozen::frozen_within;
use crate::server::{Logged, TruthServer, truth_server};

fn load(server: &TruthServer, class: &str, seconds: f64, concurrency: usize, rate: Option<Rate>) -> QuickResult {
    let url = server.url(&format!("{class}/x"));
    let duration = Some(Duration::from_secs_f64(seconds));
    quick(&QuickLoad { duration, concurrency, rate, ..QuickLoad::new(url) }, &StopFlag::new()).unwrap()
}

/// Percentiles by their names in the server's log.
fn named(times: &Percentiles) -> [(&'static str, Option<f64>); 5] {
    [("p50", times.p50), ("p90", times.p90), ("p95", times.p95), ("p99", times.p99), ("p99.9", times.p999)]
}

/// Loads of each drawn distribution by 8 users, and by 32, whose loads are shorter: 30 requests decide a p99.9, and one
/// pause of the host delays as many. The middle one of few loads was what the host did.
const DRAWN: [(usize, u32); 2] = [(8, 5), (32, 9)];
/// Over which time users come, before anything counts.
const RAMP_UP: Duration = Duration::from_millis(20);
/// Blocks of a row: what a shared host does to some of them is not in the one in the middle.
const BLOCKS: usize = 9;
/// Blocks of a row whose bound is narrow against what blocks differ by: some 50 us where each takes a second, twice as much
/// where one user waits, and some 300 us at a 99th percentile of answers that take 5 ms, since each pause of the host delays
/// most of the users.
const BLOCKS_NARROW: usize = 21;
/// Requests of a block that are wanted of each side for a 99th percentile, which takes 3,000.
const BLOCK_REQUESTS: f64 = 3300.0;
/// Further requests of each user: meanwhile the host may pause.
const BLOCK_ROUNDS_MORE: f64 = 20.0;
/// Shortest time of each side in a block, for any number of requests, since one pause of a millisecond must not be a
/// hundredth of it.
const BLOCK_SECONDS_LEAST: f64 = 1.0;
/// Longest block; a longer one takes the least instead, without a 99th percentile: of a block of half a minute each
/// pause of a busy host is in it, and the middle of a few blocks is what the host did.
const BLOCK_SECONDS_MOST: f64 = 5.0;

/// Times of a class beyond the server's log, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Beyond {
    p50: f64,
    /// Absent where there are too few requests.
    p99: Option<f64>,
}

/// One block: two slices of the load engine and of the bare users in mirrored order (A B B A), each side with a class of its
/// own.
struct Block {
    engine: Beyond,
    way: Beyond,
    /// The p99 of the server's own log.
    log_p99: f64,
    /// The engine's p50 itself.
    p50: f64,
    /// Median lateness of the server's own answers.
    late: f64,
}

fn block(server: &TruthServer, class: &str, connections: usize, slice: Duration, number: usize) -> Block {
    let seed = connections * 1000 + number * 2;
    let (of_engine, of_bare) = (format!("{class},seed-{seed}"), format!("{class},seed-{}", seed + 1));
    let mut recorder = Recorder::default();
    let mut by_engine = || {
        let url = server.url(&format!("{of_engine}/x"));
        let (duration, concurrency, ramp_up) = (Some(slice), connections, RAMP_UP);
        let load = QuickLoad { duration, concurrency, ramp_up, ..QuickLoad::new(url) };
        recorder.add(&quick_recorded(&load, &(), &StopFlag::new()).unwrap().recorder);
    };
    let by_bare = || bare_times(server, &of_bare, connections, (RAMP_UP, slice));
    by_engine();
    let mut bare = by_bare();
    bare.extend(by_bare());
    by_engine();
    bare.sort_unstable();
    let (did, did_bare) = (server.did(&of_engine), server.did(&of_bare));
    let at = |share: f64| recorder.response.value_at_quantile(share) as f64 / 1e6;
    let has_p99 = recorder.response.len().min(bare.len() as u64) >= 3000;
    let way_p99 = percentile_ms(&bare, 0.99) - did_bare.service_ms("p99");
    Block {
        engine: Beyond { p50: at(0.5) - did.service_ms("p50"), p99: has_p99.then(|| at(0.99) - did.service_ms("p99")) },
        way: Beyond { p50: percentile_ms(&bare, 0.5) - did_bare.service_ms("p50"), p99: has_p99.then_some(way_p99) },
        log_p99: did.service_ms("p99"),
        p50: at(0.5),
        late: did.ms("late_ns/p50"),
    }
}

/// Rows of one constant service time: numbers of connections, with how many blocks each takes.
fn constant(service_us: u64, rows: &[(usize, usize)]) {
    let server = truth_server();
    let mut table = Table::default();
    let service_ms = service_us as f64 / 1e3;
    for (connections, blocks) in rows.iter().copied() {
        let blocks = blocks * repetitions() as usize;
        let rounds = BLOCK_REQUESTS / connections as f64 + BLOCK_ROUNDS_MORE;
        let wanted = rounds * (service_ms + 0.1) / 1e3;
        let seconds = if wanted > BLOCK_SECONDS_MOST { BLOCK_SECONDS_LEAST } else { wanted.max(BLOCK_SECONDS_LEAST) };
        let slice = Duration::from_secs_f64(seconds / 2.0);
        let class = format!("constant-{service_us}");
        let measured = |number: usize| block(&server, &class, connections, slice, number);
        let found: Vec<Block> = (0..blocks).map(|_| table.calm.measure(measured)).collect();
        let middle = |of: &dyn Fn(&Block) -> f64| median(found.iter().map(of).collect());
        let name = format!("{service_ms} ms, {connections} connections");
        let bound = f64::max(0.060, service_ms * 0.01);
        let least = found.iter().map(|block| block.p50).fold(f64::INFINITY, f64::min);
        let added = middle(&|block| block.engine.p50 - block.way.p50);
        table.row(
            format!("constant service time of {name}: p50"),
            format!("never below, at most {:.0} us above log and way", bound * 1e3),
            format!(
                "{:+.0} us of the log, bare sockets {:+.0} us: {:+.0} us; the server itself late by {:.1} us",
                middle(&|block| block.engine.p50) * 1e3,
                middle(&|block| block.way.p50) * 1e3,
                added * 1e3,
                middle(&|block| block.late) * 1e3
            ),
            blocks as u32,
            least >= service_ms * 0.999 && added <= bound,
        );
        let tails: Option<Vec<(f64, f64)>> = found.iter().map(|block| block.engine.p99.zip(block.way.p99)).collect();
        let Some(tails) = tails else {
            skipped(format!("constant service time of {name}: p99, since a block has fewer than 3,000 requests"));
            continue;
        };
        let tail = median(tails.iter().map(|(engine, _)| *engine).collect());
        let way = median(tails.iter().map(|(_, way)| *way).collect());
        let mut differences: Vec<f64> = tails.iter().map(|(engine, way)| engine - way).collect();
        differences.sort_by(f64::total_cmp);
        let (low, high) = (differences[blocks / 4], differences[blocks - 1 - blocks / 4]);
        let added = median(differences);
        let bound = 0.03 * middle(&|block| block.log_p99);
        table.row(
            format!("constant service time of {name}: p99"),
            format!("not below the log, at most 3 % ({:.0} us) above log and way", bound * 1e3),
            format!(
                "{:+.0} us of the log, bare sockets {:+.0} us; of the differences by block the middle one {:+.0} us \
                 (without a quarter at either end {:+.0} to {:+.0})",
                tail * 1e3,
                way * 1e3,
                added * 1e3,
                low * 1e3,
                high * 1e3
            ),
            blocks as u32,
            tail >= -0.001 * service_ms && added <= bound,
        );
    }
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn one_user_and_a_constant_service_time_of_1_ms() {
    constant(1000, &[(1, BLOCKS_NARROW)]);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn constant_service_time_of_1_ms() {
    constant(1000, &[(4, BLOCKS_NARROW), (16, BLOCKS_NARROW), (64, BLOCKS_NARROW)]);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn constant_service_time_of_5_ms() {
    constant(5000, &[(1, BLOCKS), (4, BLOCKS_NARROW), (16, BLOCKS_NARROW), (64, BLOCKS_NARROW)]);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn constant_service_time_of_20_ms() {
    constant(20_000, &[1, 4, 16, 64].map(|connections| (connections, BLOCKS)));
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn drawn_service_times() {
    let server = truth_server();
    let mut table = Table::default();
    for class in ["exponential-4000", "lognormal-4000,sigma-60", "bimodal-2000"] {
        for (connections, loads) in DRAWN {
            let loads = loads * repetitions();
            let mut off: [Vec<f64>; 5] = Default::default();
            let mut bounds: [f64; 5] = [f64::INFINITY; 5];
            for _ in 0..loads {
                let (times, did) = table.calm.measure(|number| {
                    let class = format!("{class},seed-{}", connections * 100 + number);
                    // 30,000 requests, as p99.9 needs.
                    let url = server.url(&format!("{class}/x"));
                    let load = QuickLoad { requests: Some(30_500), concurrency: connections, ..QuickLoad::new(url) };
                    (quick(&load, &StopFlag::new()).unwrap().response_time_ms, server.did(&class))
                });
                for (place, (name, reported)) in named(&times).into_iter().enumerate() {
                    let truth = did.service_ms(name);
                    off[place].push(reported.expect("there are enough requests") - truth);
                    bounds[place] = bounds[place].min(f64::max(0.100, truth * 0.02));
                }
            }
            let off = off.map(median);
            let worst = off.iter().zip(bounds).map(|(off, bound)| off.abs() / bound).fold(0.0, f64::max);
            let found: Vec<String> = off.iter().map(|off| format!("{:+.0}", off * 1e3)).collect();
            table.row(
                format!("{class}, {connections} connections: p50, p90, p95, p99, p99.9"),
                "each within 2 % or 100 us of the log",
                format!("{} us of the log, at worst {:.0} % of what is allowed", found.join(", "), worst * 100.0),
                loads,
                worst <= 1.0,
            );
        }
    }
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn stalls_at_a_rate() {
    let server = truth_server();
    let mut table = Table::default();
    let rate = Rate { per_second: 300.0, arrivals: Arrivals::Constant, seed: 1 };
    let found = load(&server, "stall-200", 102.0, 300, Some(rate));
    assert!(!found.is_refused(), "{:?}", found.validity);
    let times = found.response_time_ms;
    for (name, reported, truth) in [("p95", times.p95, 100.0), ("p99", times.p99, 180.0), ("p99.9", times.p999, 198.0)]
    {
        let reported: f64 = reported.expect("there are enough requests");
        table.row(
            format!("a stall of 200 ms every 2 s at 300/s, open: {name}"),
            format!("{truth} ms within 5 %"),
            format!("{reported:.1} ms"),
            1,
            (reported / truth - 1.0).abs() <= 0.05,
        );
    }
    let lie = load(&server, "stall-200,size-1", 10.0, 1, None).response_time_ms.p99.unwrap_or(0.0);
    table.row("the same by one user who waits: p99", "hides it: below 18 ms", format!("{lie:.2} ms"), 1, lie < 18.0);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn a_frozen_server() {
    const REQUESTS: u64 = 3000;
    const PER_SECOND: f64 = 200.0;
    const FROZEN: u32 = 3;
    let server = truth_server();
    let mut table = Table::default();
    let quantiles = [0.9, 0.95, 0.99];
    let (mut off, mut worked_off): ([Vec<f64>; 3], [Vec<f64>; 3]) = Default::default();
    let mut stood_ms = Vec::new();
    for run in 0..FROZEN * repetitions() {
        let class = format!("constant-0,seed-{run}");
        let (found, frozen) = frozen_within(&server, (&class, REQUESTS, PER_SECOND), Duration::from_millis(2500));
        let stood = (frozen.until - frozen.from).as_secs_f64() * 1e3;
        stood_ms.push(stood);
        let truth = from_due_to_departure_ms(server.log(&class), PER_SECOND);
        let times = found.response_time_ms;
        for (place, reported) in [times.p90, times.p95, times.p99].into_iter().enumerate() {
            let beyond_ms = (1.0 - quantiles[place]) * REQUESTS as f64 / PER_SECOND * 1e3;
            let truth_ms = truth[(quantiles[place] * truth.len() as f64).ceil() as usize - 1];
            off[place].push(reported.expect("there are enough requests") / truth_ms - 1.0);
            // Were all who waited answered at once, the percentile would be what was left of the stop then.
            worked_off[place].push(truth_ms - (stood - beyond_ms));
        }
    }
    let (off, worked_off) = (off.map(median), worked_off.map(median));
    table.row(
        format!("a server that is stopped (SIGSTOP) for {:.0} ms of 15 s at 200/s: p90, p95, p99", median(stood_ms)),
        "within 5 % of what its departures say",
        format!(
            "{}; they are later than the end of the stop by {} ms, as those who waited are worked off",
            off.map(|off| format!("{:+.2} %", off * 100.0)).join(", "),
            worked_off.map(|late| format!("{late:.0}")).join(", ")
        ),
        FROZEN * repetitions(),
        off.iter().all(|off| off.abs() <= 0.05),
    );
}

/// Times from due to departure of requests at a constant rate, in milliseconds, sorted: the n-th that was due is taken
/// for the n-th that departed, since the server answers in the order of coming. They are due as the earliest one in its
/// log says, against which all others came late or in time.
fn from_due_to_departure_ms(mut log: Vec<Logged>, per_second: f64) -> Vec<f64> {
    let due_ms = |place: usize| place as f64 / per_second * 1e3;
    log.sort_by_key(|logged| logged.arrival_ns);
    let arrivals = log.iter().enumerate().map(|(place, logged)| logged.arrival_ns as f64 / 1e6 - due_ms(place));
    let begun_ms = arrivals.fold(f64::INFINITY, f64::min);
    log.sort_by_key(|logged| logged.departure_ns);
    let departures = log.iter().enumerate().map(|(place, logged)| logged.departure_ns as f64 / 1e6 - due_ms(place));
    let mut waits: Vec<f64> = departures.map(|departed_ms| departed_ms - begun_ms).collect();
    waits.sort_by(f64::total_cmp);
    waits
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn paced_bodies() {
    let server = truth_server();
    let mut table = Table::default();
    for framing in ["chunked-0", "chunked-1", "close-1"] {
        let (found, did) = table.calm.measure(|number| {
            let class = format!("bytes-1048576,pace-10485760,{framing},seed-{number}");
            let url = server.url(&format!("{class}/x"));
            let load = QuickLoad { requests: Some(20), concurrency: 2, ..QuickLoad::new(url) };
            (quick(&load, &StopFlag::new()).unwrap(), server.did(&class))
        });
        assert_eq!(did.count("answered/200"), 20);
        let rate = (found.body_bytes_received / 20) as f64 / (found.service_time_ms.mean / 1e3);
        let share = rate / f64::from(10 << 20);
        table.row(
            format!("a body of 1 MiB at 10 MiB/s, {framing}"),
            "bytes exact, rate within 2 %",
            format!("{} bytes, {:+.2} %", found.body_bytes_received / 20, (share - 1.0) * 100.0),
            20,
            found.body_bytes_received == 20 << 20 && (share - 1.0).abs() <= 0.02,
        );
    }
}
