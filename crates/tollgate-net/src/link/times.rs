//! The release time of each byte: serialisation at a rate, the delay of a way, and jitter. Times are nanoseconds of the
//! monotonic clock, on which the timer runs too.
//!
//! It deliberately knows no sockets and waits for nothing.

use std::num::NonZeroU64;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Bytes that leave together at the least: a segment of TCP on Ethernet.
const PIECE_BYTES_MIN: u64 = 1448;
/// Pieces a second at the most: more would only cost wake-ups.
const PIECES_PER_S_MAX: u64 = 10_000;

/// Change of the lead with a wake-up, in nanoseconds.
const LEAD_STEP_NS: u64 = 500;
/// The most that a wake-up may be expected to take: beyond it the machine is busy, and waiting awake would make it
/// worse.
const LEAD_NS_MAX: u64 = 60_000;

/// The monotonic time.
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // The monotonic clock counts from the machine's start and is never negative.
    (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
}

/// A duration in nanoseconds.
pub(crate) fn whole_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// One way of a link, shared by all connections: they queue for its rate.
#[derive(Debug)]
pub(super) struct Line {
    delay_ns: u64,
    jitter_ns: u64,
    rate_bytes_per_s: Option<NonZeroU64>,
    free_at_ns: u64,
}

impl Line {
    /// A line with this delay, give or take `jitter`.
    pub(super) fn new(delay: Duration, jitter: Duration, rate_bytes_per_s: Option<NonZeroU64>) -> Line {
        Line { delay_ns: whole_ns(delay), jitter_ns: whole_ns(jitter), rate_bytes_per_s, free_at_ns: 0 }
    }

    /// Bytes that leave together.
    pub(super) fn piece_bytes(&self) -> usize {
        let bytes = self.rate_bytes_per_s.map_or(u64::MAX, |rate| PIECE_BYTES_MIN.max(rate.get() / PIECES_PER_S_MAX));
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// The time when the last bit of `bytes` that arrived at `arrival_ns` has left the near end.
    pub(super) fn serialise(&mut self, arrival_ns: u64, bytes: usize) -> u64 {
        let Some(rate) = self.rate_bytes_per_s else { return arrival_ns };
        let took_ns = (bytes as u128 * 1_000_000_000).div_ceil(u128::from(rate.get()));
        let start_ns = self.free_at_ns.max(arrival_ns);
        self.free_at_ns = start_ns.saturating_add(u64::try_from(took_ns).unwrap_or(u64::MAX));
        self.free_at_ns
    }

    /// Bytes that wait to leave at this time.
    pub(super) fn waiting_bytes(&self, now_ns: u64) -> u64 {
        let waiting_ns = u128::from(self.free_at_ns.saturating_sub(now_ns));
        let rate = u128::from(self.rate_bytes_per_s.map_or(0, NonZeroU64::get));
        u64::try_from(waiting_ns * rate / 1_000_000_000).unwrap_or(u64::MAX)
    }

    /// Travel time of the next bytes.
    pub(super) fn travel_ns(&self, random: &mut Random) -> u64 {
        if self.jitter_ns == 0 {
            return self.delay_ns;
        }
        (self.delay_ns + random.up_to(self.jitter_ns * 2)).saturating_sub(self.jitter_ns)
    }
}

/// Time by which the timer is set early, since the machine takes its time to wake a thread (35 µs on a small virtual
/// one). The rest until the due time is spent asking epoll without waiting.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    ns: u64,
}

impl Lead {
    /// The lead now.
    pub(crate) fn ns(&self) -> u64 {
        self.ns
    }

    /// Records that the thread was woken this late. Steps up are three times those down, so the lead settles where
    /// three of four wake-ups are in time.
    pub(crate) fn woken(&mut self, late_ns: u64) {
        self.ns = if late_ns > self.ns {
            (self.ns + 3 * LEAD_STEP_NS).min(LEAD_NS_MAX)
        } else {
            self.ns.saturating_sub(LEAD_STEP_NS)
        };
    }
}

/// Numbers from a seed: SplitMix64 (Steele, Lea, Flood 2014). Jitter needs evenness, not secrecy.
#[derive(Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    /// The numbers of one way of one connection.
    pub(super) fn new(seed: u64, connection: u64, way: usize) -> Random {
        let mut random = Random { state: seed };
        let mixed = random.next() ^ connection.wrapping_mul(2).wrapping_add(way as u64);
        Random { state: mixed }
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A random number of 0 … `most`.
    fn up_to(&mut self, most: u64) -> u64 {
        ((u128::from(self.next()) * (u128::from(most) + 1)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn line(rate: Option<u64>) -> Line {
        let rate = rate.map(|rate| NonZeroU64::new(rate).unwrap());
        Line::new(Duration::from_millis(10), Duration::ZERO, rate)
    }

    #[test]
    fn bytes_leave_one_after_another_at_the_rate() {
        let mut line = line(Some(1_000_000));
        assert_eq!(line.serialise(5 * MS, 1000), 6 * MS);
        // While the first ones leave, the next wait.
        assert_eq!(line.serialise(5 * MS, 2000), 8 * MS);
        // A line that was free for a while has saved nothing up.
        assert_eq!(line.serialise(20 * MS, 1000), 21 * MS);
    }

    #[test]
    fn without_a_rate_bytes_leave_as_they_come() {
        let mut line = line(None);
        assert_eq!(line.serialise(5 * MS, usize::MAX), 5 * MS);
        assert_eq!((line.piece_bytes(), self::line(Some(1_000_000)).piece_bytes()), (usize::MAX, 1448));
        assert_eq!(self::line(Some(1_000_000_000)).piece_bytes(), 100_000);
    }

    #[test]
    fn the_lead_settles_where_three_of_four_wake_ups_are_in_time() {
        let settled = |late_ns: &dyn Fn(u64) -> u64| {
            let mut lead = Lead::default();
            (0..10_000).for_each(|wake_up| lead.woken(late_ns(wake_up)));
            lead.ns()
        };
        assert!(settled(&|_| 30_000).abs_diff(30_000) <= 3 * LEAD_STEP_NS);
        let even = settled(&|wake_up| wake_up * 7 % 40 * 1_000);
        assert!((27_000..33_000).contains(&even), "{even}");
        assert_eq!((settled(&|_| 0), settled(&|_| 5_000_000)), (0, LEAD_NS_MAX));
    }

    #[test]
    fn jitter_stays_within_its_bounds_and_uses_them() {
        let line = Line::new(Duration::from_millis(10), Duration::from_millis(3), None);
        let mut random = Random::new(7, 0, 0);
        let travels: Vec<u64> = (0..10_000).map(|_| line.travel_ns(&mut random)).collect();
        let (least, most) = (travels.iter().min().unwrap(), travels.iter().max().unwrap());
        assert!((7 * MS..7 * MS + MS / 100).contains(least), "{least}");
        assert!((13 * MS - MS / 100..=13 * MS).contains(most), "{most}");
        let mean = travels.iter().sum::<u64>() / travels.len() as u64;
        assert!(mean.abs_diff(10 * MS) < MS / 20, "{mean}");
    }

    #[test]
    fn the_same_seed_draws_the_same_jitter_and_each_way_its_own() {
        let draw = |seed, connection, way| {
            let mut random = Random::new(seed, connection, way);
            (0..8).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 2, 0), draw(1, 2, 0));
        assert_ne!(draw(1, 2, 0), draw(1, 2, 1));
        assert_ne!(draw(1, 2, 0), draw(1, 3, 0));
        assert_ne!(draw(1, 2, 0), draw(2, 2, 0));
    }
}
