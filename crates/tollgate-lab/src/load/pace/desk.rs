//! Desk of an open load: work that is due waits here for users. There are as many users as needed, up to a limit.
//!
//! Work that is due while all are busy waits, too, and is late; what still waits at the end is counted as unsent. The
//! desk does not know what users do.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Instant;

use tokio::task::JoinSet;
use tollgate_net::pacer::Pacer;

use super::arrivals::Schedule;
use super::units::{Begun, Doer};
use crate::load::record::recorder::Recorder;
use crate::traffic::model::{Load, Rate};

/// Most units that wait for a user: 16 MB. More are unsent at once.
const WAITING_MAX: usize = 1_000_000;

/// Units due at once, after which users get a turn.
const OVERDUE_MAX: u32 = 64;

/// Hands out the units of a load from `start` on, calls users by number as they are needed, and returns them.
pub(crate) async fn hand_out<D: Doer>(
    recorder: &Rc<RefCell<Recorder>>,
    (load, rate, start): (&Load, Rate, Instant),
    pacer: &mut Pacer,
    mut come: impl FnMut(usize) -> D,
) -> Vec<D> {
    let (waiting, idle) = (RefCell::default(), RefCell::default());
    let (called, is_closed) = (Cell::new(0), Cell::new(false));
    let desk = Rc::new(Desk { recorder: Rc::clone(recorder), waiting, idle, called, is_closed });
    let mut tasks = JoinSet::new();
    let (mut came, mut overdue) = (0, 0);
    for after in Schedule::new(load, rate) {
        let intended = start + after;
        if Instant::now() < intended {
            pacer.until(intended).await;
            overdue = 0;
        } else {
            overdue += 1;
            if overdue % OVERDUE_MAX == 0 {
                tokio::task::yield_now().await;
            }
        }
        if desk.is_closed.get() {
            break;
        }
        recorder.borrow_mut().due(intended);
        if desk.waiting.borrow().len() == WAITING_MAX {
            let mut recorder = recorder.borrow_mut();
            recorder.tally.sends.unsent += 1;
            recorder.overdue(intended, Instant::now());
            continue;
        }
        let is_woken = desk.wake_one();
        let is_called = is_woken || came < load.users;
        let missing_since = (!is_called).then(Instant::now);
        desk.waiting.borrow_mut().push_back(Due { intended, missing_since });
        if let Some(since) = missing_since {
            recorder.borrow_mut().overdue(intended, since);
        } else if !is_woken {
            let seat = Rc::new(Seat::default());
            desk.call(&seat);
            tasks.spawn_local(Rc::clone(&desk).serve(come(came), seat));
            came += 1;
        }
    }
    if let Some(after) = load.end.after {
        if !desk.is_closed.get() {
            pacer.until(start + after).await;
        }
        // What was due a moment ago and has its user, who only did not get a turn yet, is sent: in short trials that would
        // be a share of all.
        desk.give_up(desk.called.get());
    }
    desk.close();
    let users = tasks.join_all().await;
    recorder.borrow_mut().tally.sends.users += came as u64;
    users
}

/// State shared by the users of one worker.
struct Desk {
    recorder: Rc<RefCell<Recorder>>,
    /// Units that no user has taken yet.
    waiting: RefCell<VecDeque<Due>>,
    /// Idle users, the last one on top: its connection is the freshest.
    idle: RefCell<Vec<Rc<Seat>>>,
    /// Users called that have not looked for work yet: that much of it has a user.
    called: Cell<usize>,
    is_closed: Cell<bool>,
}

/// A unit of work that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Due {
    /// Intended start.
    intended: Instant,
    /// Time at which it came to the desk, if no user was free; absent if one was called: then any delay until it begins
    /// is the generator's.
    missing_since: Option<Instant>,
}

/// Place of a waiting user.
#[derive(Default)]
struct Seat {
    waker: RefCell<Option<Waker>>,
    is_idle: Cell<bool>,
    is_called: Cell<bool>,
}

impl Desk {
    /// Runs one user: it takes due units until there are no more.
    async fn serve<D: Doer>(self: Rc<Desk>, mut doer: D, seat: Rc<Seat>) -> D {
        while let Some(Due { intended, missing_since }) = self.next(&seat).await {
            let now = Instant::now();
            let begin = |recorder: &mut Recorder| {
                if missing_since.is_none() {
                    recorder.overdue(intended, now);
                }
                recorder.begun(intended, now);
            };
            let own = missing_since.unwrap_or(now).saturating_duration_since(intended);
            if doer.unit(&self.recorder, Begun { due: intended, at: now, own }, begin).await.is_none() {
                // Rows that end do so for all.
                self.recorder.borrow_mut().tally.out_of_rows += 1;
                self.give_up(0);
                self.close();
            }
        }
        doer
    }

    /// Waits for the next unit; `None` once there are no more.
    async fn next(&self, seat: &Rc<Seat>) -> Option<Due> {
        poll_fn(|cx| {
            if seat.is_called.replace(false) {
                self.called.set(self.called.get() - 1);
            }
            if let Some(due) = self.waiting.borrow_mut().pop_front() {
                return Poll::Ready(Some(due));
            }
            if self.is_closed.get() {
                return Poll::Ready(None);
            }
            *seat.waker.borrow_mut() = Some(cx.waker().clone());
            if !seat.is_idle.replace(true) {
                self.idle.borrow_mut().push(Rc::clone(seat));
            }
            Poll::Pending
        })
        .await
    }

    /// Calls an idle user, if there is one; it looks once the caller yields.
    fn wake_one(&self) -> bool {
        let Some(seat) = self.idle.borrow_mut().pop() else { return false };
        seat.is_idle.set(false);
        self.call(&seat);
        if let Some(waker) = seat.waker.borrow_mut().take() {
            waker.wake();
        }
        true
    }

    /// Tells the user of this seat to look for work.
    fn call(&self, seat: &Seat) {
        seat.is_called.set(true);
        self.called.set(self.called.get() + 1);
    }

    /// Counts waiting units as unsent, except for the first `sent`.
    fn give_up(&self, sent: usize) {
        let mut waiting = self.waiting.borrow_mut();
        let unsent = waiting.len().saturating_sub(sent);
        waiting.truncate(sent);
        self.recorder.borrow_mut().tally.sends.unsent += unsent as u64;
    }

    /// Closes the desk: users leave once nothing waits.
    fn close(&self) {
        self.is_closed.set(true);
        while self.wake_one() {}
    }
}
