//! A deadline per exchange that costs next to nothing: one timer per connection, set anew only when it fires.
//!
//! While exchanges end in time the timer keeps an old deadline; firing then, it is moved to the current one. So the
//! runtime's timer wheel is touched once per timeout, not once per request.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::time::Sleep;

#[derive(Debug, Default)]
pub(super) struct Timeout {
    sleep: Option<Pin<Box<Sleep>>>,
    /// The task that the timer wakes.
    waker: Option<Waker>,
}

impl Timeout {
    /// Ready once `deadline` has passed; until then the task will be woken for it.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline.into())));
        let same_task = self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        // A deadline earlier than the timer's comes only from a shortened timeout.
        if same_task && !sleep.is_elapsed() && sleep.deadline().into_std() <= deadline {
            return Poll::Pending;
        }
        if sleep.deadline().into_std() != deadline {
            if sleep.is_elapsed() && Instant::now() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline.into());
        }
        self.waker = Some(cx.waker().clone());
        sleep.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_current_deadline_counts_and_not_the_one_the_timer_was_set_to() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut timeout = Timeout::default();
            let early = Instant::now();
            let late = early + Duration::from_millis(30);
            std::future::poll_fn(|cx| timeout.poll(cx, early)).await;
            std::future::poll_fn(|cx| timeout.poll(cx, late)).await;
            assert!(Instant::now() >= late);
            // Set far ahead once, a nearer deadline must still be met.
            let far = Instant::now() + Duration::from_secs(3600);
            std::future::poll_fn(|cx| {
                assert!(timeout.poll(cx, far).is_pending());
                Poll::Ready(())
            })
            .await;
            std::future::poll_fn(|cx| timeout.poll(cx, late)).await;
        });
    }
}
