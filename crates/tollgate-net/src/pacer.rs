//! Waiting until a stated moment to within some 50 µs, beside the sockets of a runtime: a timerfd set to absolute times
//! in the runtime's own epoll.
//!
//! The runtime's timers are whole milliseconds. The timer is set earlier by what the machine takes to wake a thread,
//! learnt as it goes; the last microseconds are spent giving way to other tasks, so that answers are read meanwhile.

use std::io;
use std::time::Instant;

use rustix::event::Timespec;
use rustix::fd::OwnedFd;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::link::times::{Lead, now_ns, whole_ns};

/// Waits until stated moments, one after the other.
#[derive(Debug)]
pub struct Pacer {
    timer: AsyncFd<OwnedFd>,
    lead: Lead,
}

impl Pacer {
    /// A pacer in the runtime that is entered.
    ///
    /// # Errors
    /// When the machine gives no timer.
    pub fn new() -> io::Result<Pacer> {
        Ok(Pacer { timer: timer()?, lead: Lead::default() })
    }

    /// Returns at `moment`, never before. Dropped before its end, it can be used again.
    pub async fn until(&mut self, moment: Instant) {
        loop {
            let left_ns = whole_ns(moment.saturating_duration_since(Instant::now()));
            if left_ns == 0 {
                return;
            }
            if left_ns <= self.lead.ns() {
                tokio::task::yield_now().await;
                continue;
            }
            let armed_ns = now_ns() + left_ns - self.lead.ns();
            self.ring_at(armed_ns).await;
            self.lead.woken(now_ns().saturating_sub(armed_ns));
        }
    }

    async fn ring_at(&mut self, at_ns: u64) {
        const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let expires = Timespec { tv_sec: (at_ns / 1_000_000_000) as i64, tv_nsec: (at_ns % 1_000_000_000) as i64 };
        let once = Itimerspec { it_interval: NEVER, it_value: expires };
        timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::ABSTIME, &once)
            .expect("a timer of our own takes any time");
        // Edges only: a timer that is set anew has not fired, so it need not be read. What is ready now is an earlier
        // ringing that nobody waited for any more.
        while now_ns() < at_ns {
            match self.timer.readable().await {
                Ok(mut ready) => ready.clear_ready(),
                // The runtime is shutting down.
                Err(_) => return,
            }
        }
    }
}

/// A timer that is not set, in the runtime that is entered.
///
/// # Errors
/// When the machine gives none.
pub fn timer() -> io::Result<AsyncFd<OwnedFd>> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
    // It must stay the same open descriptor for as long as it is registered: an `OwnedFd` that nobody takes out is.
    #[allow(unsafe_code, reason = "tokio has no safe way to wait for a descriptor that it does not know")]
    let timer = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }?;
    Ok(timer)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn no_moment_is_early_and_one_that_has_passed_is_now() {
        block_on(async {
            let mut pacer = Pacer::new().unwrap();
            let start = Instant::now();
            pacer.until(start).await;
            for step in 1..=50 {
                let moment = start + Duration::from_micros(300) * step;
                pacer.until(moment).await;
                assert!(Instant::now() >= moment);
            }
        });
    }

    #[test]
    fn a_wait_that_was_given_up_does_not_disturb_the_next() {
        block_on(async {
            let mut pacer = Pacer::new().unwrap();
            let soon = Instant::now() + Duration::from_millis(2);
            tokio::select! {
                biased;
                () = pacer.until(soon) => {}
                () = tokio::task::yield_now() => {}
            }
            let later = soon + Duration::from_millis(2);
            pacer.until(later).await;
            assert!(Instant::now() >= later);
        });
    }
}
