//! Waiting until stated moments, many at a time: one task looks after the earliest and spins its last milliseconds, since
//! the runtime's timers are up to 2 ms late.
//!
//! Never early, and late only by as long as the thread has no core or is about other requests.

use std::cell::{Cell, RefCell};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The rest of a wait when the timer hands over to spinning.
const SPIN: Duration = Duration::from_millis(3);

/// The deadlines of one thread.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    waiting: RefCell<BinaryHeap<Reverse<Waiting>>>,
    earlier: Notify,
    is_looked_after: Cell<bool>,
    count: Cell<u64>,
}

#[derive(Debug)]
struct Waiting {
    deadline: Instant,
    /// Order of arrival, in which those that wait for the same moment are served.
    number: u64,
    seat: Rc<Seat>,
}

#[derive(Debug, Default)]
struct Seat {
    is_due: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Deadlines {
    /// Returns at `deadline`, never before.
    pub(crate) async fn until(self: &Rc<Self>, deadline: Instant) {
        if Instant::now() >= deadline {
            return;
        }
        if !self.is_looked_after.replace(true) {
            tokio::task::spawn_local(Rc::clone(self).look_after());
        }
        let seat = Rc::new(Seat::default());
        let is_first = self.waiting.borrow().peek().is_none_or(|Reverse(first)| deadline < first.deadline);
        let number = self.count.replace(self.count.get() + 1);
        self.waiting.borrow_mut().push(Reverse(Waiting { deadline, number, seat: Rc::clone(&seat) }));
        if is_first {
            self.earlier.notify_one();
        }
        poll_fn(|cx| {
            if seat.is_due.get() {
                return Poll::Ready(());
            }
            *seat.waker.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    async fn look_after(self: Rc<Self>) {
        loop {
            let next = self.waiting.borrow().peek().map(|Reverse(first)| first.deadline);
            let Some(deadline) = next else {
                self.earlier.notified().await;
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.call_first();
            } else if left <= SPIN {
                // Gives way to whatever came in meanwhile.
                tokio::task::yield_now().await;
            } else {
                tokio::select! {
                    () = tokio::time::sleep(left - SPIN) => {}
                    () = self.earlier.notified() => {}
                }
            }
        }
    }

    fn call_first(&self) {
        let Some(Reverse(first)) = self.waiting.borrow_mut().pop() else { return };
        first.seat.is_due.set(true);
        if let Some(waker) = first.seat.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        (self.deadline, self.number).cmp(&(other.deadline, other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_return_and_none_early() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let deadlines = Rc::new(Deadlines::default());
            let start = Instant::now();
            let mut tasks = Vec::new();
            // The first waits long enough to sleep; the others come while it does.
            for ms in [9, 2, 5, 1, 5] {
                let deadlines = Rc::clone(&deadlines);
                tasks.push(tokio::task::spawn_local(async move {
                    let deadline = start + Duration::from_millis(ms);
                    deadlines.until(deadline).await;
                    assert!(Instant::now() >= deadline);
                }));
                tokio::task::yield_now().await;
            }
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
}
