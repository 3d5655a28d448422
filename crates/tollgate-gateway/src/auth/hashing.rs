//! Threads that hash passwords, at a low priority: a flood of passwords takes few cores from those who are known.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::setpriority_process;
use tokio::sync::oneshot;

/// Niceness of the threads: a third of the time of a thread that serves, and as much as one that reads for long.
const NICENESS: i32 = 5;

/// Work for a thread.
type Job = Box<dyn FnOnce() + Send>;

/// The threads; they end when this is dropped.
#[derive(Debug)]
pub(super) struct Hashing {
    /// Absent where the system has no thread for it.
    jobs: Option<Sender<Job>>,
}

impl Hashing {
    /// Starts so many threads.
    pub(super) fn start(threads: u32) -> Hashing {
        let (jobs, taken) = channel::<Job>();
        let taken = Arc::new(Mutex::new(taken));
        let start = |number: &u32| {
            let taken = Arc::clone(&taken);
            let named = std::thread::Builder::new().name(format!("hash-{number}"));
            named.spawn(move || work(&taken)).is_ok()
        };
        let started = (0..threads).filter(start).count();
        Hashing { jobs: (started > 0).then_some(jobs) }
    }

    /// Has one of the threads do this; `None` if it panicked.
    pub(super) async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let Some(jobs) = &self.jobs else { return tokio::task::spawn_blocking(job).await.ok() };
        let (tell, told) = oneshot::channel();
        // Whoever went away meanwhile hears nothing, which is as good.
        let job = Box::new(move || drop(tell.send(job())));
        jobs.send(job).expect("the threads last as long as this");
        told.await.ok()
    }
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    // On Linux of this thread alone. Where it is refused, passwords are hashed like anything else.
    let _ = setpriority_process(None, NICENESS);
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // Told by the channel that is dropped.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn jobs_are_done_and_a_panic_ends_no_thread() {
        let hashing = Hashing::start(1);
        assert_eq!(hashing.run(|| panic!("a hash went wrong")).await, None::<()>);
        assert_eq!(hashing.run(|| 7).await, Some(7));
        let named = hashing.run(|| std::thread::current().name().map(str::to_owned)).await;
        assert_eq!(named.flatten().as_deref(), Some("hash-0"));
    }
}
