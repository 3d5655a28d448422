//! The gate of a trial: behind it what counts begins, and where that is over it is shut again. What the subject and the
//! machine did in between is read there, so that it is of the same time as the records.
//!
//! It deliberately does not know what is asked before, in between or afterwards.

use std::sync::OnceLock;

use tokio::sync::Barrier;

use crate::probe::meter::{Meter, Passed};

/// Where the workers of one trial meet, and what is read there.
#[derive(Debug)]
pub struct Gate {
    workers: Barrier,
    meter: Meter,
    begun: OnceLock<Passed>,
    passed: OnceLock<Passed>,
}

impl Default for Gate {
    /// That of one worker, at which nothing but the machine is read.
    fn default() -> Gate {
        Gate::new(1, Meter::default())
    }
}

impl Gate {
    /// A gate for so many workers.
    pub fn new(workers: usize, meter: Meter) -> Gate {
        Gate { workers: Barrier::new(workers), meter, begun: OnceLock::new(), passed: OnceLock::new() }
    }

    /// What counts begins; whoever says so first reads.
    pub fn begin(&self) {
        self.begun.get_or_init(|| self.meter.begin());
    }

    /// What counts is over; whoever says so first reads. What was done since it began: nothing, if it never did.
    pub fn end(&self) -> Passed {
        *self.passed.get_or_init(|| self.begun.get().map(|begun| self.meter.end(begun)).unwrap_or_default())
    }

    /// Whether what counts has begun and is not over.
    pub fn is_open(&self) -> bool {
        self.begun.get().is_some() && self.passed.get().is_none()
    }

    /// As soon as all workers wait here, what counts [begins](Gate::begin) or [ends](Gate::end) for all of them.
    ///
    /// One reads when all have come and before anybody goes on: no worker asks anything then (but where users go on all the
    /// time), and nothing that counts or does not is on the wrong side. Were it read when the first worker (or the last one) is through, the subject would
    /// be charged with less (or more) than was recorded.
    pub(crate) async fn meet<T>(&self, read: impl FnOnce(&Gate) -> T) {
        if self.workers.wait().await.is_leader() {
            read(self);
        }
        self.workers.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn it_is_open_from_when_all_have_come_until_all_are_through() {
        const WORKERS: usize = 3;
        let gate = Gate::new(WORKERS, Meter::default());
        let (before, within) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = async || {
            assert!(!gate.is_open(), "another one still does what does not count");
            before.fetch_add(1, Ordering::Relaxed);
            gate.meet(Gate::begin).await;
            assert!(gate.is_open());
            assert_eq!(before.load(Ordering::Relaxed), WORKERS);
            within.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            assert!(gate.is_open(), "another one still counts");
            gate.meet(Gate::end).await;
            assert!(!gate.is_open());
            assert_eq!(within.load(Ordering::Relaxed), WORKERS);
        };
        tokio::join!(work(), work(), work());
    }

    #[test]
    fn what_never_began_has_passed_nothing() {
        let gate = Gate::default();
        assert_eq!(gate.end(), Passed::default());
        assert!(!gate.is_open());
    }
}
