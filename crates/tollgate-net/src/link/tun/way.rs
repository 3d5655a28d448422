//! The fate of a packet on one way of the line: lost, dropped, or released at a time.
//!
//! It deliberately knows no devices and waits for nothing; times are given.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::spec::TunSpec;
use crate::link::times::{Line, Random, whole_ns};

/// Most packets under way in one direction: 1 Gbit/s over a round trip of 1.5 s. Packets beyond them are dropped.
pub(super) const PACKETS_MAX: usize = 65_536;
/// Smallest default queue for the rate, in bytes: 100 packets, so that one initial window of a few connections never
/// overflows it. The default is what the line carries in a round trip, if that is more.
const QUEUE_BYTES_MIN: u64 = 150_000;

/// One way of the line.
#[derive(Debug)]
pub(super) struct Way {
    line: Line,
    random: Random,
    delay_ns: u64,
    loss: u64,
    reorder: u64,
    queue_bytes: u64,
    /// The latest release so far of a packet that keeps its place.
    latest_ns: u64,
    number: u64,
    held: BinaryHeap<Reverse<Held>>,
}

/// A packet under way: its release time, its number, and the place of its bytes.
type Held = (u64, u64, u32);

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is released at this time.
    Released(u64),
    /// The same, and it may be overtaken.
    Overtaken(u64),
    /// It gets lost, as requested.
    Lost,
    /// There is no room for it.
    Dropped,
}

impl Way {
    /// The way there (0) or back (1).
    pub(super) fn new(spec: &TunSpec, way: usize) -> Way {
        let link = &spec.link;
        let delay = if way == 0 { link.delay_there } else { link.delay_back };
        let queue_bytes = link.window_bytes.map_or_else(
            || {
                let rate = link.rate_bytes_per_s.map_or(0, std::num::NonZeroU64::get);
                let in_a_round_trip = u128::from(rate) * link.round_trip().as_nanos() / 1_000_000_000;
                u64::try_from(in_a_round_trip).unwrap_or(u64::MAX).max(QUEUE_BYTES_MIN)
            },
            |bytes| bytes as u64,
        );
        Way {
            line: Line::new(delay, link.jitter / 2, link.rate_bytes_per_s),
            random: Random::new(link.seed, 0, way),
            delay_ns: whole_ns(delay),
            loss: threshold(spec.loss),
            reorder: threshold(spec.reorder),
            queue_bytes,
            latest_ns: 0,
            number: 0,
            held: BinaryHeap::new(),
        }
    }

    /// Gives the way a new spec. Packets under way arrive at their old times, and nothing overtakes them.
    pub(super) fn change(&mut self, spec: &TunSpec, way: usize) {
        let before = std::mem::replace(self, Way::new(spec, way));
        (self.latest_ns, self.number, self.held) = (before.latest_ns, before.number, before.held);
    }

    /// Decides the fate of a packet that has arrived. For each the same numbers are drawn, so that the fate of the n-th
    /// does not depend on when it came.
    pub(super) fn arrived(&mut self, arrival_ns: u64, bytes: usize) -> Fate {
        let is_lost = self.random.next() < self.loss;
        let is_overtaken = self.random.next() < self.reorder;
        let travel_ns = self.line.travel_ns(&mut self.random);
        if self.held.len() >= PACKETS_MAX || self.line.waiting_bytes(arrival_ns) > self.queue_bytes {
            return Fate::Dropped;
        }
        // A lost packet has taken its time on the narrow part of the way.
        let sent_ns = self.line.serialise(arrival_ns, bytes);
        if is_lost {
            return Fate::Lost;
        }
        let at_ns = sent_ns.saturating_add(travel_ns);
        if is_overtaken {
            return Fate::Overtaken(at_ns.saturating_add(self.delay_ns / 2));
        }
        self.latest_ns = self.latest_ns.max(at_ns);
        Fate::Released(self.latest_ns)
    }

    /// Keeps a packet whose bytes lie at `place` until its time.
    pub(super) fn hold(&mut self, at_ns: u64, place: u32) {
        self.number += 1;
        self.held.push(Reverse((at_ns, self.number, place)));
    }

    /// The next packet, if its time has come: when it was due, and where its bytes lie.
    pub(super) fn due(&mut self, now_ns: u64) -> Option<(u64, u32)> {
        let Reverse((at_ns, _, place)) = *self.held.peek()?;
        if at_ns > now_ns {
            return None;
        }
        self.held.pop();
        Some((at_ns, place))
    }

    /// The time when the next one is due.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.held.peek().map(|Reverse((at_ns, _, _))| *at_ns)
    }
}

/// Below which number a draw of 64 bits falls with this probability.
fn threshold(share: f64) -> u64 {
    // 2^64; a share is below 1, and the conversion saturates.
    (share * 18_446_744_073_709_551_616.0) as u64
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;
    use std::time::Duration;

    use super::*;

    const MS: u64 = 1_000_000;

    fn way(change: impl FnOnce(&mut TunSpec)) -> Way {
        let mut spec = TunSpec::of_round_trip(Duration::from_millis(20));
        change(&mut spec);
        spec.check().unwrap();
        Way::new(&spec, 0)
    }

    fn fates(way: &mut Way, count: u64) -> Vec<Fate> {
        (0..count).map(|packet| way.arrived(packet * MS, 1500)).collect()
    }

    #[test]
    fn a_packet_is_released_one_way_after_it_came() {
        assert_eq!(way(|_| ()).arrived(7 * MS, 1500), Fate::Released(17 * MS));
    }

    #[test]
    fn jitter_keeps_the_order() {
        let mut way = way(|spec| spec.link.jitter = Duration::from_millis(10));
        let times: Vec<u64> = fates(&mut way, 1000)
            .into_iter()
            .map(|fate| match fate {
                Fate::Released(at_ns) => at_ns,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(times.is_sorted());
        let most = (0..).zip(&times).map(|(packet, at_ns)| at_ns - packet * MS).max().unwrap();
        assert!((14 * MS..=15 * MS).contains(&most), "{most}");
    }

    #[test]
    fn as_many_are_lost_and_overtaken_as_was_asked() {
        let mut way = way(|spec| (spec.loss, spec.reorder) = (0.02, 0.1));
        let fates = fates(&mut way, 100_000);
        let lost = fates.iter().filter(|fate| **fate == Fate::Lost).count();
        assert!((1_900..2_100).contains(&lost), "{lost}");
        let overtaken: Vec<(u64, Fate)> =
            (0..).zip(fates).filter(|(_, fate)| matches!(fate, Fate::Overtaken(_))).collect();
        assert!((9_500..10_100).contains(&overtaken.len()), "{}", overtaken.len());
        // Half of 10 ms later than the others.
        assert!(overtaken.iter().all(|(packet, fate)| *fate == Fate::Overtaken(packet * MS + 15 * MS)));
    }

    #[test]
    fn the_same_seed_spares_and_loses_the_same_packets() {
        let draw = |seed, spacing_ns: u64| {
            let mut way = way(|spec| (spec.loss, spec.link.seed) = (0.5, seed));
            (0..64).map(|packet| way.arrived(packet * spacing_ns, 100) == Fate::Lost).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, MS), draw(1, 3));
        assert_ne!(draw(1, MS), draw(2, MS));
    }

    #[test]
    fn what_the_rate_cannot_take_waits_and_then_is_dropped() {
        // 1 MB/s: a packet each millisecond. 64 KiB may wait.
        let mut way = way(|spec| {
            spec.link.rate_bytes_per_s = NonZeroU64::new(1_000_000);
            spec.link.window_bytes = Some(64 * 1024);
        });
        let all: Vec<Fate> = (0..100).map(|_| way.arrived(0, 1000)).collect();
        assert_eq!(all[..2], [Fate::Released(11 * MS), Fate::Released(12 * MS)]);
        // One goes while 65,000 bytes wait, and one more while 65,536 were not yet there.
        let passed = all.iter().filter(|fate| **fate != Fate::Dropped).count();
        assert_eq!(passed, 66);
        // When they have left, there is room again.
        assert_eq!(way.arrived(66 * MS, 1000), Fate::Released(77 * MS));
    }

    #[test]
    fn packets_leave_in_the_order_of_their_times_and_then_of_their_coming() {
        let mut way = way(|_| ());
        for (at_ns, place) in [(5, 0), (3, 1), (5, 2), (9, 3)] {
            way.hold(at_ns, place);
        }
        assert_eq!(way.next_ns(), Some(3));
        let left: Vec<u32> = std::iter::from_fn(|| way.due(5)).map(|(_, place)| place).collect();
        assert_eq!((left, way.next_ns()), (vec![1, 0, 2], Some(9)));
    }

    #[test]
    fn a_shorter_way_lets_nothing_overtake_what_is_under_way() {
        let mut way = way(|_| ());
        assert_eq!(way.arrived(0, 100), Fate::Released(10 * MS));
        way.hold(10 * MS, 0);
        way.change(&TunSpec::of_round_trip(Duration::from_millis(2)), 0);
        assert_eq!((way.arrived(MS, 100), way.next_ns()), (Fate::Released(10 * MS), Some(10 * MS)));
        assert_eq!(way.arrived(20 * MS, 100), Fate::Released(21 * MS));
    }

    #[test]
    fn packets_under_way_are_bounded() {
        let mut way = way(|_| ());
        (0..PACKETS_MAX as u32 - 1).for_each(|place| way.hold(MS, place));
        assert_eq!(way.arrived(0, 100), Fate::Released(10 * MS));
        way.hold(MS, 0);
        assert_eq!(way.arrived(0, 100), Fate::Dropped);
    }
}
