//! One way of one connection: the bytes under way, their due times, and the end of the way.
//!
//! It deliberately knows no sockets and no clock: arrivals and times are arguments.

use std::collections::VecDeque;

use super::counters::LinkCounters;
use super::rope::{BlockPool, Rope};
use super::times::{Line, Random};

/// Most release times of one way: many tiny writes are bounded by it, not by the window.
const MARKS_MAX: usize = 65_536;

/// One way of one connection.
#[derive(Debug)]
pub(super) struct Pipe {
    /// The bytes.
    pub(super) rope: Rope,
    random: Random,
    marks: VecDeque<Mark>,
    /// Bytes at the front of the rope whose time has come.
    due_bytes: usize,
    last_release_ns: u64,
    end: Ending,
    reset_at_ns: Option<u64>,
}

/// Bytes with their due time.
#[derive(Clone, Copy, Debug)]
struct Mark {
    release_ns: u64,
    bytes: usize,
}

/// Whether the sender has ended its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Open,
    At(u64),
    PassedOn,
}

impl Pipe {
    /// An empty one.
    pub(super) fn new(random: Random) -> Pipe {
        Pipe {
            rope: Rope::default(),
            random,
            marks: VecDeque::new(),
            due_bytes: 0,
            last_release_ns: 0,
            end: Ending::Open,
            reset_at_ns: None,
        }
    }

    /// Whether more may come in.
    pub(super) fn is_open(&self) -> bool {
        self.end == Ending::Open && self.reset_at_ns.is_none()
    }

    /// Bytes that may come in.
    pub(super) fn room(&self, window_bytes: usize) -> usize {
        if self.marks.len() >= MARKS_MAX { 0 } else { window_bytes.saturating_sub(self.rope.bytes()) }
    }

    /// Schedules bytes that came in and are already in the rope.
    pub(super) fn arrived(&mut self, line: &mut Line, now_ns: u64, bytes: usize) {
        let travel_ns = line.travel_ns(&mut self.random);
        let piece_bytes = line.piece_bytes();
        let mut left = bytes;
        while left > 0 {
            let bytes = left.min(piece_bytes);
            let release_ns = self.in_order(line.serialise(now_ns, bytes).saturating_add(travel_ns));
            match self.marks.back_mut() {
                Some(last) if last.release_ns == release_ns => last.bytes += bytes,
                _ => self.marks.push_back(Mark { release_ns, bytes }),
            }
            left -= bytes;
        }
    }

    /// The sender ended its side.
    pub(super) fn ended(&mut self, line: &mut Line, now_ns: u64) {
        if self.end == Ending::Open {
            let travel_ns = line.travel_ns(&mut self.random);
            self.end = Ending::At(self.in_order(line.serialise(now_ns, 0).saturating_add(travel_ns)));
        }
    }

    /// The sender is gone without a word.
    pub(super) fn reset(&mut self, line: &mut Line, now_ns: u64) {
        if self.reset_at_ns.is_none() {
            let travel_ns = line.travel_ns(&mut self.random);
            self.reset_at_ns = Some(self.in_order(line.serialise(now_ns, 0).saturating_add(travel_ns)));
        }
    }

    /// Bytes whose time has come; the lateness of those whose time came since the last question is counted.
    pub(super) fn due_bytes(&mut self, now_ns: u64, counters: &LinkCounters) -> usize {
        while let Some(mark) = self.marks.front()
            && mark.release_ns <= now_ns
        {
            counters.released(now_ns - mark.release_ns);
            self.due_bytes += mark.bytes;
            self.marks.pop_front();
        }
        self.due_bytes
    }

    /// Records that this many of the due bytes were passed on.
    pub(super) fn passed_on(&mut self, bytes: usize) {
        self.due_bytes -= bytes;
    }

    /// Whether the end of the sender's side is to be passed on now; true only once.
    pub(super) fn take_end(&mut self, now_ns: u64) -> bool {
        let due = matches!(self.end, Ending::At(at_ns) if at_ns <= now_ns) && self.rope.bytes() == 0;
        if due {
            self.end = Ending::PassedOn;
        }
        due
    }

    /// Whether the end was passed on, and no reset is to follow it.
    pub(super) fn is_over(&self) -> bool {
        self.end == Ending::PassedOn && self.reset_at_ns.is_none()
    }

    /// Whether a reset is to be passed on now.
    pub(super) fn is_reset(&self, now_ns: u64) -> bool {
        self.reset_at_ns.is_some_and(|at_ns| at_ns <= now_ns)
    }

    /// Drops the bytes under way, since nobody will take them any more.
    pub(super) fn abandon(&mut self, pool: &mut BlockPool) {
        self.rope.clear(pool);
        self.marks.clear();
        self.due_bytes = 0;
        self.end = Ending::PassedOn;
    }

    /// The next due time of bytes or the end. Bytes that are due already wait for the receiver, not for the clock.
    pub(super) fn due_next_ns(&self) -> Option<u64> {
        match (self.due_bytes, self.marks.front(), self.end) {
            (0, Some(mark), _) => Some(mark.release_ns),
            (0, None, Ending::At(at_ns)) => Some(at_ns),
            _ => None,
        }
    }

    /// The time when a reset is due.
    pub(super) fn reset_ns(&self) -> Option<u64> {
        self.reset_at_ns
    }

    fn in_order(&mut self, release_ns: u64) -> u64 {
        self.last_release_ns = self.last_release_ns.max(release_ns);
        self.last_release_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    fn line(rate: Option<u64>) -> Line {
        Line::new(Duration::from_millis(10), Duration::ZERO, rate.map(|rate| NonZeroU64::new(rate).unwrap()))
    }

    /// A pipe that got `bytes` at 1 ms.
    fn pipe(line: &mut Line, bytes: usize) -> Pipe {
        let mut pipe = Pipe::new(Random::new(0, 0, 0));
        let text = vec![0; bytes];
        let moved = pipe.rope.fill(&mut BlockPool::default(), bytes, &mut text.as_slice()).unwrap();
        assert_eq!(moved.bytes, bytes);
        pipe.arrived(line, MS, bytes);
        pipe
    }

    #[test]
    fn bytes_are_due_after_the_delay_and_not_before() {
        let (mut pipe, counters) = (pipe(&mut line(None), 64), LinkCounters::default());
        assert_eq!(pipe.due_next_ns(), Some(11 * MS));
        assert_eq!(pipe.due_bytes(11 * MS - 1, &counters), 0);
        assert_eq!(pipe.due_bytes(11 * MS + 70, &counters), 64);
        assert_eq!((counters.releases(), counters.lateness_max()), (1, Duration::from_nanos(70)));
        assert_eq!(pipe.due_next_ns(), None);
    }

    #[test]
    fn at_a_rate_bytes_come_out_piece_by_piece() {
        let (mut pipe, counters) = (pipe(&mut line(Some(1_448_000)), 4344), LinkCounters::default());
        let due = [11, 12, 13, 14].map(|ms| pipe.due_bytes(ms * MS, &counters));
        assert_eq!(due, [0, 1448, 2896, 4344]);
    }

    #[test]
    fn the_end_is_passed_on_once_after_all_bytes() {
        let (mut line, counters) = (line(None), LinkCounters::default());
        let mut pipe = pipe(&mut line, 64);
        pipe.ended(&mut line, 2 * MS);
        assert!(!pipe.is_open());
        assert_eq!(pipe.due_bytes(12 * MS, &counters), 64);
        assert!(!pipe.take_end(12 * MS), "bytes stand before it");
        let mut pool = BlockPool::default();
        pipe.rope.empty(&mut pool, 64, &mut std::io::sink()).unwrap();
        pipe.passed_on(64);
        assert_eq!(pipe.due_next_ns(), Some(12 * MS));
        assert!(pipe.take_end(12 * MS) && pipe.is_over());
        assert!(!pipe.take_end(13 * MS));
    }

    #[test]
    fn a_reset_travels_as_long_as_bytes_do_even_after_the_end() {
        let mut line = line(None);
        let mut pipe = Pipe::new(Random::new(0, 0, 0));
        pipe.ended(&mut line, MS);
        assert!(pipe.take_end(11 * MS));
        pipe.reset(&mut line, 20 * MS);
        assert_eq!((pipe.due_next_ns(), pipe.reset_ns()), (None, Some(30 * MS)));
        assert!(!pipe.is_over());
        assert_eq!((pipe.is_reset(30 * MS - 1), pipe.is_reset(30 * MS)), (false, true));
    }

    #[test]
    fn jitter_never_lets_bytes_overtake() {
        let mut line = Line::new(Duration::from_millis(10), Duration::from_millis(10), None);
        let mut pipe = Pipe::new(Random::new(3, 0, 0));
        for arrival in 0..1000 {
            pipe.arrived(&mut line, arrival * 10_000, 1);
        }
        let releases: Vec<u64> = pipe.marks.iter().map(|mark| mark.release_ns).collect();
        assert!(releases.is_sorted() && releases.len() > 10);
    }

    #[test]
    fn release_times_are_bounded() {
        let mut line = line(None);
        let mut pipe = Pipe::new(Random::new(0, 0, 0));
        for arrival in 0..MARKS_MAX as u64 - 1 {
            pipe.arrived(&mut line, arrival, 1);
        }
        assert!(pipe.room(1 << 20) > 0);
        pipe.arrived(&mut line, MS, 1);
        assert_eq!(pipe.room(1 << 20), 0);
    }
}
