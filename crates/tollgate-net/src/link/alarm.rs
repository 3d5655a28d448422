//! The timer of a loop: a timerfd that is set to a little before something is due, by what waking this thread usually takes.
//!
//! It deliberately knows neither the due events nor how the loop waits: that is in the loop's own epoll.

use std::io;

use rustix::event::Timespec;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};

use super::times::{Lead, now_ns};

/// A timer that is this near to its target is left there: each step of the lead would cost a system call else.
const STEP_NS: u64 = 1_000;

/// Zero time, as system calls take it.
pub(super) const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A timer of one loop. Its descriptor belongs into an epoll by edges: one that is set anew has not fired, so it need not be
/// read.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: OwnedFd,
    set_to_ns: Option<u64>,
    lead: Lead,
}

impl Alarm {
    /// A timer that is not set.
    ///
    /// # Errors
    /// The system's, where it has no descriptor to spare.
    pub(super) fn new() -> io::Result<Alarm> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        Ok(Alarm { timer, set_to_ns: None, lead: Lead::default() })
    }

    /// Sets the timer so that what is due then is not missed, nothing if nothing is; says whether there is time to wait.
    pub(super) fn set(&mut self, due_ns: Option<u64>) -> bool {
        let Some(due_ns) = due_ns else { return true };
        let at_ns = due_ns.saturating_sub(self.lead.ns());
        if at_ns <= now_ns() {
            return false;
        }
        if self.set_to_ns.is_some_and(|set_to_ns| set_to_ns.abs_diff(at_ns) < STEP_NS) {
            return true;
        }
        let expires = Timespec { tv_sec: (at_ns / 1_000_000_000) as i64, tv_nsec: (at_ns % 1_000_000_000) as i64 };
        let once = Itimerspec { it_interval: NO_TIME, it_value: expires };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once).expect("a timer of our own takes any time");
        self.set_to_ns = Some(at_ns);
        true
    }

    /// The timer has woken the loop: how late it did so teaches the lead.
    pub(super) fn fired(&mut self) {
        if let Some(set_to_ns) = self.set_to_ns.take() {
            self.lead.woken(now_ns().saturating_sub(set_to_ns));
        }
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_time_to_wait_unless_something_is_due() {
        let mut alarm = Alarm::new().unwrap();
        assert!(alarm.set(None), "nothing is due");
        assert!(!alarm.set(Some(now_ns())), "it is due now");
        let later_ns = now_ns() + 3_600_000_000_000;
        assert!(alarm.set(Some(later_ns)));
        assert_eq!(alarm.set_to_ns, Some(later_ns));
        assert!(alarm.set(Some(later_ns + STEP_NS - 1)));
        assert_eq!(alarm.set_to_ns, Some(later_ns), "near enough");
        assert!(alarm.set(Some(later_ns + STEP_NS)));
        assert_eq!(alarm.set_to_ns, Some(later_ns + STEP_NS));
        alarm.fired();
        assert_eq!(alarm.set_to_ns, None);
    }
}
