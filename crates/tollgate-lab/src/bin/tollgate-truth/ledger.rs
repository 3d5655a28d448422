//! What the server really did: for each class the exact counts, and when each request came and its answer was given.
//!
//! It is the truth that figures are held against, so it keeps every request (no histogram) and computes percentiles by
//! sorting.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// Requests that a class keeps times of; later ones are counted only. Sixteen bytes each.
const TIMES_MAX: usize = 4_000_000;

/// Everything that was done since the start.
#[derive(Debug)]
pub(crate) struct Ledger {
    start: Instant,
    classes: BTreeMap<String, Class>,
}

/// What was done for one class.
#[derive(Debug, Default)]
pub(crate) struct Class {
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
    /// Bytes of the answers' bodies.
    body_bytes: u64,
    in_flight: u64,
    in_flight_max: u64,
    /// CPU time spent on purpose.
    burned_ns: u64,
    /// Arrival and departure in nanoseconds since the start.
    times: Vec<(u64, u64)>,
}

/// How one request ended.
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
}

impl Ledger {
    pub(crate) fn new(start: Instant) -> Ledger {
        Ledger { start, classes: BTreeMap::new() }
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

    /// It is about to be answered.
    pub(crate) fn depart(&mut self, class: &str, arrival: Instant, departure: Instant, burned_ns: u64, end: End) {
        let start = self.start;
        let class = self.classes.get_mut(class).expect("what departs has arrived");
        class.in_flight -= 1;
        class.burned_ns += burned_ns;
        match end {
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
        }
        if class.times.len() < TIMES_MAX {
            let since = |at: Instant| at.duration_since(start).as_nanos() as u64;
            class.times.push((since(arrival), since(departure)));
        }
    }

    /// The counts as JSON, one object for each class.
    pub(crate) fn counts(&self) -> String {
        let mut text = String::from("{");
        for (position, (name, class)) in self.classes.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let answered: Vec<String> =
                class.answered.iter().map(|(status, count)| format!("\"{status}\":{count}")).collect();
            let mut service: Vec<u64> = class.times.iter().map(|(arrival, departure)| departure - arrival).collect();
            service.sort_unstable();
            write!(
                text,
                "{comma}\n\"{name}\":{{\"received\":{},\"answered\":{{{}}},\"wrong\":{},\"reset\":{},\"halved\":{},\"body_bytes\":{},\
                 \"in_flight_max\":{},\"burned_ns\":{},\"service_ns\":{{\"min\":{},\"p50\":{},\"p90\":{},\"p99\":{},\"max\":{}}}}}",
                class.received,
                answered.join(","),
                class.wrong,
                class.reset,
                class.halved,
                class.body_bytes,
                class.in_flight_max,
                class.burned_ns,
                percentile(&service, 0.0),
                percentile(&service, 0.5),
                percentile(&service, 0.9),
                percentile(&service, 0.99),
                percentile(&service, 1.0),
            )
            .expect("a String takes whatever is written");
        }
        text.push_str("\n}\n");
        text
    }

    /// Every arrival and departure as CSV.
    pub(crate) fn log(&self) -> String {
        let mut text = String::from("class,arrival_ns,departure_ns\n");
        for (name, class) in &self.classes {
            for (arrival, departure) in &class.times {
                writeln!(text, "\"{name}\",{arrival},{departure}").expect("a String takes whatever is written");
            }
        }
        text
    }
}

/// The smallest value that at least `share` of all are not above; 0 of none.
fn percentile(sorted: &[u64], share: f64) -> u64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
        assert_eq!((ledger.arrive("plain"), ledger.arrive("plain")), (0, 1));
        ledger.depart("plain", after(0), after(5), 0, End::Answered { status: 200, body_bytes: 7 });
        ledger.depart("plain", after(1), after(3), 9, End::Wrong { body_bytes: 8 });
        ledger.arrive("plain");
        ledger.depart("plain", after(1), after(1), 0, End::Reset);
        assert_eq!(
            ledger.counts(),
            "{\n\"plain\":{\"received\":3,\"answered\":{\"200\":2},\"wrong\":1,\"reset\":1,\"halved\":0,\"body_bytes\":15,\"in_flight_max\":2,\
             \"burned_ns\":9,\"service_ns\":{\"min\":0,\"p50\":2000,\"p90\":5000,\"p99\":5000,\"max\":5000}}\n}\n"
        );
        assert!(ledger.log().ends_with("\"plain\",1000,1000\n"));
    }
}
