//! The clock that the engine waits by: the system's, or one that a test moves by hand.
//!
//! It is coarse on purpose: the server reads it once a tick and keeps no timer per request. Response times are measured
//! with [`Instant`] by the caller, not with this clock.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};

/// The engine's source of time.
#[derive(Clone, Debug)]
pub struct Clock {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual { start: Instant, start_wall: SystemTime, elapsed: watch::Receiver<Duration> },
}

/// The hand that moves a manual clock.
#[derive(Clone, Debug)]
pub struct ManualClock {
    elapsed: Arc<watch::Sender<Duration>>,
}

/// Wakes its owner about once a period, or whenever a manual clock is moved.
#[derive(Debug)]
pub(crate) enum Ticker {
    System(Interval),
    Manual(watch::Receiver<Duration>),
}

impl Clock {
    /// The machine's own clock.
    #[must_use]
    pub fn system() -> Clock {
        Clock { source: Source::System }
    }

    /// A clock that only its hand moves. `start_wall` is the wall time at its start.
    #[must_use]
    pub fn manual(start_wall: SystemTime) -> (Clock, ManualClock) {
        let (sender, elapsed) = watch::channel(Duration::ZERO);
        let source = Source::Manual { start: Instant::now(), start_wall, elapsed };
        (Clock { source }, ManualClock { elapsed: Arc::new(sender) })
    }

    /// The monotonic time.
    #[must_use]
    pub fn now(&self) -> Instant {
        match &self.source {
            Source::System => Instant::now(),
            Source::Manual { start, elapsed, .. } => *start + *elapsed.borrow(),
        }
    }

    /// The monotonic time, if this clock is moved by hand.
    pub(crate) fn by_hand(&self) -> Option<Instant> {
        match &self.source {
            Source::System => None,
            Source::Manual { .. } => Some(self.now()),
        }
    }

    /// The wall time, for `Date` fields.
    #[must_use]
    pub fn wall(&self) -> SystemTime {
        match &self.source {
            Source::System => SystemTime::now(),
            Source::Manual { start_wall, elapsed, .. } => *start_wall + *elapsed.borrow(),
        }
    }

    /// A ticker; on the system's clock it needs a runtime with timers.
    pub(crate) fn ticker(&self, period: Duration) -> Ticker {
        match &self.source {
            Source::System => {
                let mut interval = tokio::time::interval(period);
                interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
                Ticker::System(interval)
            }
            Source::Manual { elapsed, .. } => Ticker::Manual(elapsed.clone()),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Clock::system()
    }
}

impl ManualClock {
    /// Moves the clock forward and wakes everyone who waits by it.
    pub fn advance(&self, by: Duration) {
        self.elapsed.send_modify(|elapsed| *elapsed += by);
    }
}

impl Ticker {
    /// Waits for the next tick.
    pub(crate) async fn tick(&mut self) {
        match self {
            Ticker::System(interval) => {
                interval.tick().await;
            }
            Ticker::Manual(elapsed) => {
                if elapsed.changed().await.is_err() {
                    // The hand is gone: this clock will never move again.
                    std::future::pending::<()>().await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_by_its_hand() {
        let (clock, hand) = Clock::manual(SystemTime::UNIX_EPOCH);
        let start = clock.now();
        assert_eq!(clock.now(), start);
        hand.advance(Duration::from_secs(11));
        assert_eq!(clock.now(), start + Duration::from_secs(11));
        assert_eq!(clock.wall(), SystemTime::UNIX_EPOCH + Duration::from_secs(11));
    }

    #[test]
    fn moving_the_hand_wakes_a_ticker_even_when_it_waits_later() {
        let (clock, hand) = Clock::manual(SystemTime::UNIX_EPOCH);
        let mut ticker = clock.ticker(Duration::from_secs(1));
        hand.advance(Duration::from_secs(1));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(ticker.tick());
    }
}
