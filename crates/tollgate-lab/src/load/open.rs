//! The same request at a rate, whatever the subject does: an open load. Response times count from the intended start,
//! so that a subject which stalls is charged with all that came meanwhile.
//!
//! Users are there as many as requests are under way, up to a limit. What is due while all of them wait for answers
//! waits too, and is late; what still waits at the end is counted as unsent. It deliberately does not judge its own
//! lateness: [`crate::validity`] does.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;

use tokio::task::JoinSet;
use tollgate_net::pacer::Pacer;

use super::arrivals::Schedule;
use super::content::{Known, Search};
use super::model::{Lane, Open};
use super::recorder::Recorder;
use super::request::{ask, place};
use super::script::{Script, Writer};
use super::user::{Asking, User};

/// Requests that are due and wait for a user, at most: 16 MB. More are unsent at once.
const WAITING_MAX: usize = 1_000_000;

/// After so many requests that were due at once, users have their turn.
const OVERDUE_MAX: u32 = 64;

/// What the users of one worker share.
struct Desk {
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    script: Arc<Script>,
    lane: Lane,
    /// Rows of the feed that the lane has taken.
    rows: Cell<u64>,
    /// The answer that was last found to be right.
    known: Known,
    /// Intended starts that no user has taken yet.
    waiting: RefCell<VecDeque<Instant>>,
    /// Users without anything to do, the last one on top: its connection is the freshest.
    idle: RefCell<Vec<Rc<Seat>>>,
    /// Users who were called and have not looked yet what waits: as many requests do not wait for want of one.
    called: Cell<usize>,
    is_closed: Cell<bool>,
}

/// Where a user waits.
#[derive(Default)]
struct Seat {
    waker: RefCell<Option<Waker>>,
    is_idle: Cell<bool>,
    is_called: Cell<bool>,
}

/// Asks as the load says, and gives the users back.
pub(super) async fn run(
    users: Vec<User>,
    asking: Rc<Asking>,
    script: Arc<Script>,
    open: Open,
    recorder: Rc<RefCell<Recorder>>,
    pacer: &mut Pacer,
) -> Vec<User> {
    let (waiting, idle) = (RefCell::default(), RefCell::default());
    let (called, is_closed) = (Cell::new(0), Cell::new(false));
    let known = Known::default();
    let (lane, rows) = (open.lane, Cell::new(0));
    let desk = Rc::new(Desk { asking, recorder, script, lane, rows, known, waiting, idle, called, is_closed });
    let mut tasks = JoinSet::new();
    let mut resting = users;
    let (mut come, mut overdue) = (0, 0);
    let start = Instant::now();
    for after in Schedule::new(open) {
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
        desk.recorder.borrow_mut().tally.sends.intended += 1;
        if !desk.offer(intended) && come < open.users_max {
            let number = come;
            come += 1;
            let (mut user, desk) = (resting.pop().unwrap_or_default(), Rc::clone(&desk));
            let seat = Rc::new(Seat::default());
            desk.call(&seat);
            tasks.spawn_local(async move {
                serve(&mut user, number, &seat, &desk).await;
                user
            });
        }
    }
    if let Some(after) = open.end.after {
        pacer.until(start + after).await;
        desk.give_up();
    }
    desk.close();
    resting.extend(tasks.join_all().await);
    let mut recorder = desk.recorder.borrow_mut();
    recorder.tally.sends.users += come as u64;
    recorder.close_units();
    drop(recorder);
    resting
}

/// One user: takes what is due, until nothing more comes.
async fn serve(user: &mut User, number: usize, seat: &Rc<Seat>, desk: &Desk) {
    let mut search = Search::new(&desk.asking.target, &desk.known);
    let mut writer = Writer::new(&desk.script, desk.lane, number);
    while let Some(intended) = desk.next(seat).await {
        desk.recorder.borrow_mut().begun(intended, Instant::now());
        // A feed that ends also ends the schedule: there is a row for whatever is due.
        let Some(request) = writer.next(&desk.rows, place(user, &desk.asking)) else { return };
        let judged = ask(user, request, &desk.asking, &mut search, &desk.recorder).await;
        let mut recorder = desk.recorder.borrow_mut();
        match judged {
            Ok(answer) => recorder.judged(intended, &answer, search.verdict()),
            Err(failure) => recorder.failure(&failure, intended, Instant::now()),
        }
    }
}

impl Desk {
    /// A request is due; says whether an idle user takes it.
    fn offer(&self, intended: Instant) -> bool {
        if self.waiting.borrow().len() == WAITING_MAX {
            self.recorder.borrow_mut().tally.sends.unsent += 1;
            return true;
        }
        self.waiting.borrow_mut().push_back(intended);
        self.wake_one()
    }

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

    /// What still waits will not be sent, but for what was due a moment ago and has its user, who only did not get a
    /// turn yet: in short trials that would be a share of all.
    fn give_up(&self) {
        let mut waiting = self.waiting.borrow_mut();
        let unsent = waiting.len().saturating_sub(self.called.get());
        let sent = waiting.len() - unsent;
        waiting.truncate(sent);
        self.recorder.borrow_mut().tally.sends.unsent += unsent as u64;
    }

    /// Nothing more comes: users leave once nothing waits.
    fn close(&self) {
        self.is_closed.set(true);
        while self.wake_one() {}
    }

    /// The next intended start; `None` once no more come.
    async fn next(&self, seat: &Rc<Seat>) -> Option<Instant> {
        poll_fn(|cx| {
            if seat.is_called.replace(false) {
                self.called.set(self.called.get() - 1);
            }
            if let Some(intended) = self.waiting.borrow_mut().pop_front() {
                return Poll::Ready(Some(intended));
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
}
