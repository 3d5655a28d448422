//! The shortest delay at which a link is accurate on this machine: the measured increase by a delay, compared with the
//! requested one.
//!
//! Experiments compare a link with the same link at no added delay, so what the link costs by itself is in both, and
//! what counts is the difference.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::measure::{RoundTrips, round_trips};
use super::mode::LinkMode;
use super::spec::LinkSpec;
use super::tun::{FarEcho, Tun, TunSpec};
use super::{Echo, Link};

/// Round trips that are tried, in microseconds.
const TRIED_US: [u64; 8] = [50, 100, 200, 300, 500, 1_000, 2_000, 5_000];
/// The delay of a link may differ from the requested one by this fraction of it: one tenth.
const TOLERANCE_DIVISOR: u32 = 10;
/// Messages for each round trip, and the time between them: a fifth of a second.
const MESSAGES: usize = 200;
const SPACING: Duration = Duration::from_millis(1);

/// Measured delays of a kind of link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accuracy {
    /// The kind of link.
    pub mode: LinkMode,
    /// Round trips over it without any delay.
    pub without_delay: RoundTrips,
    /// The requested delays beyond that, ascending, with the measured ones.
    pub added: Vec<Added>,
}

/// The measured delay of a link for one requested delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// The requested round trip.
    pub asked: Duration,
    /// Difference of the median from that of the same link without delay.
    pub got: Duration,
}

impl Added {
    /// Whether it is within a tenth of the requested delay.
    #[must_use]
    pub fn is_accurate(&self) -> bool {
        self.got.abs_diff(self.asked) <= self.asked / TOLERANCE_DIVISOR
    }
}

impl Accuracy {
    /// The shortest round trip from which on all measured ones are accurate; `None` if not even the longest is.
    #[must_use]
    pub fn least(&self) -> Option<Duration> {
        self.added.iter().rev().take_while(|added| added.is_accurate()).last().map(|added| added.asked)
    }
}

/// Measures a kind of link on this machine: about two seconds.
///
/// # Errors
/// As [`Link::start`] or [`Tun::open`], or when the echo cannot be reached.
pub fn accuracy(mode: LinkMode) -> io::Result<Accuracy> {
    let measure = |round_trip| match mode {
        LinkMode::Proxy => through_proxy(round_trip),
        LinkMode::Tun => through_tun(round_trip),
    };
    let without_delay = measure(Duration::ZERO)?;
    let tried = TRIED_US.into_iter().map(|asked_us| {
        let asked = Duration::from_micros(asked_us);
        Ok(Added { asked, got: measure(asked)?.median().saturating_sub(without_delay.median()) })
    });
    let added = tried.collect::<io::Result<Vec<Added>>>()?;
    Ok(Accuracy { mode, without_delay, added })
}

fn through_proxy(round_trip: Duration) -> io::Result<RoundTrips> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let echo = Echo::start(any)?;
    let link = Link::start(any, echo.address(), &LinkSpec::of_round_trip(round_trip))?;
    round_trips(link.address(), MESSAGES, SPACING)
}

fn through_tun(round_trip: Duration) -> io::Result<RoundTrips> {
    let line = Tun::open(&TunSpec::of_round_trip(round_trip))?;
    FarEcho::start(&line)?.round_trips(&line, MESSAGES, SPACING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_accurate_delay_has_none_beyond_it_that_is_off() {
        let check = |got: &[(u64, u64)], expected: Option<u64>| {
            let micros = Duration::from_micros;
            let added = got.iter().map(|(asked, got)| Added { asked: micros(*asked), got: micros(*got) }).collect();
            let without_delay = RoundTrips::of(vec![1]);
            let accuracy = Accuracy { mode: LinkMode::Proxy, without_delay, added };
            assert_eq!(accuracy.least(), expected.map(micros), "{got:?}");
        };
        check(&[(100, 110), (200, 180)], Some(100));
        check(&[(100, 111), (200, 180)], Some(200));
        check(&[(100, 100), (200, 221)], None);
        check(&[(100, 100), (200, 221), (500, 500)], Some(500));
    }
}
