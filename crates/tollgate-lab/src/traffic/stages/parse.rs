//! Stages on a command line: `10s:50,30s:50,10s:0`, each with its duration and final number; with `/s` after the
//! numbers, rates.

use std::str::FromStr;
use std::time::Duration;

use super::{Stage, Stages, Unit};

/// Longest text.
const TEXT_BYTES_MAX: usize = 4096;

impl FromStr for Stages {
    type Err = String;

    fn from_str(text: &str) -> Result<Stages, String> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(format!("stages of more than {TEXT_BYTES_MAX} bytes"));
        }
        let (mut unit, mut stages, mut before) = (None, Vec::new(), 0.0);
        for (number, part) in text.split(',').map(str::trim).enumerate() {
            let wrong = || format!("expected TIME:NUMBER, such as 10s:50 or 10s:300/s, but `{part}` came");
            let (time, values) = part.split_once(':').ok_or_else(wrong)?;
            let lasts = duration(time).ok_or_else(wrong)?;
            let (values, own) = match values.strip_suffix("/s") {
                Some(values) => (values, Unit::PerSecond),
                None => (values, Unit::Users),
            };
            if *unit.get_or_insert(own) != own {
                return Err(format!("stages are all of users or all of rates, but `{part}` is not as those before it"));
            }
            let (from, to) = match values.split_once("..") {
                Some((from, to)) => (value(from).ok_or_else(wrong)?, value(to).ok_or_else(wrong)?),
                None => (before, value(values).ok_or_else(wrong)?),
            };
            before = to;
            stages.push(Stage { name: (number + 1).to_string(), from, to, lasts });
        }
        Stages::new(unit.unwrap_or(Unit::Users), stages)
    }
}

fn value(text: &str) -> Option<f64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| is_plain)
}

fn duration(text: &str) -> Option<Duration> {
    let scales = [("ms", 1), ("s", 1000), ("m", 60_000)];
    let (digits, scale_ms) = scales.iter().find_map(|(unit, scale_ms)| text.strip_suffix(unit).zip(Some(*scale_ms)))?;
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| is_plain)?;
    number.checked_mul(scale_ms).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_read_each_from_where_the_one_before_it_led() {
        let check = |text: &str, unit: Unit, expected: &[(f64, f64, u64)]| {
            let stages: Stages = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            let found: Vec<(f64, f64, u64)> =
                stages.each().map(|(stage, _)| (stage.from, stage.to, stage.lasts.as_millis() as u64)).collect();
            assert_eq!((stages.unit(), found.as_slice()), (unit, expected), "{text}");
        };
        let ramp = [(0.0, 50.0, 10_000), (50.0, 50.0, 30_000), (50.0, 0.0, 10_000)];
        check("10s:50,30s:50,10s:0", Unit::Users, &ramp);
        check("10s:50, 30s:50, 10s:0", Unit::Users, &ramp);
        check("500ms:20..20/s,1m:2.5/s", Unit::PerSecond, &[(20.0, 20.0, 500), (20.0, 2.5, 60_000)]);
    }

    #[test]
    fn what_are_no_stages_is_refused() {
        for (text, expected) in [
            ("", "TIME:NUMBER"),
            ("10s", "TIME:NUMBER"),
            ("10:50", "TIME:NUMBER"),
            ("10s:-5", "TIME:NUMBER"),
            ("10s:1e9", "TIME:NUMBER"),
            ("10s:5,", "TIME:NUMBER"),
            ("10s:5..", "TIME:NUMBER"),
            ("10s:5,10s:5/s", "all of users or all of rates"),
            ("0s:5", "lasts no time"),
            ("10s:0", "ask for nothing"),
            ("99999999999999999999s:5", "TIME:NUMBER"),
        ] {
            let error = text.parse::<Stages>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
