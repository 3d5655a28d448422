//! The work processes of one database, and concurrent access to it.
//!
//! A work process comes first, then the database's lock if it has one: waiting for the lock has the same time limit as
//! waiting for a work process. The holder decides on the work.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{self, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::store::{Connection, Store};
use crate::work::board::{ProcessState, Seen, Task};
use crate::work::dispatcher::{Dispatcher, Occupancy, Refused, WorkProcess};
use crate::work::weight::WorkPlace;

/// Share of the work processes that is left to short reads, as a divisor.
const SHORT_SHARE: usize = 4;

/// Work processes over one database.
#[derive(Debug)]
pub(crate) struct Pool {
    dispatcher: Dispatcher<Connection>,
    /// Turns of what may take long, fewer than there are work processes; absent: as many.
    long: Option<Dispatcher<()>>,
    locking: Locking,
    queue_max: usize,
    wait_max: Duration,
    /// Counters of those that have a work process and wait for the lock.
    lock_waits: Mutex<LockWaits>,
    /// Number of possible changes of the database.
    changes: Arc<AtomicU64>,
}

/// Counters of waits for a lock.
#[derive(Debug, Default)]
struct LockWaits {
    waiting: u64,
    waiting_max: u64,
    queued_total: u64,
    waited: Duration,
    refused_total: u64,
    abandoned_total: u64,
}

/// Access to a database beside a writer. All locks are fair: first come, first served.
#[derive(Debug, Clone)]
pub(crate) enum Locking {
    /// SQLite in memory: many readers or one writer. A reader that begins while another writes, and a commit while
    /// others read, would fail because it is busy.
    Whole(Arc<RwLock<()>>),
    /// SQLite in a file with a write-ahead log: readers beside one writer.
    Writers(Arc<sync::Mutex<()>>),
    /// A server that handles concurrency itself.
    Unlocked,
}

/// A work process for reading.
pub(crate) struct Reading {
    work_process: WorkProcess<Connection>,
    _long: Option<WorkProcess<()>>,
    _lock: Option<OwnedRwLockReadGuard<()>>,
}

/// A work process for writing; nobody else writes the database meanwhile, unless the database handles that itself.
pub(crate) struct Writing {
    work_process: WorkProcess<Connection>,
    _long: Option<WorkProcess<()>>,
    changes: Arc<AtomicU64>,
    _lock: WriteLock,
}

#[expect(dead_code, reason = "held until it is dropped")]
enum WriteLock {
    Whole(OwnedRwLockWriteGuard<()>),
    Writers(OwnedMutexGuard<()>),
    Unlocked,
}

impl Locking {
    /// Locking for a database in memory.
    pub(crate) fn whole() -> Locking {
        Locking::Whole(Arc::default())
    }

    /// Locking for a file with a write-ahead log.
    pub(crate) fn writers() -> Locking {
        Locking::Writers(Arc::default())
    }
}

impl Pool {
    /// Creates a work process for each of `connections`, with a queue of at most `queue_max` requests, none waiting
    /// longer than `wait_max`.
    pub(crate) fn new(connections: Vec<Connection>, locking: Locking, queue_max: usize, wait_max: Duration) -> Pool {
        let left_to_short = match locking {
            // A read of one row takes microseconds on the loop: it is not to wait for whoever reads for a second.
            Locking::Whole(_) | Locking::Writers(_) => connections.len() / SHORT_SHARE,
            // All reads take about as long, most of it on the way.
            Locking::Unlocked => 0,
        };
        // The queue is shared in the same way.
        let short_queue_max = if left_to_short > 0 { queue_max / SHORT_SHARE } else { queue_max };
        let turns = vec![(); connections.len() - left_to_short];
        let long = (left_to_short > 0).then(|| Dispatcher::new(turns, queue_max - short_queue_max, wait_max));
        let dispatcher = Dispatcher::new(connections, short_queue_max, wait_max);
        let (lock_waits, changes) = (Mutex::default(), Arc::default());
        Pool { dispatcher, long, locking, queue_max, wait_max, lock_waits, changes }
    }

    /// Acquires a work process for reading, for `task`.
    ///
    /// # Errors
    /// [`Refused`] if the queue is full or the wait was too long.
    pub(crate) async fn acquire(&self, task: &Task<'_>) -> Result<Reading, Refused> {
        let work_process = self.dispatcher.acquire(task).await?;
        self.reading(task, work_process).await
    }

    async fn reading(&self, task: &Task<'_>, work_process: WorkProcess<Connection>) -> Result<Reading, Refused> {
        let lock = match &self.locking {
            Locking::Whole(lock) => Some(match Arc::clone(lock).try_read_owned() {
                Ok(lock) => lock,
                Err(_) => self.wait(task, &work_process, Arc::clone(lock).read_owned()).await?,
            }),
            Locking::Writers(_) | Locking::Unlocked => None,
        };
        Ok(Reading { work_process, _long: None, _lock: lock })
    }

    /// The same for a read that may take long: a part of the work processes is left to short ones.
    ///
    /// # Errors
    /// As [`acquire`](Pool::acquire).
    pub(crate) async fn acquire_long(&self, task: &Task<'_>) -> Result<Reading, Refused> {
        let (turn, work_process) = self.acquire_with_turn(task).await?;
        Ok(Reading { _long: turn, ..self.reading(task, work_process).await? })
    }

    /// Acquires a turn of what may take long, where there are any, and a work process; waiting for both has the time
    /// limit of one.
    async fn acquire_with_turn(
        &self,
        task: &Task<'_>,
    ) -> Result<(Option<WorkProcess<()>>, WorkProcess<Connection>), Refused> {
        let Some(long) = &self.long else { return Ok((None, self.dispatcher.acquire(task).await?)) };
        let turn = long.acquire(task).await?;
        Ok((Some(turn), self.dispatcher.acquire_in_time(task).await?))
    }

    /// Acquires a work process for a paused read that has begun to answer; it is never refused.
    pub(crate) async fn acquire_again(&self, task: &Task<'_>) -> Reading {
        let turn = match &self.long {
            Some(long) => Some(long.acquire_again(task).await),
            None => None,
        };
        let work_process = self.dispatcher.acquire_again(task).await;
        let lock = match &self.locking {
            Locking::Whole(lock) => loop {
                // As long as there is a writer, there is an end of its transaction.
                let wait = self.waiting(&work_process, Duration::MAX, Arc::clone(lock).read_owned());
                if let Ok(lock) = wait.await {
                    break Some(lock);
                }
            },
            Locking::Writers(_) | Locking::Unlocked => None,
        };
        Reading { work_process, _long: turn, _lock: lock }
    }

    /// Acquires a work process for writing, for `task`.
    ///
    /// # Errors
    /// As [`acquire`](Pool::acquire).
    pub(crate) async fn acquire_to_write(&self, task: &Task<'_>) -> Result<Writing, Refused> {
        // Writers of a file wait for each other and for the disk.
        let (turn, work_process) = match &self.locking {
            Locking::Writers(_) => self.acquire_with_turn(task).await?,
            Locking::Whole(_) | Locking::Unlocked => (None, self.dispatcher.acquire(task).await?),
        };
        let lock = match &self.locking {
            Locking::Whole(lock) => WriteLock::Whole(match Arc::clone(lock).try_write_owned() {
                Ok(lock) => lock,
                Err(_) => self.wait(task, &work_process, Arc::clone(lock).write_owned()).await?,
            }),
            Locking::Writers(lock) => WriteLock::Writers(match Arc::clone(lock).try_lock_owned() {
                Ok(lock) => lock,
                Err(_) => self.wait(task, &work_process, Arc::clone(lock).lock_owned()).await?,
            }),
            Locking::Unlocked => WriteLock::Unlocked,
        };
        Ok(Writing { work_process, _long: turn, changes: Arc::clone(&self.changes), _lock: lock })
    }

    /// Counter of the database's changes: it goes up after each transaction, before any client learns of it.
    pub(crate) fn changes(&self) -> &Arc<AtomicU64> {
        &self.changes
    }

    /// Counts a possible change of the database.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Place of short writes: on the loop in memory, where one takes some 8 µs; outside it where a commit waits for a
    /// disk or for another machine.
    pub(crate) fn place_of_writes(&self) -> WorkPlace {
        match self.locking {
            Locking::Whole(_) => WorkPlace::Loop,
            Locking::Writers(_) | Locking::Unlocked => WorkPlace::Away,
        }
    }

    /// Place of short reads: on the loop, unless the database is on another machine.
    pub(crate) fn place_of_reads(&self) -> WorkPlace {
        match self.locking {
            Locking::Whole(_) | Locking::Writers(_) => WorkPlace::Loop,
            Locking::Unlocked => WorkPlace::Away,
        }
    }

    /// Current state of the work processes. One that waits for the lock counts as busy and as waiting.
    pub(crate) fn occupancy(&self) -> Occupancy {
        let mut occupancy = self.dispatcher.occupancy();
        if let Some(long) = &self.long {
            let long = long.occupancy();
            occupancy.waiting += long.waiting;
            occupancy.waiting_max = occupancy.waiting_max.max(long.waiting_max);
            occupancy.queued_total += long.queued_total;
            occupancy.waited += long.waited;
            occupancy.refused_full_total += long.refused_full_total;
            occupancy.refused_late_total += long.refused_late_total;
            occupancy.abandoned_total += long.abandoned_total;
        }
        let waits = self.lock_waits();
        occupancy.waiting += waits.waiting;
        occupancy.waiting_max = occupancy.waiting_max.max(waits.waiting_max);
        occupancy.queued_total += waits.queued_total;
        occupancy.waited += waits.waited;
        occupancy.refused_late_total += waits.refused_total;
        occupancy.abandoned_total += waits.abandoned_total;
        occupancy
    }

    /// State of each work process, in the order of their numbers.
    pub(crate) fn board(&self) -> Vec<Seen> {
        self.dispatcher.board()
    }

    /// Largest number of requests waiting for a work process, and longest wait of one.
    pub(crate) fn queue_limits(&self) -> (usize, Duration) {
        (self.queue_max, self.wait_max)
    }

    async fn wait<L>(
        &self,
        task: &Task<'_>,
        work_process: &WorkProcess<Connection>,
        lock: impl Future<Output = L>,
    ) -> Result<L, Refused> {
        let left = self.wait_max.saturating_sub(task.asked.elapsed());
        self.waiting(work_process, left, lock).await
    }

    async fn waiting<L>(
        &self,
        work_process: &WorkProcess<Connection>,
        wait_max: Duration,
        lock: impl Future<Output = L>,
    ) -> Result<L, Refused> {
        work_process.tell(ProcessState::WaitingForDatabase);
        {
            let mut waits = self.lock_waits();
            waits.waiting += 1;
            waits.waiting_max = waits.waiting_max.max(waits.waiting);
        }
        let mut wait = LockWait { pool: self, outcome: LockOutcome::Abandoned, since: Instant::now() };
        match tokio::time::timeout(wait_max, lock).await {
            Ok(lock) => {
                wait.outcome = LockOutcome::Had;
                work_process.tell(ProcessState::Working);
                Ok(lock)
            }
            Err(_) => {
                wait.outcome = LockOutcome::Refused;
                Err(Refused::WaitedTooLong { wait_max: self.wait_max })
            }
        }
    }

    fn lock_waits(&self) -> MutexGuard<'_, LockWaits> {
        self.lock_waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait for a lock; counted when it is dropped.
struct LockWait<'p> {
    pool: &'p Pool,
    outcome: LockOutcome,
    since: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LockOutcome {
    Had,
    Refused,
    Abandoned,
}

impl Drop for LockWait<'_> {
    fn drop(&mut self) {
        let mut waits = self.pool.lock_waits();
        waits.waiting -= 1;
        match self.outcome {
            LockOutcome::Had => {
                waits.queued_total += 1;
                waits.waited += self.since.elapsed();
            }
            LockOutcome::Refused => waits.refused_total += 1,
            LockOutcome::Abandoned => waits.abandoned_total += 1,
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // Whoever panics leaves its transaction half-way; the next one must not go on with it.
        if std::thread::panicking() {
            self.rollback();
        }
        // Also where nothing was changed, or nobody knows: whoever keeps what was read reads it again.
        self.changes.fetch_add(1, Ordering::Release);
    }
}

impl Deref for Reading {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.work_process
    }
}

impl DerefMut for Reading {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.work_process
    }
}

impl Deref for Writing {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.work_process
    }
}

impl DerefMut for Writing {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.work_process
    }
}
