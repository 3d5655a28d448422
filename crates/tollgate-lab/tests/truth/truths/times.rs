//! Times: constant and drawn ones against the server's log, stalls against arithmetic, paces.

use std::time::{Duration, Instant};

use tollgate_lab::cores::Cores;
use tollgate_lab::load::{Arrivals, QuickLoad, QuickResult, Rate, quick};
use tollgate_lab::results::Percentiles;
use tollgate_lab::run::StopFlag;

use super::{Table, median, repetitions};
use crate::frozen::frozen_within;
use crate::server::{Did, TruthServer, truth_server};

fn load(server: &TruthServer, class: &str, seconds: f64, concurrency: usize, rate: Option<Rate>) -> QuickResult {
    let url = server.url(&format!("{class}/x"));
    let duration = Some(Duration::from_secs_f64(seconds));
    quick(&QuickLoad { duration, concurrency, rate, ..QuickLoad::new(url) }, &StopFlag::new()).unwrap()
}

/// Percentiles by their names in the server's log.
fn named(times: &Percentiles) -> [(&'static str, Option<f64>); 5] {
    [("p50", times.p50), ("p90", times.p90), ("p95", times.p95), ("p99", times.p99), ("p99.9", times.p999)]
}

/// What the simplest possible client, a blocking socket on the generator's core, sees of a class beyond the server's log,
/// at the median and at p99: the way there and back. Where idle cores halt, as in many virtual machines, waking one takes
/// 50 to 80 us.
fn way_ms(server: &TruthServer, class: &str, requests: usize) -> (f64, f64) {
    let class = format!("{class},seed-1000000");
    let mut times: Vec<f64> = {
        let _pinned = Cores::divide().pin_to_generator();
        let mut client = server.client();
        let mut ask = || {
            let start = Instant::now();
            client.answer(&format!("{class}/x"));
            start.elapsed().as_secs_f64() * 1e3
        };
        (0..requests).map(|_| ask()).collect()
    };
    times.sort_by(f64::total_cmp);
    let did = server.did(&class);
    (times[requests / 2] - did.service_ms("p50"), times[requests * 99 / 100] - did.service_ms("p99"))
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn constant_service_times() {
    let server = truth_server();
    let mut table = Table::default();
    for (service_us, seconds) in [(1000, 4.0), (5000, 4.0), (20_000, 4.0)] {
        let class = format!("constant-{service_us}");
        let (way_p50_ms, way_p99_ms) = way_ms(&server, &class, (2_000_000 / service_us).max(300));
        for connections in [1, 4, 16, 64] {
            // A 99th percentile takes 3,000 requests.
            let seconds = f64::max(seconds, 3100.0 * service_us as f64 / 1e6 / connections as f64).min(8.0);
            let (mut least, mut above, mut tails, mut own) = (f64::INFINITY, Vec::new(), Vec::new(), Vec::new());
            for run in 0..repetitions() {
                let class = format!("{class},seed-{}", connections * 100 + run as usize);
                let times = load(&server, &class, seconds, connections, None).response_time_ms;
                let did = server.did(&class);
                let p50 = times.p50.expect("there are enough requests") - did.service_ms("p50");
                least = least.min(times.p50.expect("there are enough requests") - service_us as f64 / 1e3);
                above.push(p50);
                own.push(did.ms("late_ns/p50"));
                tails.extend(times.p99.map(|p99| p99 - did.service_ms("p99")));
            }
            let service_ms = service_us as f64 / 1e3;
            let (above, own) = (median(above), median(own));
            let bound = f64::max(0.060, service_ms * 0.01);
            let name = format!("{service_ms} ms, {connections} connections");
            table.row(
                format!("constant service time of {name}: p50"),
                format!("never below, at most {:.0} us above log and way", bound * 1e3),
                format!(
                    "{:+.0} us of the log; a bare socket {:+.0} us; the server itself late by {:.1} us",
                    above * 1e3,
                    way_p50_ms * 1e3,
                    own * 1e3
                ),
                repetitions(),
                least >= -0.001 * service_ms && above >= -0.001 * service_ms && above - way_p50_ms <= bound,
            );
            if tails.is_empty() {
                continue;
            }
            let tail = median(tails);
            table.row(
                format!("constant service time of {name}: p99"),
                "within 3 % of log and way",
                format!("{:+.0} us of the log; a bare socket {:+.0} us", tail * 1e3, way_p99_ms * 1e3),
                repetitions(),
                (tail - way_p99_ms).abs() <= 0.03 * service_ms.max(1.0) || (tail >= 0.0 && tail <= 0.03 * service_ms),
            );
        }
    }
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn drawn_service_times() {
    let server = truth_server();
    let mut table = Table::default();
    for class in ["exponential-4000", "lognormal-4000,sigma-60", "bimodal-2000"] {
        for connections in [8, 32] {
            let mut off: [Vec<f64>; 5] = Default::default();
            let mut bounds: [f64; 5] = [0.0; 5];
            for run in 0..repetitions() {
                let class = format!("{class},seed-{}", connections * 100 + run as usize);
                // 30,000 requests, as p99.9 needs.
                let url = server.url(&format!("{class}/x"));
                let load = QuickLoad { requests: Some(30_500), concurrency: connections, ..QuickLoad::new(url) };
                let times = quick(&load, &StopFlag::new()).unwrap().response_time_ms;
                let did = server.did(&class);
                for (place, (name, reported)) in named(&times).into_iter().enumerate() {
                    let truth = did.service_ms(name);
                    off[place].push(reported.expect("there are enough requests") - truth);
                    bounds[place] = f64::max(0.100, truth * 0.02);
                }
            }
            let off = off.map(median);
            let worst = off.iter().zip(bounds).map(|(off, bound)| off.abs() / bound).fold(0.0, f64::max);
            let found: Vec<String> = off.iter().map(|off| format!("{:+.0}", off * 1e3)).collect();
            table.row(
                format!("{class}, {connections} connections: p50, p90, p95, p99, p99.9"),
                "each within 2 % or 100 us of the log",
                format!("{} us of the log, at worst {:.0} % of what is allowed", found.join(", "), worst * 100.0),
                repetitions(),
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
    // Those who waited are answered one after another, 50 to 100 us each with their connections: 3 % of a second at most.
    let server = truth_server();
    let mut table = Table::default();
    let quantiles = [0.9, 0.95, 0.99];
    let mut off: [Vec<f64>; 3] = Default::default();
    let mut stood_ms = Vec::new();
    for run in 0..repetitions() {
        let class = format!("constant-0,seed-{run}");
        let (found, frozen) = frozen_within(&server, (&class, REQUESTS, PER_SECOND), Duration::from_millis(2500));
        let stood = frozen.until - frozen.from;
        stood_ms.push(stood.as_secs_f64() * 1e3);
        let times = found.response_time_ms;
        for (place, reported) in [times.p90, times.p95, times.p99].into_iter().enumerate() {
            // Requests that came while it stood waited for its end, the first of them longest.
            let truth_ms = stood.as_secs_f64() * 1e3 - (1.0 - quantiles[place]) * REQUESTS as f64 / PER_SECOND * 1e3;
            off[place].push(reported.expect("there are enough requests") / truth_ms - 1.0);
        }
    }
    let off = off.map(median);
    table.row(
        format!("a server that is stopped (SIGSTOP) for {:.0} ms of 15 s at 200/s: p90, p95, p99", median(stood_ms)),
        "within 5 % of arithmetic",
        off.map(|off| format!("{:+.2} %", off * 100.0)).join(", "),
        repetitions(),
        off.iter().all(|off| off.abs() <= 0.05),
    );
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn paced_bodies() {
    let server = truth_server();
    let mut table = Table::default();
    for framing in ["chunked-0", "chunked-1", "close-1"] {
        let class = format!("bytes-1048576,pace-10485760,{framing}");
        let url = server.url(&format!("{class}/x"));
        let load = QuickLoad { requests: Some(20), concurrency: 2, ..QuickLoad::new(url) };
        let found = quick(&load, &StopFlag::new()).unwrap();
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
    let did: Did = server.did("bytes-1048576,pace-10485760,chunked-0");
    assert_eq!(did.count("answered/200"), 20);
}
