//! CPU use of a generator thread, from its schedstat: CPU time, and time in which it was ready but waited for a core. A
//! generator that waits measures itself.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use derive_more::AddAssign;

/// Probe of the thread that made it. Reading costs about 2 µs, so it is done around a trial, not in it.
#[derive(Debug)]
pub struct ThreadUse {
    schedstat: File,
}

/// Nanoseconds since the thread began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, AddAssign)]
pub struct Used {
    /// On a core.
    pub cpu_ns: u64,
    /// Ready, but not on a core.
    pub run_queue_ns: u64,
}

impl ThreadUse {
    /// Creates a probe of the calling thread.
    ///
    /// # Errors
    /// A missing file in /proc.
    pub fn of_this_thread() -> io::Result<ThreadUse> {
        Ok(ThreadUse { schedstat: File::open("/proc/thread-self/schedstat")? })
    }

    /// Reads its use so far; zeros if the kernel does not count.
    pub fn read(&self) -> Used {
        let mut buffer = [0_u8; 96];
        let length = self.schedstat.read_at(&mut buffer, 0).unwrap_or(0);
        parse(&buffer[..length]).unwrap_or_default()
    }
}

impl Used {
    /// Returns the use since `before`.
    pub fn since(self, before: Used) -> Used {
        Used {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            run_queue_ns: self.run_queue_ns.saturating_sub(before.run_queue_ns),
        }
    }
}

/// Use of several threads in the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadsUsed {
    /// Total time on a core: the cost of requests.
    pub cpu_ns: u64,
    /// Time on a core of the busiest thread, which shows whether a thread is the limit.
    pub busiest_cpu_ns: u64,
    /// Time ready but not on a core, of the thread that waited longest; not always the busiest.
    pub run_queue_max_ns: u64,
}

impl ThreadsUsed {
    /// Summarizes the use of these threads.
    pub fn of(threads: impl Iterator<Item = Used>) -> ThreadsUsed {
        threads.fold(ThreadsUsed::default(), |all, thread| ThreadsUsed {
            cpu_ns: all.cpu_ns + thread.cpu_ns,
            busiest_cpu_ns: all.busiest_cpu_ns.max(thread.cpu_ns),
            run_queue_max_ns: all.run_queue_max_ns.max(thread.run_queue_ns),
        })
    }
}

fn parse(text: &[u8]) -> Option<Used> {
    let mut numbers = std::str::from_utf8(text).ok()?.split_ascii_whitespace().map(str::parse);
    Some(Used { cpu_ns: numbers.next()?.ok()?, run_queue_ns: numbers.next()?.ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_gives_cpu_and_waiting() {
        assert_eq!(parse(b"123 45 6\n"), Some(Used { cpu_ns: 123, run_queue_ns: 45 }));
        assert_eq!(parse(b"123"), None);
    }

    #[test]
    fn threads_are_added_up_and_the_busiest_need_not_be_the_one_that_waits() {
        let threads = [(700, 10), (900, 0), (100, 400)].map(|(cpu_ns, run_queue_ns)| Used { cpu_ns, run_queue_ns });
        let expected = ThreadsUsed { cpu_ns: 1700, busiest_cpu_ns: 900, run_queue_max_ns: 400 };
        assert_eq!(ThreadsUsed::of(threads.into_iter()), expected);
    }

    #[test]
    fn a_thread_sees_its_own_work() {
        let watch = ThreadUse::of_this_thread().unwrap();
        let before = watch.read();
        // It ends only where work is seen.
        while watch.read().since(before).cpu_ns == 0 {
            std::hint::spin_loop();
        }
    }
}
