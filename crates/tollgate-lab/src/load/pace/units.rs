//! Units of work, which users do one after another: each as soon as the one before it is over.
//!
//! What it deliberately does not do: know what a unit of work is. What is done at a rate, the desk hands out.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use super::pause::come;
use crate::load::record::recorder::Recorder;
use crate::traffic::model::Load;
use crate::traffic::stages::Presence;

/// A user who does units of work.
pub(crate) trait Doer: 'static {
    /// Does one that was due and is begun at these moments, and writes it down; `begin` does so before anything is sent.
    /// When it is over; `None` where there is no row for it.
    async fn unit(
        &mut self,
        recorder: &RefCell<Recorder>,
        moments: (Instant, Instant),
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
            match come(stages, load.lane.user(number), from, &mut previous, recorder).await {
                Presence::There => {}
                Presence::Gone => break,
                Presence::ComesAfter(_) => continue,
            }
        }
        let begin = |recorder: &mut Recorder| {
            begun.set(begun.get() + 1);
            recorder.unit_begun(previous, previous);
        };
        match doer.unit(recorder, (previous, previous), begin).await {
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
