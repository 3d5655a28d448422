//! Times of the last looks of this thread's worker for data: what it reads between two looks was not there at the
//! earlier one, or it would have been read then.
//!
//! It looks at least once a millisecond, the interval of its heartbeat.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;

thread_local! {
    /// The last look, and the one before it.
    static LOOKS: Cell<[Option<Instant>; 2]> = const { Cell::new([None; 2]) };
}

/// Makes a runtime note each look: whenever its thread goes to sleep, even for no time.
pub(crate) fn noting(builder: &mut Builder) -> &mut Builder {
    builder.on_thread_park(|| look(Instant::now()))
}

fn look(now: Instant) {
    let [last, _] = LOOKS.get();
    LOOKS.set([Some(now), last]);
}

/// Returns how long data read at this moment may have been there: since the look before the last one. Unlimited if
/// there was none.
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
