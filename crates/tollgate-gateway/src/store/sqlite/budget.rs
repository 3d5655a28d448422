//! The time that one read may take: a hostile filter must not hold a work process for ever.
//!
//! It deliberately costs a short statement nothing but a counter: the clock is read only when SQLite reports progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::store::StoreError;

/// Steps of SQLite's machine between two looks at the clock: about 6 us, and at most some milliseconds where each step
/// calls a function on texts as long as they may become.
const STEPS_BETWEEN_LOOKS: i32 = 512;

/// Which read is running, so that the watcher knows when a new one began.
#[derive(Debug, Default)]
pub(super) struct Budget {
    reads: AtomicU64,
    lifted: AtomicBool,
}

impl Budget {
    /// Watches a connection from now on.
    pub(super) fn install(raw: &mut rusqlite::Connection, time_budget: Duration) -> Result<Arc<Budget>, StoreError> {
        let budget = Arc::new(Budget::default());
        let watched = Arc::clone(&budget);
        let mut current: Option<(u64, Instant)> = None;
        raw.progress_handler(
            STEPS_BETWEEN_LOOKS,
            Some(move || {
                if watched.lifted.load(Ordering::Relaxed) {
                    return false;
                }
                let read = watched.reads.load(Ordering::Relaxed);
                match current {
                    Some((number, began)) if number == read => began.elapsed() > time_budget,
                    _ => {
                        current = Some((read, Instant::now()));
                        false
                    }
                }
            }),
        )?;
        Ok(budget)
    }

    /// A new read begins; its time counts from the first time that SQLite reports progress.
    pub(super) fn begin(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.lifted.store(false, Ordering::Relaxed);
    }

    /// Until the next read begins, statements take the time that they need: those that fill a database.
    pub(super) fn lift(&self) {
        self.lifted.store(true, Ordering::Relaxed);
    }
}
