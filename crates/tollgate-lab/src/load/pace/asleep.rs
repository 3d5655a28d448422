//! When the worker of this thread went to sleep last: whatever it then wakes up for had not been there before.
//!
//! It sleeps for a millisecond at most, as its heart beats that often.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;

thread_local! {
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// A runtime of this thread that notes when it goes to sleep.
pub(crate) fn noting(builder: &mut Builder) -> &mut Builder {
    builder.on_thread_park(|| LAST.set(Some(Instant::now())))
}

/// How long before this moment the worker went to sleep last; without end where it never did.
pub(crate) fn before(moment: Instant) -> Duration {
    LAST.get().map_or(Duration::MAX, |last| moment.saturating_duration_since(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_wakes_up_for_came_after_it_went_to_sleep() {
        assert_eq!(before(Instant::now()), Duration::MAX);
        let mut builder = Builder::new_current_thread();
        let runtime = noting(builder.enable_all()).build().unwrap();
        let begun = Instant::now();
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(2)).await });
        let now = Instant::now();
        assert!(before(now) <= now.duration_since(begun));
    }
}
