//! How one class of requests is answered, read from the first segment of its path: `/constant-5000,errors-37/items/3`.
//!
//! A class is a list of `name-number` joined by commas. Nothing here does anything: [`crate::service`] does, and
//! [`crate::ledger`] writes down what was done.

use std::time::Duration;

/// The stated behaviour of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Behaviour {
    /// `constant-US`: the answer leaves this long after the request came, never earlier.
    pub(crate) constant: Duration,
    /// `burn-US`: this much CPU time of the serving thread is spent first.
    pub(crate) burn: Duration,
    /// `stall-MS`: of ten times this long, nothing is answered in the last tenth.
    pub(crate) stall: Duration,
    /// `errors-N`: of a thousand requests, so many are answered 500.
    pub(crate) errors_per_mille: u64,
    /// `wrong-N`: of a thousand answers, so many are those of another entity.
    pub(crate) wrong_per_mille: u64,
    /// `resets-N`: of a thousand requests, so many see the connection reset without an answer.
    pub(crate) resets_per_mille: u64,
    /// `halves-N`: of a thousand answers, so many end in the middle of their body.
    pub(crate) halves_per_mille: u64,
    /// `chunked-1`: bodies come in chunks; `chunked-0`: with their length.
    pub(crate) chunked: Delimited,
    /// `entities-N`: length of the list.
    pub(crate) entities: u64,
    /// `lost-N`: of a thousand records that are acknowledged, so many are not stored.
    pub(crate) lost_per_mille: u64,
    /// `doubled-N`: of a thousand records, so many are stored twice.
    pub(crate) doubled_per_mille: u64,
    /// `altered-N`: of a thousand records, so many are stored with another content.
    pub(crate) altered_per_mille: u64,
    /// `rows-N`: beyond so many rows a record is refused with 503; 0 is no bound.
    pub(crate) rows_max: u64,
    /// `size-BYTES`: an entity's answer has exactly so many bytes, if its own text is not longer.
    pub(crate) size_bytes: usize,
}

/// How the end of a body is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimited {
    /// By `Content-Length`.
    ByLength,
    /// In chunks.
    ByChunks,
}

/// Longest time that may be asked for: nothing that is tested takes longer.
const TIME_US_MAX: u64 = 10_000_000;
/// What a class may ask for.
const NAMES: &[&str] = &[
    "constant", "burn", "stall", "errors", "wrong", "resets", "halves", "chunked", "entities", "size", "lost",
    "doubled", "altered", "rows",
];
/// Longest list, and largest table.
const ENTITIES_MAX: u64 = 100_000;
/// Largest answer.
const SIZE_BYTES_MAX: u64 = 64 << 20;

impl Behaviour {
    /// Reads a class. `plain` alone is the behaviour without any of the above.
    pub(crate) fn parse(class: &str) -> Result<Behaviour, String> {
        let mut behaviour = Behaviour {
            constant: Duration::ZERO,
            burn: Duration::ZERO,
            stall: Duration::ZERO,
            errors_per_mille: 0,
            wrong_per_mille: 0,
            resets_per_mille: 0,
            halves_per_mille: 0,
            chunked: Delimited::ByLength,
            entities: 20,
            size_bytes: 0,
            lost_per_mille: 0,
            doubled_per_mille: 0,
            altered_per_mille: 0,
            rows_max: 0,
        };
        if class == "plain" {
            return Ok(behaviour);
        }
        for part in class.split(',') {
            let unknown =
                || format!("expected a list of {} and a number, or `plain`; found `{part}`", NAMES.join("-, "));
            let (name, number) = part.split_once('-').ok_or_else(unknown)?;
            let number: u64 = number.parse().map_err(|_| unknown())?;
            let most = match name {
                "constant" | "burn" => TIME_US_MAX,
                "stall" => TIME_US_MAX / 1000,
                "errors" | "wrong" | "resets" | "halves" | "lost" | "doubled" | "altered" => 1000,
                "chunked" => 1,
                "entities" | "rows" => ENTITIES_MAX,
                "size" => SIZE_BYTES_MAX,
                _ => return Err(unknown()),
            };
            if number > most {
                return Err(format!("`{part}` is beyond {most}"));
            }
            match name {
                "constant" => behaviour.constant = Duration::from_micros(number),
                "burn" => behaviour.burn = Duration::from_micros(number),
                "stall" => behaviour.stall = Duration::from_millis(number),
                "errors" => behaviour.errors_per_mille = number,
                "wrong" => behaviour.wrong_per_mille = number,
                "resets" => behaviour.resets_per_mille = number,
                "halves" => behaviour.halves_per_mille = number,
                "chunked" if number == 1 => behaviour.chunked = Delimited::ByChunks,
                "chunked" => behaviour.chunked = Delimited::ByLength,
                "entities" => behaviour.entities = number,
                "lost" => behaviour.lost_per_mille = number,
                "doubled" => behaviour.doubled_per_mille = number,
                "altered" => behaviour.altered_per_mille = number,
                "rows" => behaviour.rows_max = number,
                _ => behaviour.size_bytes = number as usize,
            }
        }
        Ok(behaviour)
    }
}

/// How long after `arrival`, counted from the server's start, a stall ends; none outside of one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_a_list_of_what_it_does() {
        let behaviour = Behaviour::parse("constant-5000,errors-37,size-1460").unwrap();
        assert_eq!(behaviour.constant, Duration::from_millis(5));
        assert_eq!((behaviour.errors_per_mille, behaviour.size_bytes, behaviour.burn), (37, 1460, Duration::ZERO));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let check = |class: &str| assert!(Behaviour::parse(class).is_err(), "{class}");
        check("");
        check("constant");
        check("constant-");
        check("constant-x");
        check("slow-5");
        check("errors-1001");
        check("plain,errors-1");
        check("burn-10000001");
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
    fn hits_are_exactly_as_many_as_stated() {
        for per_mille in [0, 1, 37, 500, 1000] {
            let hits = |requests: u64| (0..requests).filter(|position| is_hit(*position, per_mille)).count() as u64;
            for requests in [1, 7, 999, 1000, 12_345] {
                assert_eq!(hits(requests), requests * per_mille / 1000);
            }
        }
    }
}
