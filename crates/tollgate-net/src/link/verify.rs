//! Checks whether a link has the requested round trip and throughput, with an echo of its own, beside the same without
//! the link.
//!
//! The link that is measured is one of the same spec that is started for it, so that a link in use is left alone.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::time::Duration;

use super::Link;
use super::echo::Echo;
use super::measure::{RoundTrips, round_trips, throughput};
use super::spec::LinkSpec;

/// Allowed difference of a round trip at any delay: two wake-ups by the timer and the proxy's own work.
const TOLERANCE: Duration = Duration::from_micros(60);
/// Allowed further difference: the requested round trip divided by this.
const TOLERANCE_DIVISOR: u32 = 20;
/// Allowed difference from a requested rate: the rate divided by this.
const RATE_TOLERANCE_DIVISOR: f64 = 10.0;
/// Time between two messages.
const SPACING: Duration = Duration::from_millis(1);

/// The extent of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// 200 messages and no throughput: a fifth of a second.
    Short,
    /// 3,200 messages, so that there is a p99, and the throughput of half a second or so.
    #[default]
    Whole,
}

/// The requested and the measured properties of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The requested round trip.
    pub asked: Duration,
    /// Round trips of 64 bytes through the link.
    pub got: RoundTrips,
    /// The same to an echo on this machine without a link.
    pub direct: RoundTrips,
    /// The requested rate.
    pub asked_bytes_per_s: Option<NonZeroU64>,
    /// Rate of a stream through the link to the echo and back, in bytes per second; `None` if it was not measured.
    pub bytes_per_s: Option<f64>,
}

impl Verified {
    /// Whether the median is within 60 µs and 5 % of the requested round trip. The jitter of a link goes both ways and
    /// moves the median little.
    #[must_use]
    pub fn keeps_its_round_trip(&self) -> bool {
        self.got.median().abs_diff(self.asked) <= self.tolerance()
    }

    /// Allowed difference of the median from the requested round trip.
    #[must_use]
    pub fn tolerance(&self) -> Duration {
        TOLERANCE + self.asked / TOLERANCE_DIVISOR
    }

    /// Whether the requested rate is kept within 10 %; true if none was requested or measured.
    #[must_use]
    pub fn keeps_its_rate(&self) -> bool {
        match (self.asked_bytes_per_s, self.bytes_per_s) {
            (Some(asked), Some(got)) => {
                let asked = asked.get() as f64;
                (got - asked).abs() <= asked / RATE_TOLERANCE_DIVISOR
            }
            _ => true,
        }
    }
}

/// Measures a link of this spec between this process and an echo on loopback.
///
/// # Errors
/// As [`Link::start`], or when the echo cannot be reached.
pub fn verify(spec: &LinkSpec, effort: Effort) -> io::Result<Verified> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let echo = Echo::start(any)?;
    let link = Link::start(any, echo.address(), spec)?;
    measured(link.address(), echo.address(), spec, effort)
}

/// Measures a link that runs already at `address`, and leads to an echo, against what was `asked` of it.
///
/// # Errors
/// When it cannot be reached, or does not send back what was sent.
pub fn through(address: SocketAddr, asked: &LinkSpec, effort: Effort) -> io::Result<Verified> {
    let echo = Echo::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    measured(address, echo.address(), asked, effort)
}

fn measured(address: SocketAddr, direct: SocketAddr, asked: &LinkSpec, effort: Effort) -> io::Result<Verified> {
    let count = match effort {
        Effort::Short => 200,
        Effort::Whole => 3_200,
    };
    let spacing = spacing(asked.rate_bytes_per_s);
    let direct = round_trips(direct, count.min(1_000), spacing)?;
    let got = round_trips(address, count, spacing)?;
    let bytes_per_s = match effort {
        Effort::Short => None,
        Effort::Whole => Some(throughput(address, stream_bytes(asked.rate_bytes_per_s))?),
    };
    Ok(Verified { asked: asked.round_trip(), got, direct, asked_bytes_per_s: asked.rate_bytes_per_s, bytes_per_s })
}

/// Messages alone must not fill a slow link: they take a quarter of it at most.
pub(super) fn spacing(rate_bytes_per_s: Option<NonZeroU64>) -> Duration {
    let slowest = rate_bytes_per_s.map_or(0.0, |rate| 4.0 * 64.0 / rate.get() as f64);
    SPACING.max(Duration::from_secs_f64(slowest))
}

/// About half a second of what the link carries.
fn stream_bytes(rate_bytes_per_s: Option<NonZeroU64>) -> u64 {
    rate_bytes_per_s.map_or(512 << 20, |rate| (rate.get() / 2).clamp(64, 512 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_do_not_fill_a_slow_link() {
        let check = |rate: Option<u64>, expected: Duration| {
            assert_eq!(spacing(rate.map(|rate| NonZeroU64::new(rate).unwrap())), expected);
        };
        check(None, SPACING);
        check(Some(10_000_000), SPACING);
        check(Some(2_560), Duration::from_millis(100));
    }
}
