//! A gate that opens when a number of requests wait before it together: the number that a client really has under way
//! at once is then a count, and no matter of time.

use std::cell::Cell;
use std::time::Duration;

use tokio::sync::Notify;

/// Longest wait; then a request is let through: the client had fewer under way.
const PATIENCE: Duration = Duration::from_secs(50);

/// A gate of one class.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    waiting: Cell<u64>,
    opened: Notify,
}

impl Gate {
    /// Waits until `count` wait, this one among them. Behind them it closes again.
    pub(crate) async fn pass(&self, count: u64) {
        let place = Place::take(&self.waiting);
        if self.waiting.get() >= count {
            self.waiting.set(0);
            self.opened.notify_waiters();
            std::mem::forget(place);
            return;
        }
        tokio::select! {
            () = self.opened.notified() => std::mem::forget(place),
            () = tokio::time::sleep(PATIENCE) => drop(place),
        }
    }
}

/// A place before the gate, given back when its owner leaves without having passed.
struct Place<'a>(&'a Cell<u64>);

impl Place<'_> {
    fn take(waiting: &Cell<u64>) -> Place<'_> {
        waiting.set(waiting.get() + 1);
        Place(waiting)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}
