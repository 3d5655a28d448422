//! Units of work, which users do one after another, each as soon as the one before it is over; and the time in which they
//! wait before they go on: until they come, while they think, after a failure. It is in no response time, and counted by
//! itself.
//!
//! What it deliberately does not do: know what a unit of work is. What is done at a rate, the desk hands out.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::load::record::recorder::Recorder;
use crate::traffic::model::Load;

/// After a failure that no answer came with, a user waits so long: a server that is gone is not hammered.
pub(crate) const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// When a unit of work is begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    /// When it was due.
    pub(crate) due: Instant,
    /// When it is.
    pub(crate) at: Instant,
    /// What of the time between is the generator's own doing.
    pub(crate) own: Duration,
}

impl Begun {
    /// When it is due.
    pub(crate) fn in_time(due: Instant) -> Begun {
        Begun { due, at: due, own: Duration::ZERO }
    }
}

/// A user who does units of work.
pub(crate) trait Doer: 'static {
    /// Does one, and writes it down; `begin` does so before anything is sent.
    /// When it is over; `None` where there is no row for it.
    async fn unit(
        &mut self,
        recorder: &RefCell<Recorder>,
        begun: Begun,
        begin: impl FnOnce(&mut Recorder),
    ) -> Option<Instant>;
}

/// Does units of work until the load's end, which counts from one moment for all, as the user with this number, who was
/// there from another moment on. `begun` counts them for all users: with a bound on their number none is begun beyond it.
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

/// Waits, and goes on from `previous` to the moment at which that is over.
pub(crate) async fn pause(wait: impl Future<Output = ()>, previous: &mut Instant, recorder: &RefCell<Recorder>) {
    wait.await;
    let now = Instant::now();
    recorder.borrow_mut().tally.waited_ns += now.duration_since(*previous).as_nanos() as u64;
    *previous = now;
}
