//! The gateway's log: one line on stderr for each notable event, up to a limit a second; skipped lines are counted and
//! reported with the next one. Requests are not logged.
//!
//! It has no levels and no targets: events not worth a line to an operator are counters in `/metrics`.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most lines a second: enough to see the problem, few enough not to fill a disk while it lasts.
const LINES_PER_SECOND_MAX: u32 = 20;

/// A log with a limited rate.
#[derive(Debug)]
pub(crate) struct Log {
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    began: Option<Instant>,
    lines: u32,
    left_out: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Admission {
    Written { left_out_before: u64 },
    LeftOut,
}

impl Log {
    /// Creates a log to stderr.
    pub(crate) fn to_stderr() -> Log {
        Log { window: Mutex::default() }
    }

    /// Writes one line.
    pub(crate) fn line(&self, event: fmt::Arguments<'_>) {
        let admission = self.window.lock().unwrap_or_else(PoisonError::into_inner).admit(Instant::now());
        let Admission::Written { left_out_before } = admission else { return };
        let mut stderr = std::io::stderr().lock();
        // Where nobody reads stderr, there is nobody to tell.
        if left_out_before > 0 {
            let _ = writeln!(stderr, "tollgate: {left_out_before} lines were left out");
        }
        let _ = writeln!(stderr, "tollgate: {event}");
    }
}

impl Window {
    fn admit(&mut self, now: Instant) -> Admission {
        if self.began.is_none_or(|began| now.duration_since(began) >= Duration::from_secs(1)) {
            self.began = Some(now);
            self.lines = 0;
        }
        if self.lines >= LINES_PER_SECOND_MAX {
            self.left_out += 1;
            return Admission::LeftOut;
        }
        self.lines += 1;
        Admission::Written { left_out_before: std::mem::take(&mut self.left_out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_rate_are_counted_and_told_later() {
        let mut window = Window::default();
        let start = Instant::now();
        for _ in 0..LINES_PER_SECOND_MAX {
            assert_eq!(window.admit(start), Admission::Written { left_out_before: 0 });
        }
        assert_eq!(window.admit(start), Admission::LeftOut);
        assert_eq!(window.admit(start + Duration::from_millis(999)), Admission::LeftOut);
        assert_eq!(window.admit(start + Duration::from_secs(1)), Admission::Written { left_out_before: 2 });
        assert_eq!(window.admit(start + Duration::from_secs(1)), Admission::Written { left_out_before: 0 });
    }
}
