//! One place of an endpoint, shared by all loops: its state, its requests in flight, and its counters. It outlives a
//! new configuration that still names it under the same endpoint.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Ending;
use super::state::{Admission, HealthVerdict, Phase, PlaceState, Turn};
use crate::config::Suspension;

/// Id of a place for its connections: a new one as soon as they must not be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PlaceId(u32);

impl PlaceId {
    /// Returns an unused id.
    pub(super) fn next() -> PlaceId {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        PlaceId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// One place of an endpoint. Fields that every request changes have cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Place {
    state: AtomicU64,
    in_flight: AtomicU32,
    /// Answers by the class of their status, from 1xx to 5xx.
    answered: [AtomicU64; CLASSES],
    failed: [AtomicU64; FAILURES.len()],
    suspended: AtomicU64,
    left: AtomicU64,
    began: Instant,
}

/// Classes of statuses.
const CLASSES: usize = 5;

/// The names of failures, in the order of [`Ending::failure`].
pub(crate) const FAILURES: [&str; 4] = ["connect", "tls", "timeout", "broken"];

/// Reason why a place takes no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// The most allowed requests are in flight there.
    Full,
    /// It is suspended, for so long.
    Suspended { back_in_ms: u64 },
}

/// A place's state and counters for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// Whether it may be used.
    pub(crate) phase: Phase,
    /// Remaining time of a suspension.
    pub(crate) suspended_for: Duration,
    /// Failures in a row.
    pub(crate) failures_in_a_row: u16,
    /// Requests in flight.
    pub(crate) in_flight: u32,
    /// Answers by the class of their status, from 1xx to 5xx.
    pub(crate) answered: [u64; CLASSES],
    /// Failures, in the order of [`FAILURES`].
    pub(crate) failed: [u64; FAILURES.len()],
    /// Number of suspensions.
    pub(crate) suspended: u64,
    /// Requests whose client went away.
    pub(crate) left: u64,
}

impl Place {
    /// Creates a ready place; nothing happened there before `now`.
    pub(super) fn new(now: Instant) -> Place {
        Place {
            state: AtomicU64::new(PlaceState::default().to_word()),
            in_flight: AtomicU32::new(0),
            answered: Default::default(),
            failed: Default::default(),
            suspended: AtomicU64::new(0),
            left: AtomicU64::new(0),
            began: now,
        }
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Admits a request, unless `in_flight_max` are there already or it is suspended at `now`.
    pub(super) fn take(&self, now: Instant, in_flight_max: u32) -> Result<Turn, Closed> {
        let more = |in_flight: u32| (in_flight < in_flight_max).then_some(in_flight + 1);
        let mut word = self.state.load(Ordering::Acquire);
        loop {
            let (turn, next) = match PlaceState::from_word(word).admit(self.ms(now)) {
                Admission::Not { back_in_ms } => return Err(Closed::Suspended { back_in_ms }),
                Admission::Free(turn) => (turn, None),
                Admission::Trial(turn, next) => (turn, Some(next)),
            };
            if self.in_flight.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
                return Err(Closed::Full);
            }
            let Some(next) = next else { return Ok(turn) };
            match self.state.compare_exchange(word, next.to_word(), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(turn),
                Err(changed) => {
                    self.in_flight.fetch_sub(1, Ordering::Relaxed);
                    word = changed;
                }
            }
        }
    }

    /// Records the end of a request of `turn`; the clock is read only if it counts against the place.
    pub(super) fn ended(&self, turn: Turn, ending: Ending, now: impl Fn() -> Instant, rules: &Suspension) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        if let Ending::Answered(status) = ending {
            let class = usize::from(status / 100).clamp(1, CLASSES) - 1;
            self.answered[class].fetch_add(1, Ordering::Relaxed);
        }
        if let Some(failure) = ending.failure() {
            self.failed[failure].fetch_add(1, Ordering::Relaxed);
        }
        self.judge(turn, ending, now, rules);
    }

    /// Records the end of a trial, while its request goes on under the returned turn.
    pub(super) fn tried(&self, turn: Turn, ending: Ending, now: impl Fn() -> Instant, rules: &Suspension) -> Turn {
        self.judge(turn, ending, now, rules);
        PlaceState::from_word(self.state.load(Ordering::Acquire)).turn()
    }

    fn judge(&self, turn: Turn, ending: Ending, now: impl Fn() -> Instant, rules: &Suspension) {
        if ending.counts_against(rules) {
            let now_ms = self.ms(now());
            self.change(|state| state.failed(turn, now_ms, rules));
        } else {
            self.change(|state| state.answered(turn));
        }
    }

    /// Records the end of a request of `turn` without effect on the place's state.
    pub(super) fn given_up(&self, turn: Turn) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.change(|state| state.given_up(turn));
    }

    /// Counts a request whose client went away before its answer was complete.
    pub(super) fn left(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the result of a health check.
    pub(crate) fn checked(&self, verdict: HealthVerdict, now: Instant, rules: &Suspension) {
        let now_ms = self.ms(now);
        self.change(|state| state.checked(verdict, now_ms, rules));
    }

    /// Makes it ready, whatever its failures.
    pub(crate) fn reset(&self) {
        self.change(|state| (state != PlaceState::default()).then(|| state.ready()));
    }

    /// Its state and counters at `now`.
    pub(crate) fn look(&self, now: Instant) -> Look {
        let state = PlaceState::from_word(self.state.load(Ordering::Acquire));
        let left_ms = if state.phase == Phase::Suspended { state.until_ms.saturating_sub(self.ms(now)) } else { 0 };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Look {
            phase: state.phase,
            suspended_for: Duration::from_millis(left_ms),
            failures_in_a_row: state.failures,
            in_flight: self.in_flight(),
            answered: std::array::from_fn(|class| count(&self.answered[class])),
            failed: std::array::from_fn(|failure| count(&self.failed[failure])),
            suspended: count(&self.suspended),
            left: count(&self.left),
        }
    }

    /// Updates the state, also under concurrent updates.
    fn change(&self, next: impl Fn(PlaceState) -> Option<PlaceState>) {
        let moved = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
            next(PlaceState::from_word(word)).map(PlaceState::to_word)
        });
        let Ok(before) = moved.map(PlaceState::from_word) else { return };
        // Whoever moved it knows what it became: the same function of what it was.
        let suspends = next(before).is_some_and(|after| after.phase == Phase::Suspended && after.step > before.step);
        if suspends {
            self.suspended.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn ms(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.began).as_millis() as u64
    }
}
