//! When the worker of this thread looked last whether anything had come: what it reads between two looks had not been there
//! at the one before, or it would have been read then.
//!
//! It looks once a millisecond at least, as its heart beats that often.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;

thread_local! {
    /// The last look, and the one before it.
    static LOOKS: Cell<[Option<Instant>; 2]> = const { Cell::new([None; 2]) };
}

/// A runtime of this thread that notes when it looks: each time that it goes to sleep, if only for nothing.
pub(crate) fn noting(builder: &mut Builder) -> &mut Builder {
    builder.on_thread_park(|| look(Instant::now()))
}

fn look(now: Instant) {
    let [last, _] = LOOKS.get();
    LOOKS.set([Some(now), last]);
}

/// For how long what is read at this moment may have been there: since the look before the last one, which brought it.
/// Without end where there was none.
pub(crate) fn before(moment: Instant) -> Duration {
    let [_, before] = LOOKS.get();
    before.map_or(Duration::MAX, |look| moment.saturating_duration_since(look))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_that_slept_wakes_up_for_came_since_it_looked_before() {
        assert_eq!(before(Instant::now()), Duration::MAX);
        let begun = Instant::now();
        let runtime = noting(Builder::new_current_thread().enable_all()).build().unwrap();
        runtime.block_on(async {
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        let now = Instant::now();
        assert!(before(now) <= now.duration_since(begun));
    }

    #[test]
    fn what_came_while_a_worker_was_at_work_may_have_been_there_for_all_of_it() {
        let begun = Instant::now();
        let at = |ms: u64| begun + Duration::from_millis(ms);
        look(at(0));
        assert_eq!(before(at(1)), Duration::MAX);
        // At work for 20 ms, and the next look brings what came meanwhile.
        look(at(20));
        assert_eq!(before(at(21)), Duration::from_millis(21));
        look(at(21));
        assert_eq!(before(at(22)), Duration::from_millis(2));
    }
}
