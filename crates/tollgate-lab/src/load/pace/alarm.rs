//! Alarm for thinking users of a worker: each waits until a moment of its own.
//!
//! The runtime's timers have whole milliseconds: users who think until the same one would send together. Here one pacer
//! keeps all moments. It does not know what users do before and after.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Instant;

use tokio::sync::{Notify, oneshot};
use tollgate_net::pacer::Pacer;

/// Alarm clock: rings for each waiting user, until it is closed.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    /// Waiting users, by moment and then by order of arrival.
    bells: RefCell<BTreeMap<(Instant, u64), oneshot::Sender<()>>>,
    came: Cell<u64>,
    is_closed: Cell<bool>,
    /// Notified when a moment is added that is earlier than all others.
    earlier: Notify,
}

impl Alarm {
    /// Waits until `moment`, while another task [runs](Alarm::run) it; `false` if it is closed before the waiter
    /// continues, even if it has rung.
    pub(crate) async fn until(&self, moment: Instant) -> bool {
        if self.is_closed.get() {
            return false;
        }
        let (bell, rang) = oneshot::channel();
        let own = (moment, self.came.replace(self.came.get() + 1));
        let is_first = {
            let mut bells = self.bells.borrow_mut();
            bells.insert(own, bell);
            bells.first_key_value().is_some_and(|(first, _)| *first == own)
        };
        if is_first {
            self.earlier.notify_one();
        }
        rang.await.is_ok() && !self.is_closed.get()
    }

    /// Rings whenever a user's moment has come.
    pub(crate) async fn run(&self, pacer: &mut Pacer) -> Infallible {
        loop {
            let next = self.bells.borrow().first_key_value().map(|((moment, _), _)| *moment);
            let Some(next) = next else {
                self.earlier.notified().await;
                continue;
            };
            tokio::select! {
                biased;
                () = pacer.until(next) => self.ring(Instant::now()),
                () = self.earlier.notified() => {}
            }
        }
    }

    /// Ends all waiting, now and later.
    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        self.bells.borrow_mut().clear();
    }

    fn ring(&self, now: Instant) {
        let mut bells = self.bells.borrow_mut();
        while let Some(first) = bells.first_entry().filter(|first| first.key().0 <= now) {
            // Whoever waited may be gone: a trial was cancelled.
            let _ = first.remove().send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Duration;

    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn whoever_waits_is_rung_for_and_never_early() {
        block_on(async {
            let (alarm, mut pacer) = (Alarm::default(), Pacer::new().unwrap());
            let (start, rung) = (Instant::now(), RefCell::new(Vec::new()));
            let wait = async |ms: u64| {
                let moment = start + Duration::from_millis(ms);
                assert!(alarm.until(moment).await);
                assert!(Instant::now() >= moment);
                rung.borrow_mut().push(ms);
            };
            tokio::select! {
                _ = alarm.run(&mut pacer) => {}
                _ = async { tokio::join!(wait(9), wait(3), wait(6), wait(3), wait(0)) } => {}
            }
            // Those whose moments have both come may go on in any order.
            rung.borrow_mut().sort_unstable();
            assert_eq!(*rung.borrow(), [0, 3, 3, 6, 9]);
        });
    }

    #[test]
    fn what_has_rung_and_is_closed_before_the_waiter_goes_on_is_closed() {
        block_on(async {
            let (alarm, now) = (Alarm::default(), Instant::now());
            let ring_and_close = async {
                alarm.ring(now);
                alarm.close();
            };
            let (rang, ()) = tokio::join!(alarm.until(now), ring_and_close);
            assert!(!rang);
        });
    }

    #[test]
    fn nobody_waits_for_what_is_closed() {
        block_on(async {
            let (alarm, mut pacer) = (Rc::new(Alarm::default()), Pacer::new().unwrap());
            let far = Instant::now() + Duration::from_secs(600);
            let close = async {
                tokio::task::yield_now().await;
                alarm.close();
            };
            tokio::select! {
                _ = alarm.run(&mut pacer) => {}
                (rang, ()) = async { tokio::join!(alarm.until(far), close) } => assert!(!rang),
            }
            assert!(!alarm.until(far).await);
        });
    }
}
