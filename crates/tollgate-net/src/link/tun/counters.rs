//! Counters of a line of packets. One thread writes, any may read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Steps in which lateness is counted, and how many there are: 256 µs, beyond which only the largest is known.
const LATENESS_STEP_NS: u64 = 500;
const LATENESS_STEPS: usize = 512;

/// The counts of a line.
#[derive(Debug)]
pub struct TunCounters {
    /// From near to far.
    pub there: WayCounters,
    /// From far to near.
    pub back: WayCounters,
    lateness: Box<[AtomicU64]>,
    late_ns_max: AtomicU64,
}

/// The counts of one way.
#[derive(Debug, Default)]
pub struct WayCounters {
    pub(super) packets: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) overtaken: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) held_packets: AtomicU64,
    pub(super) held_bytes: AtomicU64,
    pub(super) held_bytes_max: AtomicU64,
}

impl Default for TunCounters {
    fn default() -> TunCounters {
        TunCounters {
            there: WayCounters::default(),
            back: WayCounters::default(),
            lateness: (0..=LATENESS_STEPS).map(|_| AtomicU64::new(0)).collect(),
            late_ns_max: AtomicU64::new(0),
        }
    }
}

impl TunCounters {
    /// Number of released packets.
    #[must_use]
    pub fn releases(&self) -> u64 {
        self.lateness.iter().map(|step| step.load(Relaxed)).sum()
    }

    /// Median lateness of the releases.
    #[must_use]
    pub fn lateness_median(&self) -> Duration {
        self.lateness_of(50)
    }

    /// 99 % of them did.
    #[must_use]
    pub fn lateness_p99(&self) -> Duration {
        self.lateness_of(99)
    }

    /// Largest lateness of a release.
    #[must_use]
    pub fn lateness_max(&self) -> Duration {
        Duration::from_nanos(self.late_ns_max.load(Relaxed))
    }

    pub(super) fn way(&self, way: usize) -> &WayCounters {
        if way == 0 { &self.there } else { &self.back }
    }

    pub(super) fn released(&self, late_ns: u64) {
        let step = usize::try_from(late_ns / LATENESS_STEP_NS).unwrap_or(usize::MAX).min(LATENESS_STEPS);
        self.lateness[step].fetch_add(1, Relaxed);
        self.late_ns_max.fetch_max(late_ns, Relaxed);
    }

    fn lateness_of(&self, percent: u64) -> Duration {
        let rank = (self.releases() * percent).div_ceil(100);
        let mut so_far = 0;
        for (step, count) in (1_u64..).zip(&self.lateness[..LATENESS_STEPS]) {
            so_far += count.load(Relaxed);
            if so_far >= rank {
                return Duration::from_nanos(step * LATENESS_STEP_NS).min(self.lateness_max());
            }
        }
        self.lateness_max()
    }
}

impl WayCounters {
    /// Packets that came through.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets.load(Relaxed)
    }

    /// Their bytes, including the headers of IP.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Packets that got lost, as requested.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Packets that were delayed longer, so that others overtook them, as requested.
    #[must_use]
    pub fn overtaken(&self) -> u64 {
        self.overtaken.load(Relaxed)
    }

    /// Packets for which there was no room: they waited for the rate in vain.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Packets that the other end's kernel did not take.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    /// Packets under way now.
    #[must_use]
    pub fn held_packets(&self) -> u64 {
        self.held_packets.load(Relaxed)
    }

    /// Bytes under way now.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Relaxed)
    }

    /// The most bytes that were under way at once.
    #[must_use]
    pub fn held_bytes_max(&self) -> u64 {
        self.held_bytes_max.load(Relaxed)
    }

    /// Packets that were read of this way: all that had some fate.
    #[must_use]
    pub fn packets_read(&self) -> u64 {
        self.packets() + self.lost() + self.dropped() + self.refused() + self.held_packets()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_told_in_half_microseconds_and_its_largest_exactly() {
        let counters = TunCounters::default();
        (0..90).for_each(|_| counters.released(1_200));
        (0..10).for_each(|_| counters.released(7_700));
        assert_eq!(counters.lateness_median(), Duration::from_nanos(1_500));
        assert_eq!(counters.lateness_p99(), Duration::from_nanos(7_700));
        counters.released(9_000_000);
        assert_eq!((counters.lateness_max(), counters.releases()), (Duration::from_millis(9), 101));
    }
}
