//! State shared by the users of a walk during a pass, across workers: the entities to get, the next one, and a barrier.
//!
//! With one worker the cursor is moved by plain loads and stores; only users of several workers pay for an atomic step.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Barrier;
use tollgate_wire::content::Expected;

/// A pass that is walked again and again during one trial.
#[derive(Debug)]
pub struct Pass {
    now: Mutex<Option<Now>>,
    next: AtomicUsize,
    workers: usize,
    barrier: Barrier,
}

/// The entities of a pass, and the start of the users' part.
pub(super) type Now = (Arc<[Detail]>, Instant);

/// One entity to get.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Detail {
    /// The rendered request.
    pub(super) request: Vec<u8>,
    /// Its key in the list.
    pub(super) key: Vec<String>,
    /// The same, prepared for searching.
    pub(super) expected: Option<Expected>,
}

impl Pass {
    /// Creates a pass for this many users and workers.
    pub fn new(users: usize, workers: usize) -> Pass {
        Pass { now: Mutex::default(), next: AtomicUsize::new(0), workers, barrier: Barrier::new(users) }
    }

    /// Lets the users begin on these entities once all of them wait, or ends the walk if there are none.
    pub(super) fn set(&self, now: Option<Now>) {
        self.next.store(0, Ordering::Relaxed);
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Returns the entities to get; `None` if there is no further pass.
    pub(super) fn now(&self) -> Option<Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the position of an entity that no user has taken; beyond the end if all are taken.
    #[inline]
    pub(super) fn take(&self) -> usize {
        if self.workers > 1 {
            return self.next.fetch_add(1, Ordering::Relaxed);
        }
        let position = self.next.load(Ordering::Relaxed);
        self.next.store(position + 1, Ordering::Relaxed);
        position
    }

    /// Waits for all users. What one wrote before, the others see afterwards.
    pub(super) async fn meet(&self) {
        self.barrier.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entity_is_taken_once_even_by_several_threads() {
        for threads in [1, 4] {
            let pass = Pass::new(threads, threads);
            let take = || (0..1000).map(|_| pass.take()).collect::<Vec<usize>>();
            let mut taken: Vec<usize> = std::thread::scope(|scope| {
                let takers: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
                takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
            });
            taken.sort_unstable();
            assert_eq!(taken, (0..1000 * threads).collect::<Vec<usize>>());
        }
    }
}
