//! The time in which users wait before they go on: until they come, while they think, after a failure. It is in no
//! response time, and counted by itself.
//!
//! What it deliberately does not do: wait for an answer.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use crate::load::record::recorder::Recorder;
use crate::traffic::stages::{Presence, Stages};

/// After a failure that no answer came with, a user waits so long: a server that is gone is not hammered.
pub(crate) const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// Waits, and goes on from `previous` to the moment at which that is over.
pub(crate) async fn pause(wait: impl Future<Output = ()>, previous: &mut Instant, recorder: &RefCell<Recorder>) {
    wait.await;
    let now = Instant::now();
    recorder.borrow_mut().tally.waited_ns += now.duration_since(*previous).as_nanos() as u64;
    *previous = now;
}

/// Whether the user with this number of all is there at `previous`. One that comes later has waited until then.
pub(crate) async fn come(
    stages: &Stages,
    user: usize,
    start: Instant,
    previous: &mut Instant,
    recorder: &RefCell<Recorder>,
) -> Presence {
    let presence = stages.presence(user, previous.saturating_duration_since(start));
    if let Presence::ComesAfter(after) = presence {
        pause(tokio::time::sleep_until((start + after).into()), previous, recorder).await;
    }
    presence
}
