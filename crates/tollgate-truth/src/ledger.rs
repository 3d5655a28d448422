//! The server's true record: for each class the exact counts, and when each request came, when its answer was due, and
//! when it was given.
//!
//! It is the truth for all figures, so it keeps every request (no histogram) and computes percentiles by sorting. The
//! lateness of its own answers is a part of it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

/// Requests that a class keeps times of; later ones are counted only. 32 bytes each.
const TIMES_MAX: usize = 4_000_000;

/// Everything that was done since the start.
#[derive(Debug)]
pub(crate) struct Ledger {
    start: Instant,
    classes: BTreeMap<String, Class>,
}

/// The record of one class.
#[derive(Debug, Default)]
struct Class {
    /// Requests that came.
    received: u64,
    /// Answers by status.
    answered: BTreeMap<u16, u64>,
    /// Answers of another entity than the one asked for.
    wrong: u64,
    /// Connections reset without an answer.
    reset: u64,
    /// Answers that ended in the middle of their body.
    halved: u64,
    /// Answers that the client did not wait for.
    left: u64,
    /// Bytes of the answers' bodies.
    body_bytes: u64,
    in_flight: u64,
    in_flight_max: u64,
    /// CPU time spent on purpose.
    burned_ns: u64,
    times: Vec<Times>,
    /// CPU time of the serving thread from each arrival to the next one of any class: all of a request if they come one
    /// after another, the intended burn and the cost to read, answer and wake tasks that wait.
    thread_ns: Vec<u64>,
}

/// The times of one request, in nanoseconds since the start.
#[derive(Debug, Clone, Copy)]
struct Times {
    arrival_ns: u64,
    /// Its service time, without any waiting.
    service_ns: u64,
    due_ns: u64,
    departure_ns: u64,
}

/// One request from arrival to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) arrival: Instant,
    /// Its service time.
    pub(crate) service: Duration,
    /// The time when its answer was due.
    pub(crate) due: Instant,
    pub(crate) burned_ns: u64,
    pub(crate) end: End,
}

/// The ways in which one request ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// With the right answer, or the stated error, and its body's length.
    Answered { status: u16, body_bytes: u64 },
    /// With another entity's answer.
    Wrong { body_bytes: u64 },
    /// Without an answer: the connection was reset.
    Reset,
    /// With the head and half of the body.
    Halved,
    /// The client went away.
    Left,
}

impl Ledger {
    pub(crate) fn new(start: Instant) -> Ledger {
        Ledger { start, classes: BTreeMap::new() }
    }

    /// The time when it began.
    pub(crate) fn start(&self) -> Instant {
        self.start
    }

    /// A request came: its position among those of its class, from 0.
    pub(crate) fn arrive(&mut self, class: &str) -> u64 {
        if !self.classes.contains_key(class) {
            self.classes.insert(class.to_owned(), Class::default());
        }
        let class = self.classes.get_mut(class).expect("it was inserted above");
        class.received += 1;
        class.in_flight += 1;
        class.in_flight_max = class.in_flight_max.max(class.in_flight);
        class.received - 1
    }

    /// Records a request that is about to be answered.
    pub(crate) fn depart(&mut self, class: &str, visit: &Visit, departure: Instant) {
        let start = self.start;
        let class = self.classes.get_mut(class).expect("what departs has arrived");
        class.in_flight -= 1;
        class.burned_ns += visit.burned_ns;
        match visit.end {
            End::Answered { status, body_bytes } => {
                *class.answered.entry(status).or_default() += 1;
                class.body_bytes += body_bytes;
            }
            End::Wrong { body_bytes } => {
                *class.answered.entry(200).or_default() += 1;
                class.wrong += 1;
                class.body_bytes += body_bytes;
            }
            End::Reset => class.reset += 1,
            End::Halved => class.halved += 1,
            End::Left => class.left += 1,
        }
        if class.times.len() < TIMES_MAX {
            let since = |at: Instant| at.duration_since(start).as_nanos() as u64;
            class.times.push(Times {
                arrival_ns: since(visit.arrival),
                service_ns: visit.service.as_nanos() as u64,
                due_ns: since(visit.due),
                departure_ns: since(departure),
            });
        }
    }

    /// Records the CPU time of the serving thread since a request of this class came, as the next one comes.
    pub(crate) fn used(&mut self, class: &str, thread_ns: u64) {
        let class = self.classes.get_mut(class).expect("it has arrived");
        if class.thread_ns.len() < TIMES_MAX {
            class.thread_ns.push(thread_ns);
        }
    }

    /// The counts as JSON, one object for each class.
    pub(crate) fn counts(&self) -> String {
        let all: Map<String, Value> = self.classes.iter().map(|(name, class)| (name.clone(), class.counts())).collect();
        format!("{}\n", Value::Object(all))
    }

    /// Every arrival and departure as CSV, of one class if it is named, in the order of departure.
    pub(crate) fn log(&self, of: Option<&str>) -> String {
        let mut text = String::from("class,arrival_ns,service_ns,due_ns,departure_ns\n");
        for (name, class) in self.classes.iter().filter(|(name, _)| of.is_none_or(|of| of == name.as_str())) {
            for Times { arrival_ns, service_ns, due_ns, departure_ns } in &class.times {
                writeln!(text, "\"{name}\",{arrival_ns},{service_ns},{due_ns},{departure_ns}")
                    .expect("a String takes whatever is written");
            }
        }
        text
    }

    /// CPU time of the thread for each request of a class, in the order of their arrival and as a table.
    pub(crate) fn cpu(&self, of: &str) -> String {
        let class = self.classes.get(of);
        let lines = class.into_iter().flat_map(|class| &class.thread_ns).map(|ns| format!("{ns}\n"));
        std::iter::once("thread_ns\n".to_owned()).chain(lines).collect()
    }

    /// Lateness of its own answers, a line for each class: the error of the server itself.
    pub(crate) fn error(&self) -> String {
        let mut text = String::new();
        for (name, class) in &self.classes {
            let late = class.sorted(Times::late_ns);
            let us = |share: f64| percentile(&late, share) as f64 / 1e3;
            writeln!(
                text,
                "{name}: {} answers left after they were due, half of them by at most {:.1} µs, 99 % by {:.1} µs, all by {:.1} µs",
                late.len(),
                us(0.5),
                us(0.99),
                us(1.0)
            )
            .expect("a String takes whatever is written");
        }
        text
    }
}

impl Times {
    fn sojourn_ns(&self) -> u64 {
        self.departure_ns - self.arrival_ns
    }

    fn late_ns(&self) -> u64 {
        self.departure_ns.saturating_sub(self.due_ns)
    }
}

impl Class {
    fn sorted(&self, of: impl Fn(&Times) -> u64) -> Vec<u64> {
        sorted(self.times.iter().map(of).collect())
    }

    fn counts(&self) -> Value {
        let answered: Map<String, Value> =
            self.answered.iter().map(|(status, count)| (status.to_string(), json!(count))).collect();
        json!({
            "received": self.received,
            "answered": answered,
            "wrong": self.wrong,
            "reset": self.reset,
            "halved": self.halved,
            "left": self.left,
            "body_bytes": self.body_bytes,
            "in_flight_max": self.in_flight_max,
            "burned_ns": self.burned_ns,
            // From arrival to departure, what it was to be without any waiting, and how long after it was due.
            "service_ns": spread(&self.sorted(Times::sojourn_ns)),
            "drawn_ns": spread(&self.sorted(|times| times.service_ns)),
            "late_ns": spread(&self.sorted(Times::late_ns)),
            // CPU time of the thread from each arrival to the next.
            "thread_ns": spread(&sorted(self.thread_ns.clone())),
        })
    }
}

fn sorted(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values
}

fn spread(sorted: &[u64]) -> Value {
    let mean = sorted.iter().sum::<u64>() / (sorted.len() as u64).max(1);
    json!({
        "min": percentile(sorted, 0.0),
        "mean": mean,
        "p50": percentile(sorted, 0.5),
        "p90": percentile(sorted, 0.9),
        "p95": percentile(sorted, 0.95),
        "p99": percentile(sorted, 0.99),
        "p99.9": percentile(sorted, 0.999),
        "max": percentile(sorted, 1.0),
    })
}

/// The smallest value that at least `share` of all are not above; 0 of none.
fn percentile(sorted: &[u64], share: f64) -> u64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact() {
        let values: Vec<u64> = (1..=1000).collect();
        let check = |share: f64, expected: u64| assert_eq!(percentile(&values, share), expected);
        check(0.0, 1);
        check(0.5, 500);
        check(0.99, 990);
        check(1.0, 1000);
        assert_eq!(percentile(&[], 0.5), 0);
    }

    #[test]
    fn every_request_is_in_the_counts_once() {
        let start = Instant::now();
        let mut ledger = Ledger::new(start);
        let after = |us: u64| start + Duration::from_micros(us);
        let depart = |ledger: &mut Ledger, [arrival, due, departure]: [u64; 3], burned_ns: u64, end: End| {
            let service = Duration::from_micros(2);
            let visit = Visit { arrival: after(arrival), service, due: after(due), burned_ns, end };
            ledger.depart("plain", &visit, after(departure));
        };
        assert_eq!((ledger.arrive("plain"), ledger.arrive("plain")), (0, 1));
        depart(&mut ledger, [0, 4, 5], 0, End::Answered { status: 200, body_bytes: 7 });
        depart(&mut ledger, [1, 3, 3], 9, End::Wrong { body_bytes: 8 });
        ledger.arrive("plain");
        depart(&mut ledger, [1, 1, 1], 0, End::Reset);
        ledger.arrive("plain");
        depart(&mut ledger, [1, 2, 1], 0, End::Left);
        ledger.used("plain", 70);
        let counts: Value = serde_json::from_str(&ledger.counts()).unwrap();
        let count = |path: &str| counts.pointer(&format!("/plain/{path}")).and_then(Value::as_u64);
        for (path, expected) in [
            ("received", 4),
            ("answered/200", 2),
            ("wrong", 1),
            ("reset", 1),
            ("halved", 0),
            ("left", 1),
            ("body_bytes", 15),
            ("in_flight_max", 2),
            ("burned_ns", 9),
            ("service_ns/min", 0),
            ("service_ns/mean", 1750),
            ("service_ns/p50", 0),
            ("service_ns/max", 5000),
            ("drawn_ns/max", 2000),
            ("late_ns/max", 1000),
            ("thread_ns/p50", 70),
        ] {
            assert_eq!(count(path), Some(expected), "{path}");
        }
        assert_eq!(ledger.log(Some("plain")).lines().nth(2), Some("\"plain\",1000,2000,3000,3000"));
        assert_eq!(
            (ledger.cpu("plain"), ledger.cpu("other")),
            ("thread_ns\n70\n".to_owned(), "thread_ns\n".to_owned())
        );
        assert_eq!((ledger.log(None), ledger.log(Some("other")).lines().count()), (ledger.log(Some("plain")), 1));
        assert_eq!(
            ledger.error(),
            "plain: 4 answers left after they were due, half of them by at most 0.0 µs, 99 % by 1.0 µs, all by 1.0 µs\n"
        );
    }
}
