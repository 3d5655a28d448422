//! The behaviour of one class of requests, read from the first segment of its path: `/constant-5000,errors-37/items/3`.
//!
//! A class is a list of `name-number` joined by commas. Nothing here does anything: [`crate::service`] does, and
//! [`crate::ledger`] writes down what was done.

use std::time::Duration;

use crate::draw::{ServiceTime, TIME_US_MAX};

/// The stated behaviour of one class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Behaviour {
    pub(crate) service_time: ServiceTime,
    /// Seed of the drawn service times.
    pub(crate) seed: u64,
    /// Extra service time of a connection for life, or none: by a coin for each.
    pub(crate) lottery: Duration,
    /// Whether requests wait for each other.
    pub(crate) servers: Servers,
    /// Answers wait until this many requests are there; 0 is none.
    pub(crate) gate: u64,
    /// CPU time of the serving thread that is spent first.
    pub(crate) burn: Duration,
    /// Nothing is answered in the last tenth of each period of ten times this length.
    pub(crate) stall: Duration,
    pub(crate) errors_per_mille: u64,
    /// More and more of this many first requests fail, and all behind them; 0 is none.
    pub(crate) failing: u64,
    pub(crate) wrong_per_mille: u64,
    pub(crate) resets_per_mille: u64,
    pub(crate) halves_per_mille: u64,
    pub(crate) delimited: Delimited,
    /// Bytes per second of a body; 0 is as fast as it goes.
    pub(crate) pace_bytes_per_second: u64,
    /// Length of the list.
    pub(crate) entities: u64,
    pub(crate) lost_per_mille: u64,
    pub(crate) doubled_per_mille: u64,
    pub(crate) altered_per_mille: u64,
    /// Beyond this many rows a record is refused with 503; 0 is no bound.
    pub(crate) rows_max: u64,
    /// Size of an entity's answer, if its own text is not longer.
    pub(crate) size_bytes: usize,
    /// The answer is this many bytes of filling and no entity.
    pub(crate) filling_bytes: Option<usize>,
}

/// The delimiter of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimited {
    /// By `Content-Length`.
    Length,
    /// In chunks.
    Chunks,
    /// By the end of the connection.
    Close,
}

/// Number of requests of a class that are served at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Servers {
    /// As many as come.
    Unlimited,
    /// One, in the order of their arrival.
    One,
}

/// Longest list, and largest table.
const ENTITIES_MAX: u64 = 100_000;
/// Largest answer.
const SIZE_BYTES_MAX: u64 = 64 << 20;

/// The options of a class: name, largest number, and meaning.
pub(crate) const NAMES: &[(&str, u64, &str)] = &[
    ("constant", TIME_US_MAX, "each answer leaves so many microseconds after its request came, never earlier"),
    ("exponential", TIME_US_MAX, "the same after a time that is drawn: exponential, of this mean in microseconds"),
    ("lognormal", TIME_US_MAX, "lognormal, of this median in microseconds; see sigma"),
    ("sigma", 300, "deviation of the logarithm of a lognormal time, in hundredths; 50 if it is not said"),
    ("bimodal", TIME_US_MAX / 10, "so many microseconds for nine of ten requests, ten times as many for the others"),
    ("seed", u64::MAX, "of the times that are drawn; the n-th request of a class always has the same"),
    (
        "lottery",
        TIME_US_MAX,
        "half of the connections, drawn by the seed, are served so many microseconds longer for life",
    ),
    ("queue", 1, "1: one request at a time, in the order of their arrival"),
    ("gate", ENTITIES_MAX, "answers wait until so many requests wait together, at most 50 s"),
    ("burn", TIME_US_MAX, "so many microseconds of CPU time of the serving thread are spent first"),
    ("stall", TIME_US_MAX / 1000, "milliseconds: of ten times as long, nothing is answered in the last tenth"),
    ("errors", 1000, "of a thousand requests, so many are answered 500"),
    ("failing", ENTITIES_MAX, "of so many requests more and more are answered 500, and all behind them"),
    ("wrong", 1000, "of a thousand answers, so many are those of another entity"),
    ("resets", 1000, "of a thousand requests, so many see the connection reset without an answer"),
    ("halves", 1000, "of a thousand answers, so many end in the middle of their body"),
    ("chunked", 1, "1: bodies come in chunks"),
    ("close", 1, "1: bodies end with their connection"),
    ("pace", 1 << 40, "bytes of a body per second"),
    ("entities", ENTITIES_MAX, "length of the list; 20 if it is not said"),
    ("size", SIZE_BYTES_MAX, "an entity's answer has so many bytes, if its own text is not longer"),
    ("bytes", SIZE_BYTES_MAX, "answers are exactly so many bytes of filling"),
    ("lost", 1000, "of a thousand records that are acknowledged, so many are not stored"),
    ("doubled", 1000, "of a thousand records, so many are stored twice"),
    ("altered", 1000, "of a thousand records, so many are stored with another content"),
    ("rows", ENTITIES_MAX, "beyond so many rows a record is refused with 503"),
];

/// Default sigma of a lognormal time.
const SIGMA_HUNDREDTHS: u64 = 50;

impl Behaviour {
    /// Reads a class. `plain` alone is the behaviour without any of the names.
    pub(crate) fn parse(class: &str) -> Result<Behaviour, String> {
        let mut behaviour = Behaviour {
            service_time: ServiceTime::Constant(Duration::ZERO),
            seed: 0,
            lottery: Duration::ZERO,
            servers: Servers::Unlimited,
            gate: 0,
            burn: Duration::ZERO,
            stall: Duration::ZERO,
            errors_per_mille: 0,
            failing: 0,
            wrong_per_mille: 0,
            resets_per_mille: 0,
            halves_per_mille: 0,
            delimited: Delimited::Length,
            pace_bytes_per_second: 0,
            entities: 20,
            lost_per_mille: 0,
            doubled_per_mille: 0,
            altered_per_mille: 0,
            rows_max: 0,
            size_bytes: 0,
            filling_bytes: None,
        };
        if class == "plain" {
            return Ok(behaviour);
        }
        let (mut times, mut sigma) = (0, SIGMA_HUNDREDTHS);
        for part in class.split(',') {
            let unknown = || {
                let names: Vec<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
                format!("expected a list of {} and a number, or `plain`; found `{part}`", names.join("-, "))
            };
            let (name, number) = part.split_once('-').ok_or_else(unknown)?;
            let number: u64 = number.parse().map_err(|_| unknown())?;
            let (_, most, _) = NAMES.iter().find(|(known, ..)| *known == name).ok_or_else(unknown)?;
            if number > *most {
                return Err(format!("`{part}` is beyond {most}"));
            }
            let time = Duration::from_micros(number);
            match name {
                "constant" => (behaviour.service_time, times) = (ServiceTime::Constant(time), times + 1),
                "exponential" => (behaviour.service_time, times) = (ServiceTime::Exponential { mean: time }, times + 1),
                "lognormal" => {
                    (behaviour.service_time, times) = (ServiceTime::Lognormal { median: time, sigma: 0.0 }, times + 1);
                }
                "sigma" => sigma = number,
                "bimodal" => (behaviour.service_time, times) = (ServiceTime::Bimodal { fast: time }, times + 1),
                "seed" => behaviour.seed = number,
                "lottery" => behaviour.lottery = time,
                "queue" if number == 1 => behaviour.servers = Servers::One,
                "queue" => behaviour.servers = Servers::Unlimited,
                "gate" => behaviour.gate = number,
                "burn" => behaviour.burn = time,
                "stall" => behaviour.stall = Duration::from_millis(number),
                "errors" => behaviour.errors_per_mille = number,
                "failing" => behaviour.failing = number,
                "wrong" => behaviour.wrong_per_mille = number,
                "resets" => behaviour.resets_per_mille = number,
                "halves" => behaviour.halves_per_mille = number,
                "chunked" if number == 1 => behaviour.delimited = Delimited::Chunks,
                "close" if number == 1 => behaviour.delimited = Delimited::Close,
                "chunked" | "close" => {}
                "pace" => behaviour.pace_bytes_per_second = number,
                "entities" => behaviour.entities = number,
                "size" => behaviour.size_bytes = number as usize,
                "bytes" => behaviour.filling_bytes = Some(number as usize),
                "lost" => behaviour.lost_per_mille = number,
                "doubled" => behaviour.doubled_per_mille = number,
                "altered" => behaviour.altered_per_mille = number,
                _ => behaviour.rows_max = number,
            }
        }
        if times > 1 {
            return Err(format!(
                "`{class}` has {times} service times: one of constant, exponential, lognormal, bimodal"
            ));
        }
        if let ServiceTime::Lognormal { sigma: of_time, .. } = &mut behaviour.service_time {
            *of_time = sigma as f64 / 100.0;
        }
        Ok(behaviour)
    }
}

/// Time after `arrival`, counted from the server's start, when a stall ends; none outside of one.
pub(crate) fn stalled(arrival: Duration, stall: Duration) -> Duration {
    if stall.is_zero() {
        return Duration::ZERO;
    }
    let period = stall.as_nanos() * 10;
    let left = period - arrival.as_nanos() % period;
    if left <= stall.as_nanos() { Duration::from_nanos(left as u64) } else { Duration::ZERO }
}

/// Whether the request with this position (from 0) is one of `per_mille` in a thousand: evenly spread, so that after
/// any n requests exactly n · per_mille / 1000 of them, rounded down, were hit.
pub(crate) fn is_hit(position: u64, per_mille: u64) -> bool {
    (position + 1) * per_mille / 1000 > position * per_mille / 1000
}

/// Whether the request with this position (from 0) is one of those that fail more and more often, in the end all: half
/// of the first `failing`.
pub(crate) fn is_failing(position: u64, failing: u64) -> bool {
    let before = |position: u64| position * position / (2 * failing);
    failing > 0 && (position >= failing || before(position + 1) > before(position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_a_list_of_what_it_does() {
        let behaviour = Behaviour::parse("constant-5000,errors-37,size-1460").unwrap();
        assert_eq!(behaviour.service_time, ServiceTime::Constant(Duration::from_millis(5)));
        assert_eq!((behaviour.errors_per_mille, behaviour.size_bytes, behaviour.burn), (37, 1460, Duration::ZERO));
        let behaviour = Behaviour::parse("sigma-80,lognormal-2000,seed-9,queue-1,close-1,bytes-0").unwrap();
        assert_eq!(
            behaviour.service_time,
            ServiceTime::Lognormal { median: Duration::from_millis(2), sigma: 0.8 },
            "whichever of both comes first"
        );
        assert_eq!((behaviour.seed, behaviour.servers), (9, Servers::One));
        assert_eq!((behaviour.delimited, behaviour.filling_bytes), (Delimited::Close, Some(0)));
    }

    #[test]
    fn every_name_is_understood_up_to_its_bound() {
        for (name, most, _) in NAMES {
            assert!(Behaviour::parse(&format!("{name}-{most}")).is_ok(), "{name}");
            if let Some(beyond) = most.checked_add(1) {
                assert!(Behaviour::parse(&format!("{name}-{beyond}")).is_err(), "{name}");
            }
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let check = |class: &str| assert!(Behaviour::parse(class).is_err(), "{class}");
        check("");
        check("constant");
        check("constant-");
        check("constant-x");
        check("slow-5");
        check("plain,errors-1");
        check("constant-5,exponential-5");
    }

    #[test]
    fn a_stall_ends_for_all_at_the_same_time() {
        let check = |arrival_ms: u64, expected_ms: u64| {
            let left = stalled(Duration::from_millis(arrival_ms), Duration::from_millis(200));
            assert_eq!(left, Duration::from_millis(expected_ms), "{arrival_ms}");
        };
        check(0, 0);
        check(1799, 0);
        check(1800, 200);
        check(1999, 1);
        check(2000, 0);
        check(3900, 100);
        assert_eq!(stalled(Duration::from_millis(1900), Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn more_and_more_fail_and_in_the_end_all() {
        let failed = |from: u64, to: u64| (from..to).filter(|position| is_failing(*position, 1000)).count();
        assert_eq!([failed(0, 100), failed(450, 550), failed(900, 1000), failed(1000, 1100)], [5, 50, 95, 100]);
        assert!((0..1000).all(|position| !is_failing(position, 0)));
    }

    #[test]
    fn hits_are_exactly_as_many_as_stated() {
        for per_mille in [0, 1, 37, 500, 1000] {
            let hits = |requests: u64| (0..requests).filter(|position| is_hit(*position, per_mille)).count() as u64;
            for requests in [1, 7, 999, 1000, 12_345] {
                assert_eq!(hits(requests), requests * per_mille / 1000);
            }
        }
    }
}
