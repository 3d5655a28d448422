//! Threads that want a core and do nothing with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use tollgate_lab::cores::Cores;

/// Burning threads, which end with their owner.
pub(crate) struct Burning {
    ending: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Burning {
    /// So many on any core.
    pub(crate) fn anywhere(count: usize) -> Burning {
        Burning::start(count, || None::<()>)
    }

    /// So many on the cores that the lab takes for its generator.
    pub(crate) fn beside_the_generator(count: usize) -> Burning {
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
