//! Units of work, done by users one after another without a gap; and the time in which users wait: before they come,
//! while they think, after a failure. That time is in no response time, and is counted separately.
//!
//! It does not know what a unit of work is. For a load at a rate, see the desk.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::load::record::recorder::Recorder;
use crate::traffic::model::Load;

/// Wait of a user after a failure without an answer, so that a dead server is not flooded.
pub(crate) const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// Start of a unit of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    /// Intended start.
    pub(crate) due: Instant,
    /// Actual start.
    pub(crate) at: Instant,
    /// The part of the delay that the generator caused.
    pub(crate) own: Duration,
}

impl Begun {
    /// A unit that starts when it is due.
    pub(crate) fn in_time(due: Instant) -> Begun {
        Begun { due, at: due, own: Duration::ZERO }
    }
}

/// A user that does units of work.
pub(crate) trait Doer: 'static {
    /// Does one and records it; `begin` records its start before anything is sent. Returns when it ended; `None` if
    /// there is no row for it.
    async fn unit(
        &mut self,
        recorder: &RefCell<Recorder>,
        begun: Begun,
        begin: impl FnOnce(&mut Recorder),
    ) -> Option<Instant>;
}

/// Does units of work until the load's end, which counts from one moment for all, as the user with this number, present
/// from another moment on. `begun` counts them for all users: if their number is limited, none is begun beyond it.
pub(crate) async fn repeat(
    doer: &mut impl Doer,
    number: usize,
    load: &Load,
    begun: &Cell<u64>,
    recorder: &RefCell<Recorder>,
    (from, entered): (Instant, Instant),
) {
    let mut previous = entered;
    while !load.end.is_reached(previous.saturating_duration_since(from), begun.get()) {
        if let Some(stages) = &load.stages {
            let now = previous.saturating_duration_since(from);
            let Some(comes) = stages.comes(load.lane.user(number), now) else { break };
            if comes > now {
                pause(tokio::time::sleep_until((from + comes).into()), &mut previous, recorder).await;
                continue;
            }
        }
        let begin = |recorder: &mut Recorder| {
            begun.set(begun.get() + 1);
            recorder.unit_begun(previous, previous);
        };
        match doer.unit(recorder, Begun::in_time(previous), begin).await {
            Some(ended) => previous = ended,
            None => {
                recorder.borrow_mut().tally.out_of_rows += 1;
                break;
            }
        }
    }
    // From a clock read of its own, which no record shares.
    recorder.borrow_mut().tally.busy_ns += entered.elapsed().as_nanos() as u64;
}

/// Waits, and moves `previous` to the end of the wait.
pub(crate) async fn pause(wait: impl Future<Output = ()>, previous: &mut Instant, recorder: &RefCell<Recorder>) {
    wait.await;
    let now = Instant::now();
    recorder.borrow_mut().tally.waited_ns += now.duration_since(*previous).as_nanos() as u64;
    *previous = now;
}
