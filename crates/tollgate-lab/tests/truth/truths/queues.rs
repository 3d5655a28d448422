//! Queues of one server, M/M/1 and M/D/1, against Pollaczek and Khinchine.
//!
//! The mean wait of a single queue comes to rest slowly: 5 % takes 100,000 requests at times that are long against the way
//! there, which is a quarter of an hour for each row. So many queues stand beside each other, and each request goes to any of
//! them, which divides one Poisson process into as many.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use tollgate_lab::load::feed::{Feed, FeedEnd, Order, csv};
use tollgate_lab::load::{Arrivals, QuickLoad, Rate, quick};
use tollgate_lab::run::StopFlag;

use super::{Table, median};
use crate::bare::bare_mean_at_rate_ms;
use crate::server::{TruthServer, truth_server};

/// Queues for each millisecond of service time: all rows have as many requests a second.
const QUEUES_BY_MS: u32 = 8;
/// Into so many parts a row is divided: the way is measured before each, and behind the last.
const PARTS: u32 = 9;
/// Each of these slices for so long. The middle of them counts: 50 ms in which the host takes the core away are more than a
/// millisecond in a mean over one second.
const WAY_SLICE: Duration = Duration::from_millis(1000);

/// What came of a part of a row.
struct Part {
    requests: f64,
    /// Sums over its requests: as reported, and by the server's log in all and of what was drawn as service times.
    response_ms: f64,
    sojourn_ms: f64,
    drawn_ms: f64,
}

/// Classes of the server that differ by their seeds alone.
fn classes(of: &str, number: usize, count: u32) -> Vec<String> {
    (0..count).map(|class| format!("{of},seed-{number}{class:02}")).collect()
}

/// A Poisson load of so many requests a second on these queues; the numbers come from a seed.
fn part(server: &TruthServer, queues: &[String], (per_second, seconds): (f64, f64), seed: usize) -> Part {
    let mut rows = String::from("class\n");
    queues.iter().for_each(|class| writeln!(rows, "\"{class}\"").expect("a String takes whatever is written"));
    let table = Arc::new(csv::Table::parse(rows.as_bytes()).unwrap());
    let load = QuickLoad {
        rate: Some(Rate { per_second, arrivals: Arrivals::Poisson, seed: 100 + seed as u64 }),
        duration: Some(Duration::from_secs_f64(seconds)),
        concurrency: 2000,
        feed: Some(Feed { table, order: Order::Random, end: FeedEnd::Again, seed: 200 + seed as u64 }),
        ..QuickLoad::new(server.url("{{class|raw}}/x"))
    };
    let found = quick(&load, &StopFlag::new()).unwrap();
    assert!(found.errors.is_empty(), "{:?}", found.error_examples);
    let (mut requests, mut sojourn_ms, mut drawn_ms) = (0.0, 0.0, 0.0);
    for queue in queues {
        let did = server.did(queue);
        let count = did.count("received") as f64;
        requests += count;
        sojourn_ms += did.service_ms("mean") * count;
        drawn_ms += did.ms("drawn_ns/mean") * count;
    }
    Part { requests, response_ms: found.response_time_ms.mean * requests, sojourn_ms, drawn_ms }
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn mean_waits() {
    let server = truth_server();
    let mut table = Table::default();
    for (name, time) in [("M/D/1", "constant"), ("M/M/1", "exponential")] {
        // Where the wait is short against the service, that is longer: of a wait of 0.4 ms, what the way differs by from one
        // slice to the next is 5 %.
        for (busy, service_us, bound, seconds) in
            [(0.3, 4000, 0.05, 20.0), (0.6, 2000, 0.05, 20.0), (0.8, 2000, 0.10, 22.0)]
        {
            let service_ms = f64::from(service_us) / 1e3;
            let queues = QUEUES_BY_MS * service_us / 1000;
            let per_second = busy * f64::from(queues) * 1e3 / service_ms;
            // The way: what bare sockets at the same rate see beyond the service time where nobody waits, in turns with the load.
            // How late the server itself is belongs to it, since the truth is arithmetic's and not the server's.
            let way_ms = |number: usize| {
                let alone = classes(&format!("constant-{service_us}"), number, queues);
                bare_mean_at_rate_ms(&server, &alone, per_second, WAY_SLICE, number as u64) - service_ms
            };
            let mut ways_ms = vec![table.calm.measure(way_ms)];
            let mut parts = Vec::new();
            for _ in 0..PARTS {
                let load = (per_second, seconds / f64::from(PARTS));
                parts.push(table.calm.measure(|number| {
                    let queues = classes(&format!("{time}-{service_us},queue-1"), number, queues);
                    part(&server, &queues, load, number)
                }));
                ways_ms.push(table.calm.measure(way_ms));
            }
            let [least_us, most_us] = [f64::min, f64::max]
                .map(|of| ways_ms.iter().copied().reduce(of).expect("there is one before all") * 1e3);
            let way_ms = median(ways_ms);
            let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
            let requests = sum(|part| part.requests);
            let drawn_ms = sum(|part| part.drawn_ms) / requests;
            let logged_ms = sum(|part| part.sojourn_ms) / requests - drawn_ms;
            let wait_ms = sum(|part| part.response_ms) / requests - drawn_ms - way_ms;
            let of_exponential = if name == "M/M/1" { 1.0 } else { 0.5 };
            let truth_ms = service_ms * of_exponential * busy / (1.0 - busy);
            table.row(
                format!("{name} at {busy}, service time {service_ms} ms: mean wait"),
                format!("{truth_ms:.3} ms within {:.0} %", bound * 100.0),
                format!(
                    "{wait_ms:.3} ms, {:+.1} %; the log {logged_ms:.3} ms; {requests} requests, bare sockets see {:.0} us beyond the service \
                     time ({least_us:.0} to {most_us:.0})",
                    (wait_ms / truth_ms - 1.0) * 100.0,
                    way_ms * 1e3
                ),
                1,
                (wait_ms / truth_ms - 1.0).abs() <= bound,
            );
        }
    }
}
