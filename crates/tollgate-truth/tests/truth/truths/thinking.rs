//! Users who think, at one server with a queue, compared with a simulation of them: answers per second, the time of an
//! answer, and how often the interval of a run covers both. A simulated answer takes no way: the time of bare sockets
//! at the same rate, where nobody waits, is added.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tollgate_facts::results::Cell;
use tollgate_facts::stats::Estimate;
use tollgate_lab::experiment::Experiment;

use super::{Table, median};
use crate::bare::bare_mean_at_rate_ms;
use crate::run::measure;
use crate::server::{TruthServer, truth_server};

/// Runs of each row: with fewer a mean by chance is off by more than its bound.
const RUNS: u32 = 40;
/// Blocks of each, of two trials that are as long as an iteration's thinking at least: a quarter of an hour. A thousand users
/// think for longer, and are asked for as many answers in half of them.
const BLOCKS: u32 = 8;
const MANY_USERS: u32 = 1_000;
/// Fewest runs whose interval must cover the truth.
const COVERED_MIN: usize = 36;
/// Time for measuring the way behind each run; the middle of them counts.
const WAY_SLICE: Duration = Duration::from_millis(500);
/// Simulated seconds, after those in which the queue settles.
const SIMULATED_S: f64 = 20_000.0;
const AT_REST_S: f64 = 100.0;
/// Beyond this utilisation a mean time may be off by more.
const BUSY: f64 = 0.7;

/// A server of one queue: its class, and the nanoseconds that it takes for a number drawn from 0 to 1.
#[derive(Debug, Clone, Copy)]
struct Service {
    name: &'static str,
    class: &'static str,
    /// Times of the shortest one on average.
    mean: f64,
    times: fn(f64) -> f64,
}

const CONSTANT: Service = Service { name: "constant", class: "constant", mean: 1.0, times: |_| 1.0 };
/// Nine of ten take one part, the tenth takes ten: a coefficient of variation of 1.42.
const BIMODAL: Service =
    Service { name: "bimodal", class: "bimodal", mean: 1.9, times: |drawn| if drawn < 0.9 { 1.0 } else { 10.0 } };

/// Answers each second, and their mean time in milliseconds, of users who think for exponential times and wait in one queue.
fn simulated(users: u32, think_ms: u32, service: Service, unit_us: u32) -> [f64; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(24);
    let mut exponential = {
        let mut random = ChaCha8Rng::seed_from_u64(25);
        move || -(1.0 - random.random_range(0.0..1.0_f64)).ln() * f64::from(think_ms) / 1e3
    };
    // Nanoseconds, which are in order.
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    let mut asking: BinaryHeap<Reverse<u64>> = (0..users).map(|_| Reverse(ns(exponential()))).collect();
    let (mut free_s, mut answers, mut total_s) = (0.0_f64, 0_u64, 0.0);
    while let Some(Reverse(at_ns)) = asking.pop() {
        let at_s = at_ns as f64 / 1e9;
        if at_s > AT_REST_S + SIMULATED_S {
            break;
        }
        free_s = free_s.max(at_s) + (service.times)(random.random_range(0.0..1.0)) * f64::from(unit_us) / 1e6;
        if at_s > AT_REST_S {
            answers += 1;
            total_s += free_s - at_s;
        }
        asking.push(Reverse(ns(free_s + exponential())));
    }
    [answers as f64 / SIMULATED_S, total_s / answers as f64 * 1e3]
}

fn experiment(server: &TruthServer, class: &str, users: u32, think_ms: u32) -> Experiment {
    let url = server.url(&format!("{class}/x"));
    let text = format!(
        "name = \"thinking\"\nquestion = \"Is it true?\"\n[factor]\nname = \"concurrency\"\nlevels = [{users}]\n\
         [workload]\nkind = \"scenario\"\n[extent.quick]\nslice_ms = 1000\n\
         [[variant]]\nname = \"bottom\"\nurl = \"{url}\"\n[[scenario]]\nname = \"asking\"\n[[scenario.step]]\n\
         name = \"ask\"\npath = \"x\"\nstatus = 200\nthink = {{ ms = {think_ms}, distribution = \"exponential\" }}\n"
    );
    Experiment::parse(&text, "thinking.toml").unwrap()
}

/// One row of throughput and one of response time: users, their mean time to think, and the shortest service time. Answers
/// take some milliseconds, so that what the lab needs beyond the way, 30 to 40 us, is small against an interval.
fn think(users: u32, think_ms: u32, service: Service, unit_us: u32) {
    let server = truth_server();
    let [per_second, answer_ms] = simulated(users, think_ms, service, unit_us);
    let utilisation = per_second * service.mean * f64::from(unit_us) / 1e6;
    let blocks = if users < MANY_USERS { BLOCKS } else { BLOCKS / 2 };
    let mut table = Table::default();
    table.calm.unit = "runs";
    let mut ways_ms = Vec::new();
    let cells: Vec<Cell> = (0..RUNS)
        .map(|_| {
            ways_ms.push(table.calm.measure(|number| {
                let alone = [format!("constant-{unit_us},seed-{number}")];
                bare_mean_at_rate_ms(&server, &alone, per_second, WAY_SLICE, number as u64) - f64::from(unit_us) / 1e3
            }));
            table.calm.measure(|number| {
                let class = format!("{}-{unit_us},queue-1,seed-{number}", service.class);
                let (outcome, _folder) = measure(&server, experiment(&server, &class, users, think_ms), blocks, &());
                outcome.result.cells.into_iter().next().expect("it has one cell")
            })
        })
        .collect();
    let way_ms = median(ways_ms);
    let of_cells = |of: fn(&Cell) -> Estimate| cells.iter().map(of).collect::<Vec<Estimate>>();
    let rates = ("answers a second", 0.01, of_cells(|cell| cell.requests_per_second));
    let times = ("ms an answer", if utilisation > BUSY { 0.10 } else { 0.05 }, of_cells(|cell| cell.unit_time_ms));
    for ((name, bound, found), truth) in [rates, times].into_iter().zip([per_second, answer_ms + way_ms]) {
        let mean = found.iter().map(|found| found.mean).sum::<f64>() / f64::from(RUNS);
        let covered = found.iter().filter(|found| (found.low..=found.high).contains(&truth)).count();
        let off = mean / truth - 1.0;
        table.row(
            format!(
                "{users} users who think for {think_ms} ms, {} service, busy {:.0} %: {name}",
                service.name,
                utilisation * 100.0
            ),
            format!("{truth:.3} within {:.0} %, covered by {COVERED_MIN} of {RUNS}", bound * 100.0),
            format!(
                "{mean:.3}, {:+.1} %, covered by {covered}; bare sockets see {:.0} us beyond the service time",
                off * 100.0,
                way_ms * 1e3
            ),
            RUNS,
            off.abs() <= bound && covered >= COVERED_MIN,
        );
    }
}

#[test]
fn a_simulation_without_a_queue_is_the_law_of_response_times() {
    // N = X (R + Z): 50 users who think for half a second and are answered in a millisecond.
    let [per_second, answer_ms] = simulated(50, 500, CONSTANT, 1000);
    assert!((per_second * (answer_ms / 1e3 + 0.5) / 50.0 - 1.0).abs() < 0.005, "{per_second} {answer_ms}");
    assert!((1.0..1.1).contains(&answer_ms), "{answer_ms}");
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn fifty_users_at_a_server_that_rests() {
    think(50, 500, CONSTANT, 3000);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn fifty_users_at_a_constant_server() {
    think(50, 500, CONSTANT, 6000);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn fifty_users_at_a_bimodal_server() {
    think(50, 500, BIMODAL, 3000);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn two_hundred_users_at_a_constant_server() {
    think(200, 1000, CONSTANT, 3000);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn two_hundred_users_at_a_bimodal_server() {
    think(200, 1000, BIMODAL, 1500);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn a_thousand_users_at_a_constant_server() {
    think(1000, 2000, CONSTANT, 1400);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn a_thousand_users_at_a_bimodal_server() {
    think(1000, 2000, BIMODAL, 600);
}
