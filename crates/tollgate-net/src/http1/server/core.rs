//! Shared state of the connections of one core: coarse time, the deadlines they wait by, buffers, counters.
//!
//! One thread owns it, so nothing here is locked. It does not know what the deadlines are for.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;

use super::buffers::{Buffers, Pool};
use super::counters::{CoreCounters, Counters};
use super::unsent::Stalls;
use super::wave::Wave;
use crate::clock::Clock;
use crate::limits::Limits;
use crate::memory;

/// Interval at which time moves on, deadlines are checked and the `Date` field is renewed.
pub(super) const TICK: Duration = Duration::from_millis(250);

/// `Date: `, 29 bytes of time, CR LF.
const DATE_FIELD_BYTES: usize = 37;

/// Shared state of the connections of one core.
pub(super) struct Core {
    pub(super) limits: Limits,
    pub(super) draining: Cell<bool>,
    clock: Clock,
    now: Cell<Instant>,
    date: Cell<[u8; DATE_FIELD_BYTES]>,
    pool: RefCell<Pool>,
    watches: RefCell<Vec<Rc<Watch>>>,
    connections_wave: Wave,
    bytes_wave: Wave,
    /// Answers that wait for their clients.
    pub(super) stalls: Stalls,
    /// Waker of the task that waits for the last connection to go.
    emptied: Cell<Option<Waker>>,
    /// Connections that are only told that there is no place for them.
    turned_away: Cell<usize>,
    /// Connections that wait to be let in.
    waiting: Cell<usize>,
    /// Notifies the task that admits them when a place may be free.
    freed: Notify,
    counters: Arc<Counters>,
    index: usize,
}

/// The one deadline that a connection waits by.
pub(super) struct Watch {
    deadline: Cell<Option<Instant>>,
    waker: RefCell<Waker>,
    place: Cell<usize>,
}

impl Core {
    pub(super) fn new(index: usize, limits: Limits, clock: Clock, counters: Arc<Counters>) -> Core {
        let core = Core {
            limits,
            draining: Cell::new(false),
            now: Cell::new(clock.now()),
            date: Cell::new([0; DATE_FIELD_BYTES]),
            clock,
            pool: RefCell::default(),
            watches: RefCell::default(),
            connections_wave: Wave::of_connections(),
            bytes_wave: Wave::of_bytes(),
            stalls: Stalls::default(),
            emptied: Cell::default(),
            turned_away: Cell::default(),
            waiting: Cell::default(),
            freed: Notify::new(),
            counters,
            index,
        };
        core.tick();
        core
    }

    pub(super) fn counters(&self) -> &CoreCounters {
        self.counters.core(self.index)
    }

    /// The time of the last tick.
    pub(super) fn now(&self) -> Instant {
        self.now.get()
    }

    /// The time of the last tick; on a manual clock the exact one, since nobody waits for a tick there.
    pub(super) fn coarse_time(&self) -> Instant {
        self.clock.by_hand().unwrap_or_else(|| self.now())
    }

    /// The `Date` field with its line end.
    pub(super) fn date(&self) -> [u8; DATE_FIELD_BYTES] {
        self.date.get()
    }

    /// Takes the time anew, wakes every connection whose deadline has passed, and gives memory back behind a wave of them.
    pub(super) fn tick(&self) {
        let now = self.clock.now();
        self.now.set(now);
        self.date.set(date_field(self.clock.wall()));
        for watch in self.watches.borrow().iter() {
            if watch.deadline.get().is_some_and(|deadline| deadline <= now) {
                watch.deadline.set(None);
                watch.waker.borrow().wake_by_ref();
            }
        }
        let (connections, counters) = (self.connections() as u64, self.counters());
        let connections_went = self.connections_wave.is_over(connections);
        let bytes_went = self.bytes_wave.is_over(counters.held_bytes.value() + counters.unsent_bytes.value());
        if connections_went || bytes_went {
            self.pool.borrow_mut().clear();
            memory::give_back();
        }
    }

    /// Wakes every connection, so that each looks at `draining`.
    pub(super) fn wake_all(&self) {
        for watch in self.watches.borrow().iter() {
            watch.waker.borrow().wake_by_ref();
        }
    }

    pub(super) fn take_buffers(&self) -> Box<Buffers> {
        self.pool.borrow_mut().take()
    }

    pub(super) fn give_buffers(&self, buffers: Box<Buffers>) {
        self.pool.borrow_mut().give(buffers);
    }

    /// Takes from a set the memory that it does not need while its exchange waits for others.
    pub(super) fn park(&self, buffers: &mut Buffers) {
        self.pool.borrow_mut().park(buffers);
    }

    /// Gives a set memory again that was taken.
    pub(super) fn lend(&self, buffers: &mut Buffers) {
        if buffers.input.is_without_memory() {
            self.pool.borrow_mut().lend(buffers);
        }
    }

    /// Adds a connection.
    pub(super) fn enter(&self) -> Rc<Watch> {
        let mut watches = self.watches.borrow_mut();
        let watch = Rc::new(Watch {
            deadline: Cell::default(),
            waker: RefCell::new(Waker::noop().clone()),
            place: Cell::new(watches.len()),
        });
        watches.push(watch.clone());
        self.counters().opened();
        watch
    }

    /// Takes a connection away.
    pub(super) fn leave(&self, watch: &Watch) {
        let mut watches = self.watches.borrow_mut();
        let place = watch.place.get();
        watches.swap_remove(place);
        if let Some(moved) = watches.get(place) {
            moved.place.set(place);
        }
        self.counters().connections_open.subtract(1);
        if self.waiting.get() > 0 {
            self.freed.notify_one();
        }
        if watches.is_empty()
            && let Some(waker) = self.emptied.take()
        {
            waker.wake();
        }
    }

    /// Connections open on this core.
    pub(super) fn connections(&self) -> usize {
        self.watches.borrow().len()
    }

    /// Connections that are served.
    pub(super) fn served(&self) -> usize {
        self.connections() - self.turned_away.get()
    }

    /// Counts a connection that is turned away; `false` if `max` of them are.
    pub(super) fn turns_away(&self, max: usize) -> bool {
        let count = self.turned_away.get();
        self.turned_away.set(if count < max { count + 1 } else { count });
        count < max
    }

    /// One that was turned away is gone.
    pub(super) fn turned_away(&self) {
        self.turned_away.set(self.turned_away.get() - 1);
    }

    /// Sets the number of connections that wait to be let in.
    pub(super) fn set_waiting(&self, count: usize) {
        self.counters().waits(self.waiting.replace(count), count);
    }

    /// Whether a connection should close behind its answer: connections may wait to be let in, and one does or the last
    /// place is taken. If that were kept, and its client silent, nobody else would ever come in.
    pub(super) fn is_crowded(&self) -> bool {
        self.limits.connections_waiting_max > 0
            && (self.waiting.get() > 0 || self.served() >= self.limits.connections_max)
    }

    /// Waits until a place may be free that somebody waits for.
    pub(super) async fn place_freed(&self) {
        self.freed.notified().await;
    }

    /// Waits until no connection is open.
    pub(super) async fn emptied(&self) {
        std::future::poll_fn(|cx| {
            if self.connections() == 0 {
                return std::task::Poll::Ready(());
            }
            self.emptied.set(Some(cx.waker().clone()));
            std::task::Poll::Pending
        })
        .await;
    }
}

impl Watch {
    /// Has the task woken once `deadline` has passed. Called only when a connection really must wait.
    pub(super) fn arm(&self, cx: &Context<'_>, deadline: Instant) {
        self.deadline.set(Some(deadline));
        let mut waker = self.waker.borrow_mut();
        if !waker.will_wake(cx.waker()) {
            waker.clone_from(cx.waker());
        }
    }

    /// Has the task woken now.
    pub(super) fn wake(&self) {
        self.waker.borrow().wake_by_ref();
    }

    /// The connection waits no more.
    pub(super) fn disarm(&self) {
        self.deadline.set(None);
    }
}

/// The `Date` field (RFC 9110 section 5.6.7) with its line end.
fn date_field(wall: SystemTime) -> [u8; DATE_FIELD_BYTES] {
    // A clock set before 1970 or after 9999 is reported as 1970.
    let stamp = jiff::Timestamp::try_from(wall).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let mut field = [b' '; DATE_FIELD_BYTES];
    let text = stamp.strftime("Date: %a, %d %b %Y %H:%M:%S GMT\r\n");
    write!(&mut field[..], "{text}").expect("a date field has a fixed length");
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_written_as_http_wants_it() {
        let wall = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(&date_field(wall), b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    }

    #[test]
    fn connections_leave_in_any_order() {
        let counters = Arc::new(Counters::new(1));
        let core = Core::new(0, Limits::default(), Clock::system(), counters.clone());
        let watches: Vec<_> = (0..3).map(|_| core.enter()).collect();
        for index in [1, 0, 2] {
            core.leave(&watches[index]);
        }
        assert_eq!((core.connections(), counters.connections_open(), counters.connections_peak()), (0, 0, 3));
    }
}
