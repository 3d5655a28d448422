//! The properties of a link, and their limits.
//!
//! It deliberately computes no release times: those are in `times`.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

/// The longest delay of one way: beyond it every client has given up.
pub const DELAY_MAX: Duration = Duration::from_secs(30);
/// The smallest window: one read of a fast sender.
pub const WINDOW_BYTES_MIN: usize = 64 * 1024;
/// The largest window of one way of one connection.
pub const WINDOW_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes per second that a connection through a link without a rate can carry at any delay: 10 Gbit/s.
const UNLIMITED_BYTES_PER_S: u64 = 1_250_000_000;
/// Bytes of a window beyond those under way, so that a reader that pauses for a moment leaves no gap.
const WINDOW_SPARE_BYTES: u64 = 1024 * 1024;

/// The distance between the two ends of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// Delay from the client to the target.
    pub delay_there: Duration,
    /// Delay from the target back to the client.
    pub delay_back: Duration,
    /// Largest difference of a round trip from [`LinkSpec::round_trip`], up and down; each way takes half of it, evenly
    /// distributed. Bytes that would overtake are delayed: order is kept, so a dense stream is delayed a little more on
    /// average.
    pub jitter: Duration,
    /// Bytes per second that each way carries, all connections together; `None`: as many as the machine can.
    pub rate_bytes_per_s: Option<NonZeroU64>,
    /// Most bytes under way in one direction of a connection; `None`: the product of delay and rate and a little more,
    /// so that the delay does not slow a stream down.
    pub window_bytes: Option<usize>,
    /// Seed of the jitter: the same seed draws the same jitter for the same reads.
    pub seed: u64,
}

/// The reasons why a link is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// A delay beyond [`DELAY_MAX`].
    DelayTooLong(Duration),
    /// Jitter that would let bytes arrive before they were sent.
    JitterBeyondDelay {
        /// The requested jitter.
        jitter: Duration,
        /// The most that is possible.
        most: Duration,
    },
    /// A window outside [`WINDOW_BYTES_MIN`] and [`WINDOW_BYTES_MAX`].
    Window(usize),
}

impl LinkSpec {
    /// A link with this round trip, half of it each way, and nothing else in its way.
    #[must_use]
    pub fn of_round_trip(round_trip: Duration) -> LinkSpec {
        let there = round_trip / 2;
        LinkSpec {
            delay_there: there,
            delay_back: round_trip.saturating_sub(there),
            jitter: Duration::ZERO,
            rate_bytes_per_s: None,
            window_bytes: None,
            seed: 0,
        }
    }

    /// The delay of both ways together.
    #[must_use]
    pub fn round_trip(&self) -> Duration {
        self.delay_there + self.delay_back
    }

    /// Checks that such a link is possible.
    ///
    /// # Errors
    /// The first thing that cannot.
    pub fn check(&self) -> Result<(), SpecError> {
        if let Some(delay) = [self.delay_there, self.delay_back].into_iter().find(|delay| *delay > DELAY_MAX) {
            return Err(SpecError::DelayTooLong(delay));
        }
        let most = self.delay_there.min(self.delay_back) * 2;
        if self.jitter > most {
            return Err(SpecError::JitterBeyondDelay { jitter: self.jitter, most });
        }
        match self.window_bytes {
            Some(bytes) if !(WINDOW_BYTES_MIN..=WINDOW_BYTES_MAX).contains(&bytes) => Err(SpecError::Window(bytes)),
            _ => Ok(()),
        }
    }

    /// Most bytes under way in a direction with this delay.
    pub(super) fn window(&self, delay: Duration) -> usize {
        self.window_bytes.unwrap_or_else(|| {
            let rate = self.rate_bytes_per_s.map_or(UNLIMITED_BYTES_PER_S, NonZeroU64::get);
            let longest = delay + self.jitter / 2;
            let under_way = u128::from(rate) * longest.as_nanos() / 1_000_000_000;
            let bytes = under_way.saturating_add(u128::from(WINDOW_SPARE_BYTES.min(rate / 10)));
            usize::try_from(bytes).unwrap_or(usize::MAX).clamp(WINDOW_BYTES_MIN, WINDOW_BYTES_MAX)
        })
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::DelayTooLong(delay) => {
                write!(formatter, "a delay of {delay:?} one way is beyond {DELAY_MAX:?}")
            }
            SpecError::JitterBeyondDelay { jitter, most } => {
                write!(formatter, "a jitter of {jitter:?} is more than the delays allow: at most {most:?}")
            }
            SpecError::Window(bytes) => {
                write!(formatter, "a window of {bytes} bytes is not from {WINDOW_BYTES_MIN} to {WINDOW_BYTES_MAX}")
            }
        }
    }
}

impl std::error::Error for SpecError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_what_is_under_way_at_the_full_rate() {
        let check = |delay_ms: u64, rate: Option<u64>, expected: usize| {
            let rate_bytes_per_s = rate.map(|rate| NonZeroU64::new(rate).unwrap());
            let spec = LinkSpec { rate_bytes_per_s, ..LinkSpec::of_round_trip(Duration::ZERO) };
            assert_eq!(spec.window(Duration::from_millis(delay_ms)), expected, "{delay_ms} ms at {rate:?}");
        };
        check(0, None, 1 << 20);
        check(10, None, 12_500_000 + (1 << 20));
        check(30_000, None, WINDOW_BYTES_MAX);
        check(100, Some(10_000_000), 1_000_000 + 1_000_000);
        check(1, Some(1_000), WINDOW_BYTES_MIN);
    }

    #[test]
    fn a_link_that_cannot_be_is_refused() {
        let check = |change: &dyn Fn(&mut LinkSpec), expected: Option<&str>| {
            let mut spec = LinkSpec::of_round_trip(Duration::from_millis(20));
            change(&mut spec);
            assert_eq!(spec.check().err().map(|error| error.to_string()).as_deref(), expected);
        };
        check(&|_| (), None);
        check(&|spec| spec.delay_back = DELAY_MAX, None);
        check(
            &|spec| spec.delay_back = DELAY_MAX + Duration::from_millis(1),
            Some("a delay of 30.001s one way is beyond 30s"),
        );
        check(&|spec| spec.jitter = Duration::from_millis(20), None);
        check(
            &|spec| spec.jitter = Duration::from_millis(21),
            Some("a jitter of 21ms is more than the delays allow: at most 20ms"),
        );
        check(&|spec| spec.window_bytes = Some(WINDOW_BYTES_MIN), None);
        check(
            &|spec| spec.window_bytes = Some(WINDOW_BYTES_MIN - 1),
            Some("a window of 65535 bytes is not from 65536 to 268435456"),
        );
        check(
            &|spec| spec.window_bytes = Some(WINDOW_BYTES_MAX + 1),
            Some("a window of 268435457 bytes is not from 65536 to 268435456"),
        );
    }

    #[test]
    fn an_odd_round_trip_is_not_shortened() {
        let spec = LinkSpec::of_round_trip(Duration::from_nanos(7));
        assert_eq!(spec.round_trip(), Duration::from_nanos(7));
    }
}
