//! Threads that want a core and do nothing with it, while no other test measures.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;

use tollgate_lab::cores::Cores;

use crate::server::{Answering, Server};

/// Held for reading by each test that has a server, and for writing by one that burns.
static MEASURING: RwLock<()> = RwLock::new(());

/// While this is held no other test burns. A thread may hold one at a time.
pub(crate) type Measuring = RwLockReadGuard<'static, ()>;

/// Waits until no other test burns.
pub(crate) fn measuring() -> Measuring {
    MEASURING.read().unwrap_or_else(PoisonError::into_inner)
}

/// While this is held no other test measures.
pub(crate) struct Alone(#[expect(dead_code, reason = "is held")] RwLockWriteGuard<'static, ()>);

impl Alone {
    /// Waits until all others are through.
    pub(crate) fn wait() -> Alone {
        Alone(MEASURING.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Its server.
    pub(crate) fn server(&self, answering: Answering) -> Server {
        Server::unguarded(answering)
    }
}

/// Burning threads, which end with their owner.
pub(crate) struct Burning {
    ending: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Burning {
    /// This number on any core.
    pub(crate) fn anywhere(_: &Alone, count: usize) -> Burning {
        Burning::start(count, || None::<()>)
    }

    /// This number on the cores that the lab takes for its generator.
    pub(crate) fn beside_the_generator(_: &Alone, count: usize) -> Burning {
        Burning::start(count, || Some(Cores::divide().pin_to_generator()))
    }

    fn start<P>(count: usize, pin: fn() -> Option<P>) -> Burning
    where
        P: 'static,
    {
        let ending = Arc::new(AtomicBool::new(false));
        let burn = || {
            let ended = Arc::clone(&ending);
            std::thread::spawn(move || {
                let _pinned = pin();
                while !ended.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..count).map(|_| burn()).collect();
        Burning { ending, threads }
    }
}

impl Drop for Burning {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}
