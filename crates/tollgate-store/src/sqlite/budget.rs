//! The time that one read may take: a hostile filter must not occupy a work process for ever.
//!
//! It costs a short statement only a counter: the clock is read only when SQLite reports progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::StoreError;

/// Steps of SQLite's machine between two looks at the clock: about 6 µs, and at most some milliseconds where each step
/// calls a function on texts as long as they may become.
const STEPS_BETWEEN_LOOKS: i32 = 512;

/// Reads with fewer looks, some 100 µs, are short, however long the machine was busy elsewhere meanwhile …
const SHORT_LOOKS: u32 = 16;

/// … but for reads that have to wait for a disk.
const SHORT_MAX: Duration = Duration::from_millis(2);

/// Time budget of the running read, numbered so that the watcher notices a new one.
#[derive(Debug, Default)]
pub(super) struct Budget {
    reads: AtomicU64,
    lifted: AtomicBool,
    /// Current limit of a read, in nanoseconds, if less than the budget; else 0.
    brief_ns: AtomicU64,
    /// Start of the brief reads: the first steps of one may already take long.
    brief_since: Mutex<Option<Instant>>,
    ended_a_brief_read: AtomicBool,
}

/// While this lives, reads must be brief.
pub(crate) struct Brevity {
    budget: Arc<Budget>,
}

/// The read that the watcher saw last.
struct Watched {
    number: u64,
    began: Instant,
    looks: u32,
}

impl Budget {
    /// Watches a connection from now on.
    pub(super) fn install(raw: &mut rusqlite::Connection, time_budget: Duration) -> Result<Arc<Budget>, StoreError> {
        let budget = Arc::new(Budget::default());
        let watching = Arc::clone(&budget);
        let mut watched: Option<Watched> = None;
        raw.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || watching.is_over(&mut watched, time_budget)))?;
        Ok(budget)
    }

    /// Begins a new read; its time counts from the first time that SQLite reports progress.
    pub(super) fn begin(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.lifted.store(false, Ordering::Relaxed);
    }

    /// Lifts the time limit until the next read begins, for statements that fill a database.
    pub(super) fn lift(&self) {
        self.lifted.store(true, Ordering::Relaxed);
    }

    /// Ends reads that take longer than `most`.
    pub(super) fn brevity(self: &Arc<Budget>, most: Duration) -> Brevity {
        self.brief_ns.store(u64::try_from(most.as_nanos()).unwrap_or(u64::MAX).max(1), Ordering::Relaxed);
        self.set_brief_since(Some(Instant::now()));
        self.ended_a_brief_read.store(false, Ordering::Relaxed);
        Brevity { budget: Arc::clone(self) }
    }

    fn set_brief_since(&self, since: Option<Instant>) {
        *self.brief_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    /// Whether the current read must end.
    fn is_over(&self, watched: &mut Option<Watched>, time_budget: Duration) -> bool {
        if self.lifted.load(Ordering::Relaxed) {
            return false;
        }
        let number = self.reads.load(Ordering::Relaxed);
        let Some(read) = watched.as_mut().filter(|read| read.number == number) else {
            *watched = Some(Watched { number, began: Instant::now(), looks: 1 });
            let since = *self.brief_since.lock().unwrap_or_else(PoisonError::into_inner);
            let late_from = SHORT_MAX.max(Duration::from_nanos(self.brief_ns.load(Ordering::Relaxed)));
            let is_late = since.is_some_and(|since| since.elapsed() >= late_from);
            self.ended_a_brief_read.fetch_or(is_late, Ordering::Relaxed);
            return is_late;
        };
        read.looks = read.looks.saturating_add(1);
        let took = read.began.elapsed();
        let brief_ns = self.brief_ns.load(Ordering::Relaxed);
        let is_short = read.looks < SHORT_LOOKS && took < SHORT_MAX;
        if brief_ns > 0 && !is_short && took >= Duration::from_nanos(brief_ns) {
            self.ended_a_brief_read.store(true, Ordering::Relaxed);
            return true;
        }
        took > time_budget
    }
}

impl Brevity {
    /// Whether a read was ended.
    pub(crate) fn ended_a_read(&self) -> bool {
        self.budget.ended_a_brief_read.load(Ordering::Relaxed)
    }
}

impl Drop for Brevity {
    fn drop(&mut self) {
        self.budget.brief_ns.store(0, Ordering::Relaxed);
        self.budget.set_brief_since(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::filled;
    use crate::{Connection, Discard, Store};
    use tollgate_wire::edm::Version;
    use tollgate_wire::plan::Resource;
    use tollgate_wire::url;

    #[test]
    fn a_brief_read_ends_after_its_time_unless_it_takes_few_steps_and_the_next_one_may_take_longer() {
        let (database, _filling, model) = filled();
        let mut connection = Connection::Sqlite(database.connection().unwrap());
        let mut read = |query: &str, most: Option<Duration>| {
            let (resource, _) = url::parse(&model, Version::V4, "BookingCollection", Some(query)).unwrap();
            let Resource::Read(plan) = resource else { panic!("{query} is read") };
            let read =
                |connection: &mut Connection| connection.read(&model, &plan, None, &mut Discard).map(|read| read.rows);
            match most {
                Some(most) => connection.briefly(most, read).map(Result::unwrap),
                None => Some(read(&mut connection).unwrap()),
            }
        };
        let scan = "$filter=PASSNAME%20eq%20'nobody'";
        assert_eq!(read(scan, Some(Duration::ZERO)), None);
        assert_eq!(read("$top=10", Some(Duration::ZERO)), Some(10));
        assert_eq!(read(scan, None), Some(0));
        assert_eq!(read(scan, Some(Duration::from_secs(3600))), Some(0));
    }
}
