//! The generator's heartbeat: a timer in a worker's event loop fires each millisecond, and the delay until the worker
//! notices is recorded. Anything that delays the worker (another program on its core, a stopped process, its own users)
//! would make answers look late as well.
//!
//! A stall counts by its length: all beats that fell due in it are late, the first one most. [`crate::judge`] judges
//! it.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::fd::OwnedFd;
use rustix::time::{Itimerspec, TimerfdTimerFlags, timerfd_settime};
use tokio::io::unix::AsyncFd;
use tollgate_net::pacer;

use super::recorder::Recorder;

/// Interval between beats.
const BEAT: Duration = Duration::from_millis(1);

/// The timer of a worker.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    timer: AsyncFd<OwnedFd>,
}

/// A running heartbeat; it stops when dropped.
#[derive(Debug)]
pub(crate) struct Beating<'a> {
    heartbeat: &'a Heartbeat,
    start: Instant,
    /// Beats that were noticed.
    noticed: Cell<u32>,
}

impl Heartbeat {
    /// A heartbeat in the runtime that is entered.
    ///
    /// # Errors
    /// When the machine gives no timer.
    pub(crate) fn new() -> io::Result<Heartbeat> {
        Ok(Heartbeat { timer: pacer::timer()? })
    }

    /// Starts the beats.
    pub(crate) fn begin(&self) -> Beating<'_> {
        let beating = self.still();
        self.set(BEAT);
        beating
    }

    /// Creates a stopped one, for phases where beats mean nothing.
    pub(crate) fn still(&self) -> Beating<'_> {
        Beating { heartbeat: self, start: Instant::now(), noticed: Cell::new(0) }
    }

    /// Fires each `interval` from now on; never if it is zero.
    fn set(&self, interval: Duration) {
        let interval = Timespec { tv_sec: 0, tv_nsec: interval.subsec_nanos().into() };
        let timer = Itimerspec { it_interval: interval, it_value: interval };
        timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::empty(), &timer)
            .expect("a timer of our own takes any interval");
    }

    /// Stops the timer. Beats not yet noticed are discarded, so that they do not count in the next trial.
    fn stop(&self) {
        self.set(Duration::ZERO);
        self.rang();
    }

    /// Returns the number of beats since the last call.
    fn rang(&self) -> u32 {
        let mut count = [0; 8];
        match rustix::io::read(self.timer.get_ref(), &mut count) {
            Ok(8) => u32::try_from(u64::from_ne_bytes(count)).unwrap_or(u32::MAX),
            // It did not ring.
            _ => 0,
        }
    }
}

impl Beating<'_> {
    /// Records the beats that fell due, and stops the timer.
    pub(crate) fn stop(&self, recorder: &RefCell<Recorder>) {
        self.note(recorder);
        self.heartbeat.stop();
    }

    /// Records each beat as it is noticed, forever.
    pub(crate) async fn run(&self, recorder: &RefCell<Recorder>) -> Infallible {
        loop {
            match self.heartbeat.timer.readable().await {
                Ok(mut ready) => {
                    self.note(recorder);
                    ready.clear_ready();
                }
                // The runtime is shutting down.
                Err(_) => pending().await,
            }
        }
    }

    /// Records the beats that fell due and were not noticed yet.
    pub(crate) fn note(&self, recorder: &RefCell<Recorder>) {
        let (before, rang) = (self.noticed.get(), self.heartbeat.rang());
        let now = Instant::now();
        let mut recorder = recorder.borrow_mut();
        for number in before + 1..=before.saturating_add(rang) {
            let due = self.start + BEAT * number;
            recorder.stall(now.saturating_duration_since(due));
        }
        self.noticed.set(before.saturating_add(rang));
    }
}

impl Drop for Beating<'_> {
    fn drop(&mut self) {
        self.heartbeat.stop();
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::*;

    /// Runs a worker that is busy for `stall` before it looks at its timer.
    fn held_up(recorder: &RefCell<Recorder>, stall: Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let heartbeat = Heartbeat::new().unwrap();
            let beating = heartbeat.begin();
            let working = async {
                let begun = Instant::now();
                while begun.elapsed() < stall {
                    std::hint::spin_loop();
                }
            };
            tokio::select! {
                biased;
                () = working => {}
                never = beating.run(recorder) => match never {},
            }
            beating.note(recorder);
        });
    }

    #[test]
    fn each_beat_of_a_stall_is_late_by_what_was_left_of_it() {
        let recorder = RefCell::default();
        held_up(&recorder, Duration::from_millis(100));
        let recorder = recorder.into_inner();
        let stalls = recorder.stalls.as_ref().unwrap();
        assert!(stalls.len() >= 99, "{} beats fell due", stalls.len());
        let at = |quantile: f64| Duration::from_nanos(stalls.value_at_quantile(quantile));
        // However long it was in the end: half of its beats were late by half of it.
        let longest = at(1.0);
        assert!(longest >= Duration::from_millis(95), "{longest:?}");
        let half = at(0.5).as_secs_f64() / longest.as_secs_f64();
        assert!((0.4..0.6).contains(&half), "{half}");
    }

    #[test]
    fn nothing_falls_due_once_it_has_stopped() {
        let recorder = RefCell::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let heartbeat = Heartbeat::new().unwrap();
            let beating = heartbeat.begin();
            beating.stop(&recorder);
            let noted = |recorder: &RefCell<Recorder>| recorder.borrow().stalls.as_ref().map(Histogram::len);
            let (before, begun) = (noted(&recorder), Instant::now());
            while begun.elapsed() < Duration::from_millis(5) {}
            beating.note(&recorder);
            assert_eq!(noted(&recorder), before);
        });
    }

    #[test]
    fn what_fell_due_before_it_counted_is_not_counted() {
        let recorder = RefCell::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let heartbeat = Heartbeat::new().unwrap();
            let beating = heartbeat.begin();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(5) {}
            beating.note(&recorder);
            let from = Instant::now();
            recorder.borrow_mut().begin(from);
            beating.note(&recorder);
            // A beat that fell due while it was noted may be there.
            let since = 1 + from.elapsed().as_millis() as u64;
            assert!(recorder.borrow().stalls.as_ref().is_some_and(|stalls| stalls.len() <= since));
        });
    }
}
