//! Values of flags: each is parsed into a valid value, or its error says what was expected.
//!
//! The flags themselves are each verb's.

use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

/// `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment<T> {
    /// The part before the first `=`.
    pub(crate) name: String,
    /// The part after it.
    pub(crate) value: T,
}

impl<T: FromStr> FromStr for Assignment<T>
where
    T::Err: std::fmt::Display,
{
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) =
            text.split_once('=').ok_or_else(|| format!("expected VARIANT=…, but `{text}` has no `=`"))?;
        if name.is_empty() {
            return Err("the variant before `=` is missing".to_owned());
        }
        if value.is_empty() {
            return Err(format!("the value after `{name}=` is missing"));
        }
        let value = value.parse().map_err(|error| format!("`{value}` for `{name}`: {error}"))?;
        Ok(Assignment { name: name.to_owned(), value })
    }
}

/// `user:password`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    /// The part before the first `:`.
    pub(crate) user: String,
    /// The part after it.
    pub(crate) password: String,
}

impl FromStr for Credentials {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (user, password) = text.split_once(':').ok_or("expected USER:PASSWORD, but there is no `:`")?;
        Ok(Credentials { user: user.to_owned(), password: password.to_owned() })
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:…", self.user)
    }
}

/// The highest rate of requests: beyond it, no generator sends in time.
const REQUESTS_PER_SECOND_MAX: f64 = 1e6;
/// Longest time that can be asked for: a day.
const TIME_SECONDS_MAX: f64 = 86_400.0;

/// Parses an address to listen on: an address, or the first one of a name, IPv4 before IPv6 as most clients of
/// `localhost` expect.
pub(crate) fn listening(text: &str) -> Result<SocketAddr, String> {
    let expected = |why: &str| format!("{why}: expected an address and a port, such as 127.0.0.1:8080");
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
            let all: Vec<SocketAddr> = text.to_socket_addrs().map_err(|error| expected(&error.to_string()))?.collect();
            let first = all.iter().find(|address| address.is_ipv4()).or(all.first());
            first.copied().ok_or_else(|| expected("the name has no address"))
        }
        _ => Err(expected("that is no address with a port")),
    }
}

/// Parses a count: a whole number above 0.
pub(crate) fn count<N: TryFrom<NonZeroU64>>(text: &str) -> Result<N, String> {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<NonZeroU64>().ok().and_then(|number| N::try_from(number).ok()) {
        Some(number) => Ok(number),
        None if is_whole && text.bytes().any(|byte| byte != b'0') => Err("that is more than can be counted".to_owned()),
        None => Err("expected a whole number above 0".to_owned()),
    }
}

/// Parses seconds as in ApacheBench: a bare number.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= TIME_SECONDS_MAX => Ok(Duration::from_secs_f64(number)),
        _ => Err(format!("expected seconds above 0 and up to {TIME_SECONDS_MAX}")),
    }
}

/// Parses a time with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    seconds(&time(text)?.to_string())
}

/// Parses a time with its unit, or a bare number of seconds as in ApacheBench.
pub(crate) fn seconds_or_time(text: &str) -> Result<Duration, String> {
    if text.parse::<f64>().is_ok() { seconds(text) } else { duration(text) }
}

/// Parses a time that may be 0.
pub(crate) fn delay(text: &str) -> Result<Duration, String> {
    match time(text)? {
        number if number <= TIME_SECONDS_MAX => Ok(Duration::from_nanos((number * 1e9).round() as u64)),
        _ => Err(format!("expected seconds up to {TIME_SECONDS_MAX}")),
    }
}

/// Parses requests per second: `300`, or `300/s`.
pub(crate) fn requests_per_second(text: &str) -> Result<f64, String> {
    match text.strip_suffix("/s").unwrap_or(text).parse::<f64>() {
        Ok(number) if number > 0.0 && number <= REQUESTS_PER_SECOND_MAX => Ok(number),
        _ => Err(format!("expected requests per second above 0 and up to {REQUESTS_PER_SECOND_MAX}, such as 300/s")),
    }
}

/// Parses bytes per second.
pub(crate) fn rate(text: &str) -> Result<NonZeroU64, String> {
    let example = "expected a rate, such as 10MB/s or 100Mbit/s";
    let amount = text.strip_suffix("/s").ok_or_else(|| format!("{example}, but it does not end in `/s`"))?;
    let (number, unit, column) = number_and_unit(amount, example)?;
    let scale = SIZES.iter().chain(BITS).find(|(name, _)| *name == unit).map(|(_, scale)| *scale).ok_or_else(|| {
        format!("column {column}: `{unit}` is no unit of a rate: write B, kB, MB, GB, kbit, Mbit or Gbit")
    })?;
    match NonZeroU64::new((number * scale).round() as u64) {
        Some(rate) if rate.get() <= BYTES_MAX => Ok(rate),
        _ => Err(format!("expected from 1 to {BYTES_MAX} bytes per second")),
    }
}

/// Parses a share: `1%` is 0.01.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let example = "expected a share, such as 1% or 0.5%";
    let number = text.strip_suffix('%').ok_or_else(|| format!("{example}, but it does not end in `%`"))?;
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!("{example}, from 0% to 100%")),
    }
}

/// Parses a number of bytes with its unit.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (number, unit, column) = number_and_unit(text, "expected a size, such as 64KiB or 4MB")?;
    let scale =
        SIZES.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale).ok_or_else(|| {
            format!("column {column}: `{unit}` is no unit of size: write B, kB, KiB, MB, MiB, GB or GiB")
        })?;
    let bytes = (number * scale).round() as u64;
    if bytes <= BYTES_MAX { Ok(bytes) } else { Err(format!("expected at most {BYTES_MAX} bytes")) }
}

/// Maximum number of bytes, and of bytes per second.
const BYTES_MAX: u64 = 1_000_000_000_000;

const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("KiB", 1024.0),
    ("MB", 1e6),
    ("MiB", 1024.0 * 1024.0),
    ("GB", 1e9),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
];

const BITS: &[(&str, f64)] = &[("bit", 0.125), ("kbit", 125.0), ("Mbit", 125e3), ("Gbit", 125e6)];

/// Parses a time with its unit to seconds.
fn time(text: &str) -> Result<f64, String> {
    let (number, unit, column) = number_and_unit(text, "expected a number with its unit, such as 500ms, 10s or 2m")?;
    let scale = match unit {
        "us" | "µs" => 1e-6,
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("column {column}: `{unit}` is no unit of time: write us, ms, s, m or h")),
    };
    Ok(number * scale)
}

/// Splits off the number at the beginning, and returns it with the unit after it and the column where that begins.
fn number_and_unit<'a>(text: &'a str, example: &str) -> Result<(f64, &'a str, usize), String> {
    let is_of_number = |character: char| character.is_ascii_digit() || character == '.';
    let end = text.find(|character| !is_of_number(character)).ok_or_else(|| format!("{example}: there is no unit"))?;
    let (number, unit) = text.split_at(end);
    let number = number.parse().map_err(|_| format!("{example}: no number stands at the beginning"))?;
    Ok((number, unit, end + 1))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn a_count_is_whole_and_above_nothing() {
        let check = |text: &str, expected: Result<u32, &str>| {
            let found = count::<NonZeroU32>(text).map(NonZeroU32::get);
            assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|error| *error), "{text}");
        };
        check("1", Ok(1));
        check("4294967295", Ok(u32::MAX));
        check("4294967296", Err("that is more than can be counted"));
        check("99999999999999999999999", Err("that is more than can be counted"));
        for text in ["0", "00", "-1", "x", "1.5", "1e3", "", "10s"] {
            check(text, Err("expected a whole number above 0"));
        }
    }

    #[test]
    fn a_time_needs_its_unit() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(duration(text).ok().map(|time| time.as_millis() as u64), expected, "{text}");
        };
        check("500ms", Some(500));
        check("10s", Some(10_000));
        check("1.5m", Some(90_000));
        check("10", None);
        check("s", None);
        check("-1s", None);
        check("0s", None);
        check("1d", None);
    }

    #[test]
    fn seconds_need_no_unit_where_a_bare_number_means_them() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(seconds_or_time(text).ok().map(|time| time.as_millis() as u64), expected, "{text}");
        };
        check("5", Some(5000));
        check("5s", Some(5000));
        check("0.5", Some(500));
        check("500ms", Some(500));
        check("0", None);
        check("-1", None);
        check("5x", None);
    }

    #[test]
    fn a_wrong_time_says_where_it_is_wrong() {
        let check = |text: &str, expected: Result<u64, &str>| {
            let found = delay(text).map(|time| time.as_micros() as u64);
            assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|error| *error), "{text}");
        };
        check("0ms", Ok(0));
        check("500us", Ok(500));
        check("1.5ms", Ok(1500));
        check("20", Err("expected a number with its unit, such as 500ms, 10s or 2m: there is no unit"));
        check("20mss", Err("column 3: `mss` is no unit of time: write us, ms, s, m or h"));
        check(
            "ms",
            Err("expected a number with its unit, such as 500ms, 10s or 2m: no number stands at the beginning"),
        );
        check(
            "-1ms",
            Err("expected a number with its unit, such as 500ms, 10s or 2m: no number stands at the beginning"),
        );
        check("25h", Err("expected seconds up to 86400"));
    }

    #[test]
    fn rates_and_sizes_have_units() {
        let check = |text: &str, expected: Result<u64, &str>| {
            let found = rate(text).map(NonZeroU64::get);
            assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|error| *error), "{text}");
        };
        check("10MB/s", Ok(10_000_000));
        check("1.5KiB/s", Ok(1536));
        check("100Mbit/s", Ok(12_500_000));
        check("10MB", Err("expected a rate, such as 10MB/s or 100Mbit/s, but it does not end in `/s`"));
        check("10mb/s", Err("column 3: `mb` is no unit of a rate: write B, kB, MB, GB, kbit, Mbit or Gbit"));
        check("0B/s", Err("expected from 1 to 1000000000000 bytes per second"));
        check("1001GB/s", Err("expected from 1 to 1000000000000 bytes per second"));
        let size = |text: &str| super::size(text).map_err(|error| error.to_string());
        assert_eq!(size("4MiB"), Ok(4 << 20));
        assert_eq!(size("1000GB"), Ok(BYTES_MAX));
        assert_eq!(size("1001GB"), Err("expected at most 1000000000000 bytes".to_owned()));
        assert_eq!(
            size("4M"),
            Err("column 2: `M` is no unit of size: write B, kB, KiB, MB, MiB, GB or GiB".to_owned())
        );
    }

    #[test]
    fn a_share_is_of_a_hundred() {
        let check = |text: &str, expected: Option<f64>| {
            assert_eq!(share(text).ok(), expected, "{text}");
        };
        check("1%", Some(0.01));
        check("0.5%", Some(0.005));
        check("100%", Some(1.0));
        check("101%", None);
        check("-1%", None);
        check("NaN%", None);
        check("0.01", None);
    }

    #[test]
    fn a_listener_has_an_address_or_a_name_and_always_a_port() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(listening(text).ok().map(|address| address.to_string()).as_deref(), expected, "{text}");
        };
        check("127.0.0.1:8080", Some("127.0.0.1:8080"));
        check("[::1]:0", Some("[::1]:0"));
        // A machine may know no name.
        assert!(listening("localhost:8080").map_or(true, |address| address.ip().is_loopback()));
        check("localhost", None);
        check(":8080", None);
        check("8080", None);
        check("localhost:70000", None);
        let why = listening("localhost").unwrap_err();
        assert_eq!(why, "that is no address with a port: expected an address and a port, such as 127.0.0.1:8080");
    }

    #[test]
    fn an_assignment_names_what_is_missing() {
        let check = |text: &str, expected: Result<(&str, u32), &str>| {
            let found = text.parse::<Assignment<u32>>();
            let found = found.as_ref().map(|found| (found.name.as_str(), found.value)).map_err(String::as_str);
            assert_eq!(found, expected);
        };
        check("a=1", Ok(("a", 1)));
        check("a", Err("expected VARIANT=…, but `a` has no `=`"));
        check("=1", Err("the variant before `=` is missing"));
        check("a=", Err("the value after `a=` is missing"));
        check("a=x", Err("`x` for `a`: invalid digit found in string"));
    }

    #[test]
    fn secrets_are_not_shown_when_arguments_are_printed() {
        assert_eq!(format!("{:?}", "me:hidden".parse::<Credentials>().unwrap()), "me:…");
    }
}
