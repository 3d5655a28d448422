//! The bounded work processes: a request for the database gets one, waits for one in a queue that is fair to clients, or
//! is refused.
//!
//! A work process is a permit and a database connection. It is not of itself a thread: its holder decides on the work
//! and its thread. Nothing here knows the kind of connection.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::queue::{Charge, FairQueue, Hold};
use crate::base::client::Client;
use crate::work::board::{Board, ProcessState, Seen, Task};

/// Seconds a refused client should wait before it tries again: the queue of a full server moves within a second.
pub(crate) const RETRY_AFTER_SECONDS: u32 = 1;

/// The pool of work processes, shared by all event loops.
pub(crate) struct Dispatcher<C> {
    shared: Arc<Shared<C>>,
}

/// One acquired work process. Dropping it gives it to the first in the queue, or back to the pool.
pub(crate) struct WorkProcess<C> {
    // Taken only by the drop.
    held: Option<Numbered<C>>,
    shared: Arc<Shared<C>>,
}

/// Reason why no work process was available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The queue was full, of requests of others or of clients who had had less.
    QueueFull {
        /// The reached limit.
        queue_max: usize,
    },
    /// None became free in time.
    WaitedTooLong {
        /// The reached limit.
        wait_max: Duration,
    },
}

/// State and counters of the pool, read in one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Occupancy {
    /// Number of work processes.
    pub(crate) limit: u64,
    /// Number in use.
    pub(crate) busy: u64,
    /// Most in use at once.
    pub(crate) busy_max: u64,
    /// Number of requests that wait for one.
    pub(crate) waiting: u64,
    /// The most that waited at once.
    pub(crate) waiting_max: u64,
    /// Number of acquisitions.
    pub(crate) admitted_total: u64,
    /// Number of acquisitions after waiting.
    pub(crate) queued_total: u64,
    /// Sum of all waits that ended with one.
    pub(crate) waited: Duration,
    /// Number of refusals because the queue was full.
    pub(crate) refused_full_total: u64,
    /// Number of refusals because of too long waits.
    pub(crate) refused_late_total: u64,
    /// Number of requests that went away while they waited.
    pub(crate) abandoned_total: u64,
}

/// A connection with the number of its work process, its place on the board.
struct Numbered<C> {
    number: usize,
    connection: C,
    /// The turn of the one that waited for it.
    turn: Option<Charge>,
}

struct Shared<C> {
    // One lock for all: uncontended it costs two atomic operations, and no gauge can disagree with another. Nothing
    // under it waits, calls out or panics.
    state: Mutex<PoolState<C>>,
    board: Board,
    queue_max: usize,
    wait_max: Duration,
}

struct PoolState<C> {
    // Last in, first out: the connection used last has its statements and pages in the caches.
    idle: Vec<Numbered<C>>,
    // Never both non-empty: a work process that comes back goes to the first waiter.
    queue: FairQueue<Waiter<C>>,
    occupancy: Occupancy,
}

/// Gives a work process to whoever waits for it.
type Waiter<C> = oneshot::Sender<WorkProcess<C>>;

impl<C> Dispatcher<C> {
    /// Creates a pool of one work process for each of `connections`, with a queue of at most `queue_max` requests, none
    /// waiting longer than `wait_max`.
    pub(crate) fn new(connections: Vec<C>, queue_max: usize, wait_max: Duration) -> Dispatcher<C> {
        let occupancy = Occupancy { limit: connections.len() as u64, ..Occupancy::default() };
        let board = Board::new(connections.len());
        let numbered = connections.into_iter().enumerate();
        // The first one is on top.
        let idle = numbered.rev().map(|(number, connection)| Numbered { number, connection, turn: None }).collect();
        let state = PoolState { idle, queue: FairQueue::default(), occupancy };
        Dispatcher { shared: Arc::new(Shared { state: Mutex::new(state), board, queue_max, wait_max }) }
    }

    /// Acquires a work process for `task`: at once if one is free, else by turns first who had least of late and who came
    /// first. If the queue is full, a client takes a place of one that has more of them.
    ///
    /// Dropping the future leaves the queue.
    ///
    /// # Errors
    /// [`Refused`] if there was no place in the queue, or the wait was too long.
    pub(crate) async fn acquire(&self, task: &Task<'_>) -> Result<WorkProcess<C>, Refused> {
        self.acquire_within(task, (self.shared.queue_max, Hold::Refusable), self.shared.wait_max).await
    }

    /// The same for one that waited elsewhere before: only for what is left of the longest wait since it was asked, and
    /// not refused for a full queue.
    ///
    /// # Errors
    /// As [`acquire`](Dispatcher::acquire).
    pub(crate) async fn acquire_in_time(&self, task: &Task<'_>) -> Result<WorkProcess<C>, Refused> {
        let left = self.shared.wait_max.saturating_sub(task.asked.elapsed());
        let acquired = self.acquire_within(task, (usize::MAX, Hold::Kept), left).await;
        acquired.map_err(|_| Refused::WaitedTooLong { wait_max: self.shared.wait_max })
    }

    /// Acquires a work process for paused work that has begun to answer: it waits in the same queue, and is never
    /// refused, since half an answer cannot be taken back.
    pub(crate) async fn acquire_again(&self, task: &Task<'_>) -> WorkProcess<C> {
        loop {
            // Each round waits for an hour: as long as the pool is alive, there is a turn.
            if let Ok(work_process) =
                self.acquire_within(task, (usize::MAX, Hold::Kept), Duration::from_secs(3600)).await
            {
                return work_process;
            }
        }
    }

    async fn acquire_within(
        &self,
        task: &Task<'_>,
        (queue_max, hold): (usize, Hold),
        wait_max: Duration,
    ) -> Result<WorkProcess<C>, Refused> {
        let client = task.client;
        let mut place = match self.shared.ask(client, queue_max, hold)? {
            Acquisition::Had(held) => {
                self.shared.board.take(held.number, task, task.asked);
                return Ok(self.holding(held));
            }
            Acquisition::Queued(ticket, given) => {
                QueuePlace { shared: &self.shared, client, ticket, given, ended: false }
            }
        };
        let since = Instant::now();
        match tokio::time::timeout(wait_max, &mut place.given).await {
            Ok(Ok(work_process)) => {
                place.ended = true;
                let had = Instant::now();
                self.shared.board.take(work_process.held().number, task, had);
                let mut state = self.shared.lock();
                state.occupancy.queued_total += 1;
                state.occupancy.waited += had.saturating_duration_since(since);
                drop(state);
                Ok(work_process)
            }
            // Displaced, and counted as refused there.
            Ok(Err(_)) => {
                place.ended = true;
                Err(Refused::QueueFull { queue_max })
            }
            Err(_) => {
                place.ended = true;
                self.shared.leave(client, place.ticket, |occupancy| occupancy.refused_late_total += 1);
                Err(Refused::WaitedTooLong { wait_max })
            }
        }
    }

    /// Current state of the pool.
    pub(crate) fn occupancy(&self) -> Occupancy {
        let state = self.shared.lock();
        Occupancy { waiting: state.queue.len() as u64, ..state.occupancy }
    }

    /// State of each work process, in the order of their numbers.
    pub(crate) fn board(&self) -> Vec<Seen> {
        self.shared.board.read()
    }

    /// Largest number of waiting requests, and longest wait of one.
    pub(crate) fn queue_limits(&self) -> (usize, Duration) {
        (self.shared.queue_max, self.shared.wait_max)
    }

    fn holding(&self, held: Numbered<C>) -> WorkProcess<C> {
        WorkProcess { held: Some(held), shared: Arc::clone(&self.shared) }
    }
}

impl<C> Clone for Dispatcher<C> {
    fn clone(&self) -> Dispatcher<C> {
        Dispatcher { shared: Arc::clone(&self.shared) }
    }
}

impl<C> fmt::Debug for Dispatcher<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.occupancy().fmt(formatter)
    }
}

impl<C> WorkProcess<C> {
    /// Sets its state on the board.
    pub(crate) fn tell(&self, doing: ProcessState) {
        self.shared.board.change(self.held().number, doing);
    }

    fn held(&self) -> &Numbered<C> {
        self.held.as_ref().expect(HELD)
    }
}

impl<C> Deref for WorkProcess<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.held().connection
    }
}

impl<C> DerefMut for WorkProcess<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.held.as_mut().expect(HELD).connection
    }
}

impl<C> Drop for WorkProcess<C> {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            Shared::release(&self.shared, held);
        }
    }
}

const HELD: &str = "a work process keeps its connection until it is dropped";

enum Acquisition<C> {
    Had(Numbered<C>),
    Queued(u64, oneshot::Receiver<WorkProcess<C>>),
}

/// A place in the queue; dropping it before its turn leaves the queue.
struct QueuePlace<'d, C> {
    shared: &'d Shared<C>,
    client: &'d Client,
    ticket: u64,
    given: oneshot::Receiver<WorkProcess<C>>,
    ended: bool,
}

impl<C> Drop for QueuePlace<'_, C> {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.leave(self.client, self.ticket, |occupancy| occupancy.abandoned_total += 1);
        }
    }
}

impl<C> Shared<C> {
    fn lock(&self) -> MutexGuard<'_, PoolState<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, client: &Client, queue_max: usize, hold: Hold) -> Result<Acquisition<C>, Refused> {
        // Dropped behind the lock, which tells the one that waited.
        let displaced: Option<Waiter<C>>;
        let mut state = self.lock();
        if let Some(held) = state.idle.pop() {
            let occupancy = &mut state.occupancy;
            occupancy.busy += 1;
            occupancy.busy_max = occupancy.busy_max.max(occupancy.busy);
            occupancy.admitted_total += 1;
            return Ok(Acquisition::Had(held));
        }
        if state.queue.len() >= queue_max {
            state.occupancy.refused_full_total += 1;
            displaced = state.queue.displace(client);
            if displaced.is_none() {
                return Err(Refused::QueueFull { queue_max });
            }
        }
        let (give, given) = oneshot::channel();
        let ticket = state.queue.push(client, hold, give, Instant::now());
        state.occupancy.waiting_max = state.occupancy.waiting_max.max(state.queue.len() as u64);
        Ok(Acquisition::Queued(ticket, given))
    }

    fn release(shared: &Arc<Shared<C>>, mut held: Numbered<C>) {
        // Before anybody else can have it.
        shared.board.leave(held.number);
        loop {
            let ended = held.turn.take().map(|turn| (turn, Instant::now()));
            let waiter = {
                let mut state = shared.lock();
                if let Some((turn, at)) = ended {
                    state.queue.end(&turn, at);
                }
                // The time is read only where somebody waits.
                let next = if state.queue.len() == 0 { None } else { state.queue.pop(Instant::now()) };
                match next {
                    Some((waiter, turn)) => {
                        state.occupancy.admitted_total += 1;
                        held.turn = Some(turn);
                        waiter
                    }
                    None => {
                        shared.board.change(held.number, ProcessState::Free);
                        state.idle.push(held);
                        state.occupancy.busy -= 1;
                        return;
                    }
                }
            };
            // Outside the lock: a waiter that has just gone gives the work process back by the send's error.
            shared.board.change(held.number, ProcessState::Given);
            match waiter.send(WorkProcess { held: Some(held), shared: Arc::clone(shared) }) {
                Ok(()) => return,
                Err(mut returned) => {
                    shared.lock().occupancy.admitted_total -= 1;
                    match returned.held.take() {
                        Some(back) => held = back,
                        None => return,
                    }
                }
            }
        }
    }

    fn leave(&self, client: &Client, ticket: u64, count: impl FnOnce(&mut Occupancy)) {
        let mut state = self.lock();
        count(&mut state.occupancy);
        state.queue.remove(client, ticket);
    }
}

impl Refused {
    /// Message for the client.
    pub(crate) fn message(self) -> String {
        match self {
            Refused::QueueFull { queue_max } => {
                format!("all work processes are busy and {queue_max} requests wait already; ask again later")
            }
            Refused::WaitedTooLong { wait_max } => {
                format!("no work process became free within {} ms; ask again later", wait_max.as_millis())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn pool(size: usize, queue_max: usize) -> Dispatcher<usize> {
        Dispatcher::new((0..size).collect(), queue_max, LONG)
    }

    async fn had<C>(pool: &Dispatcher<C>) -> Result<WorkProcess<C>, Refused> {
        had_by(pool, &client(1)).await
    }

    async fn had_by<C>(pool: &Dispatcher<C>, client: &Client) -> Result<WorkProcess<C>, Refused> {
        pool.acquire(&Task { method: "GET", path: "/", client, asked: Instant::now() }).await
    }

    fn client(number: u8) -> Client {
        Client::at([192, 0, 2, number].into())
    }

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[tokio::test]
    async fn as_many_are_had_as_there_are() {
        let pool = pool(2, 0);
        let first = had(&pool).await.unwrap();
        let _second = had(&pool).await.unwrap();
        assert_eq!(had(&pool).await.err(), Some(Refused::QueueFull { queue_max: 0 }));
        drop(first);
        let _third = had(&pool).await.unwrap();
        let occupancy = pool.occupancy();
        assert_eq!((occupancy.busy, occupancy.busy_max, occupancy.admitted_total), (2, 2, 3));
        assert_eq!(occupancy.refused_full_total, 1);
    }

    #[tokio::test]
    async fn those_who_wait_are_served_in_the_order_of_asking_and_nobody_jumps_the_queue() {
        let pool = pool(1, 2);
        let held = had(&pool).await.unwrap();
        let mut first = pin!(had(&pool));
        let mut second = pin!(had(&pool));
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
        assert_eq!(pool.occupancy().waiting, 2);
        assert!(had(&pool).await.is_err(), "the queue holds two");
        drop(held);
        assert!(poll(second.as_mut()).is_pending());
        assert_eq!((pool.occupancy().busy, pool.occupancy().waiting), (1, 1));
        let Poll::Ready(Ok(held)) = poll(first.as_mut()) else { panic!("the first is served first") };
        drop(held);
        assert!(poll(second.as_mut()).is_ready());
        assert_eq!((pool.occupancy().busy, pool.occupancy().waiting_max, pool.occupancy().queued_total), (0, 2, 2));
    }

    #[tokio::test]
    async fn a_newcomer_is_served_before_whoever_floods_and_takes_a_place_in_a_full_queue() {
        let pool = pool(1, 2);
        let (flooding, newcomer) = (client(1), client(2));
        let held = had_by(&pool, &flooding).await.unwrap();
        let mut flood = [pin!(had_by(&pool, &flooding)), pin!(had_by(&pool, &flooding))];
        assert!(flood.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
        let mut new = pin!(had_by(&pool, &newcomer));
        assert!(poll(new.as_mut()).is_pending());
        assert!(matches!(poll(flood[1].as_mut()), Poll::Ready(Err(Refused::QueueFull { queue_max: 2 }))));
        assert!(had_by(&pool, &client(3)).await.is_err(), "nobody has more than one waiting");
        drop(held);
        let Poll::Ready(Ok(held)) = poll(flood[0].as_mut()) else { panic!("the first is served first") };
        let mut again = pin!(had_by(&pool, &flooding));
        assert!(poll(again.as_mut()).is_pending());
        drop(held);
        assert!(poll(new.as_mut()).is_ready() && poll(again.as_mut()).is_ready());
        assert_eq!((pool.occupancy().refused_full_total, pool.occupancy().waiting), (2, 0));
    }

    #[tokio::test]
    async fn whoever_began_to_answer_keeps_its_place_in_a_full_queue() {
        let pool = pool(1, 1);
        let held = had(&pool).await.unwrap();
        let (one, other) = (client(1), client(2));
        let task = |client| Task { method: "GET", path: "/", client, asked: Instant::now() };
        let tasks = [task(&one), task(&one)];
        let mut begun = [pin!(pool.acquire_again(&tasks[0])), pin!(pool.acquire_again(&tasks[1]))];
        assert!(begun.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
        assert!(had_by(&pool, &other).await.is_err());
        assert_eq!(pool.occupancy().waiting, 2);
        drop(held);
        assert!(poll(begun[0].as_mut()).is_ready() && poll(begun[1].as_mut()).is_ready());
    }

    #[tokio::test]
    async fn who_goes_away_while_waiting_leaves_the_queue() {
        let pool = pool(1, 1);
        let held = had(&pool).await.unwrap();
        {
            let mut gone = pin!(had(&pool));
            assert!(poll(gone.as_mut()).is_pending());
        }
        assert_eq!((pool.occupancy().waiting, pool.occupancy().abandoned_total), (0, 1));
        drop(held);
        assert_eq!(pool.occupancy().busy, 0);
    }

    #[tokio::test]
    async fn who_goes_away_just_when_served_gives_the_work_process_on() {
        let pool = pool(1, 2);
        let held = had(&pool).await.unwrap();
        let mut next = pin!(had(&pool));
        {
            let mut gone = pin!(had(&pool));
            assert!(poll(gone.as_mut()).is_pending() && poll(next.as_mut()).is_pending());
            drop(held); // given to the first, who never looks
        }
        let held = next.await.unwrap();
        assert_eq!((pool.occupancy().busy, pool.occupancy().admitted_total), (1, 2 + 1));
        drop(held);
        assert_eq!(pool.occupancy().busy, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_refused() {
        let pool = Dispatcher::new(vec![()], 1, Duration::from_millis(50));
        let _held = had(&pool).await.unwrap();
        let refused = had(&pool).await.err();
        assert_eq!(refused, Some(Refused::WaitedTooLong { wait_max: Duration::from_millis(50) }));
        assert_eq!((pool.occupancy().waiting, pool.occupancy().refused_late_total), (0, 1));
    }

    #[test]
    fn a_holder_that_panics_gives_its_work_process_back() {
        let pool = pool(1, 0);
        let Ok(Acquisition::Had(held)) = pool.shared.ask(&client(1), 0, Hold::Refusable) else { panic!("one is free") };
        let held = pool.holding(held);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _held = held;
            panic!("a statement went wrong");
        }));
        assert!(outcome.is_err());
        assert_eq!(pool.occupancy().busy, 0);
    }

    #[tokio::test]
    async fn the_board_tells_who_is_free_who_works_and_who_was_just_given_away() {
        let states = |pool: &Dispatcher<usize>| pool.board().iter().map(|seen| seen.state).collect::<Vec<_>>();
        let pool = pool(2, 1);
        let first = had(&pool).await.unwrap();
        assert_eq!(states(&pool), [ProcessState::Working, ProcessState::Free], "the first one is used first");
        let second = had(&pool).await.unwrap();
        let mut next = pin!(had(&pool));
        assert!(poll(next.as_mut()).is_pending());
        drop(second);
        assert_eq!(states(&pool), [ProcessState::Working, ProcessState::Given]);
        let next = next.await.unwrap();
        next.tell(ProcessState::WaitingForDatabase);
        assert_eq!(states(&pool), [ProcessState::Working, ProcessState::WaitingForDatabase]);
        drop((first, next));
        assert_eq!(states(&pool), [ProcessState::Free, ProcessState::Free]);
        assert_eq!(pool.board().iter().map(|seen| seen.served).collect::<Vec<_>>(), [1, 2]);
    }
}
