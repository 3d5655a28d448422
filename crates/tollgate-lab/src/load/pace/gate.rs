//! The gate of a trial: it opens when measurement begins and shuts when it ends. The subject and the machine are read
//! at both moments, so their figures cover the same time as the records.
//!
//! It does not know what is sent before, in between or afterwards.

use std::sync::OnceLock;

use tokio::sync::Barrier;

use crate::probe::meter::{Meter, Passed};

/// The meeting point of a trial's workers, where meters are read.
#[derive(Debug)]
pub struct Gate {
    workers: Barrier,
    meter: Meter,
    begun: OnceLock<Passed>,
    passed: OnceLock<Passed>,
}

impl Default for Gate {
    /// A gate for one worker, which reads only the machine.
    fn default() -> Gate {
        Gate::new(1, Meter::default())
    }
}

impl Gate {
    /// Creates a gate for this many workers.
    pub fn new(workers: usize, meter: Meter) -> Gate {
        Gate { workers: Barrier::new(workers), meter, begun: OnceLock::new(), passed: OnceLock::new() }
    }

    /// Begins the measurement; only the first call reads the meter.
    pub fn begin(&self) {
        self.begun.get_or_init(|| self.meter.begin());
    }

    /// Ends the measurement; only the first call reads the meter. Returns the use since the beginning: none, if it
    /// never began.
    pub fn end(&self) -> Passed {
        *self.passed.get_or_init(|| self.begun.get().map(|begun| self.meter.end(begun)).unwrap_or_default())
    }

    /// Whether the measurement has begun and is not over.
    pub fn is_open(&self) -> bool {
        self.begun.get().is_some() && self.passed.get().is_none()
    }

    /// Waits for all workers, then [begins](Gate::begin) or [ends](Gate::end) the measurement for all of them.
    ///
    /// One worker reads after all have come and before any goes on: then none sends a request (except where users never
    /// pause), so each request is on the right side. If the first worker (or the last one) read on its own, the subject
    /// would be charged with less (or more) than was recorded.
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
