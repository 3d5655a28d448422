//! Queues of one server, M/M/1 and M/D/1, against Pollaczek and Khinchine.
//!
//! The mean wait of a single queue comes to rest slowly: 5 % takes 100,000 requests at times that are long against the way
//! there, which is a quarter of an hour for each row. So sixteen queues stand beside each other, and each request goes to any
//! of them, which divides one Poisson process into sixteen.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use tollgate_lab::load::feed::{Feed, FeedEnd, Order, csv};
use tollgate_lab::load::{Arrivals, QuickLoad, QuickResult, Rate, quick};
use tollgate_lab::run::StopFlag;

use super::{Table, median};
use crate::server::{TruthServer, truth_server};

const QUEUES: u32 = 16;
const SERVICE_MS: f64 = 2.0;
/// So often the way is measured before and after, each for so long. The middle one counts: 50 ms in which the host takes
/// the core away are 0.6 ms in a mean over 2 s.
const WAYS: u32 = 3;
const WAY_SECONDS: f64 = 1.0;

/// A Poisson load of so many requests a second on any of these classes.
fn load(server: &TruthServer, classes: &[String], per_second: f64, seconds: f64) -> QuickResult {
    let mut rows = String::from("class\n");
    classes.iter().for_each(|class| writeln!(rows, "\"{class}\"").expect("a String takes whatever is written"));
    let table = Arc::new(csv::Table::parse(rows.as_bytes()).unwrap());
    let load = QuickLoad {
        rate: Some(Rate { per_second, arrivals: Arrivals::Poisson, seed: 8 }),
        duration: Some(Duration::from_secs_f64(seconds)),
        concurrency: 2000,
        feed: Some(Feed { table, order: Order::Random, end: FeedEnd::Again, seed: 9 }),
        ..QuickLoad::new(server.url("{{class|raw}}/x"))
    };
    let found = quick(&load, &StopFlag::new()).unwrap();
    assert!(found.errors.is_empty(), "{:?}", found.error_examples);
    found
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn mean_waits() {
    let server = truth_server();
    let mut table = Table::default();
    for (name, time) in [("M/D/1", "constant-2000"), ("M/M/1", "exponential-2000")] {
        for (busy, bound, seconds) in [(0.3, 0.05, 20.0), (0.6, 0.05, 20.0), (0.8, 0.10, 22.0)] {
            let per_second = busy * f64::from(QUEUES) * 1e3 / SERVICE_MS;
            // What requests take beyond their service where nobody waits, at the same rate: the way, before and after.
            let alone: Vec<String> =
                (0..QUEUES).map(|seed| format!("constant-2000,seed-{seed}{}", busy * 10.0)).collect();
            let by_itself = || load(&server, &alone, per_second, WAY_SECONDS).response_time_ms.mean - SERVICE_MS;
            let mut ways: Vec<f64> = (0..WAYS).map(|_| by_itself()).collect();
            let queues: Vec<String> =
                (0..QUEUES).map(|seed| format!("{time},queue-1,seed-{seed}{}", busy * 10.0)).collect();
            let found = load(&server, &queues, per_second, seconds);
            ways.extend((0..WAYS).map(|_| by_itself()));
            let way_ms = median(ways);
            let (mut requests, mut drawn_ms, mut sojourn_ms) = (0.0, 0.0, 0.0);
            for queue in &queues {
                let did = server.did(queue);
                let count = did.count("received") as f64;
                requests += count;
                drawn_ms += did.ms("drawn_ns/mean") * count;
                sojourn_ms += did.service_ms("mean") * count;
            }
            let (drawn_ms, logged_ms) = (drawn_ms / requests, (sojourn_ms - drawn_ms) / requests);
            let wait_ms = found.response_time_ms.mean - drawn_ms - way_ms;
            let of_exponential = if name == "M/M/1" { 1.0 } else { 0.5 };
            let truth_ms = SERVICE_MS * of_exponential * busy / (1.0 - busy);
            table.row(
                format!("{name} at {busy}: mean wait"),
                format!("{truth_ms:.3} ms within {:.0} %", bound * 100.0),
                format!(
                    "{wait_ms:.3} ms, {:+.1} %; the log {logged_ms:.3} ms; {requests} requests, way {:.0} us",
                    (wait_ms / truth_ms - 1.0) * 100.0,
                    way_ms * 1e3
                ),
                1,
                (wait_ms / truth_ms - 1.0).abs() <= bound,
            );
        }
    }
}
