//! Where what is due at a rate waits for users: they are there as many as there is work under way, up to a limit.
//!
//! What is due while all of them are at work waits too, and is late; what still waits at the end is counted as unsent. It
//! deliberately does not know what users do.

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

/// What is due and waits for a user, at most: 16 MB. More is unsent at once.
const WAITING_MAX: usize = 1_000_000;

/// After so much that was due at once, users have their turn.
const OVERDUE_MAX: u32 = 64;

/// Hands out what is due of a load from `start` on, calls users as they are needed, each by its number, and gives them
/// back.
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

/// What the users of one worker share.
struct Desk {
    recorder: Rc<RefCell<Recorder>>,
    /// What no user has taken yet.
    waiting: RefCell<VecDeque<Due>>,
    /// Users without anything to do, the last one on top: its connection is the freshest.
    idle: RefCell<Vec<Rc<Seat>>>,
    /// Users who were called and have not looked yet what waits: as much does not wait for want of one.
    called: Cell<usize>,
    is_closed: Cell<bool>,
}

/// What is due, once a user takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Due {
    /// When it was to begin.
    intended: Instant,
    /// Since when it waits for want of a user, where all were at work when it came to the desk; else one was called, and
    /// until it begins nobody but the generator holds it up.
    missing_since: Option<Instant>,
}

/// Where a user waits.
#[derive(Default)]
struct Seat {
    waker: RefCell<Option<Waker>>,
    is_idle: Cell<bool>,
    is_called: Cell<bool>,
}

impl Desk {
    /// One user: takes what is due, until nothing more comes.
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

    /// What is to be begun next; `None` once no more comes.
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

    /// Calls an idle user, if there is one; it looks once the caller waits for something.
    fn wake_one(&self) -> bool {
        let Some(seat) = self.idle.borrow_mut().pop() else { return false };
        seat.is_idle.set(false);
        self.call(&seat);
        if let Some(waker) = seat.waker.borrow_mut().take() {
            waker.wake();
        }
        true
    }

    /// The user of this seat is to look what waits.
    fn call(&self, seat: &Seat) {
        seat.is_called.set(true);
        self.called.set(self.called.get() + 1);
    }

    /// What still waits will not be sent, but for the first of it.
    fn give_up(&self, sent: usize) {
        let mut waiting = self.waiting.borrow_mut();
        let unsent = waiting.len().saturating_sub(sent);
        waiting.truncate(sent);
        self.recorder.borrow_mut().tally.sends.unsent += unsent as u64;
    }

    /// Nothing more comes: users leave once nothing waits.
    fn close(&self) {
        self.is_closed.set(true);
        while self.wake_one() {}
    }
}
