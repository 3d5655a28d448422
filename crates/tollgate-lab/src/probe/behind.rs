//! Processes that work for a subject: programs behind a proxy, or a database, that its own processes are connected to.
//!
//! It looks from time to time, so a backend that is asked rarely and briefly may be missed. It does not see Unix sockets,
//! or processes whose files it may not look into.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::cpu::CpuClocks;
use super::listener::{Listener, asked_by};
use super::process;
use super::watch::Extent;

/// Time between looks, at least. A look takes some milliseconds on a machine with many processes.
const EVERY: Duration = Duration::from_millis(50);
/// A look may take this share of the time at most.
const LOOKING_SHARE_MAX: u32 = 20;

/// Looks in a thread of its own until it is ended.
#[derive(Debug)]
pub(crate) struct Behind {
    end: Sender<()>,
    thread: JoinHandle<BTreeMap<u32, (String, Using)>>,
    subject: Using,
}

/// CPU time of processes since a moment.
#[derive(Debug)]
struct Using {
    clocks: CpuClocks,
    since_ns: u64,
}

impl Using {
    fn of(clocks: CpuClocks) -> Option<Using> {
        let since_ns = clocks.read_ns()?;
        Some(Using { clocks, since_ns })
    }

    fn used_ns(&self) -> Option<u64> {
        Some(self.clocks.read_ns()?.saturating_sub(self.since_ns))
    }
}

impl Behind {
    /// Begins to look for processes that the subject and all that it started are connected to, or those that are known
    /// `beside` it. Absent where the subject is not watched.
    pub(crate) fn begin(subject: &CpuClocks, beside: &CpuClocks) -> Option<Behind> {
        let watched = [subject.roots(), beside.roots()].concat();
        let subject = Using::of(subject.clone())?;
        let (end, is_ended) = mpsc::channel();
        let look = move || {
            let mut found = BTreeMap::new();
            let mut pause = EVERY;
            while is_ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let began = Instant::now();
                let roots = watched.iter().filter_map(|process| Some((*process, process::stat(*process)?)));
                let all = process::with_descendants(roots.collect(), |_| true);
                let all: Vec<u32> = all.into_iter().map(|(process, _)| process).collect();
                for Listener { process, name } in asked_by(&all) {
                    let clocks = || CpuClocks::new(&[process], Extent::Tree).ok();
                    if let (false, Some(using)) = (found.contains_key(&process), clocks().and_then(Using::of)) {
                        found.insert(process, (name, using));
                    }
                }
                pause = EVERY.max(began.elapsed() * LOOKING_SHARE_MAX);
            }
            found
        };
        let thread = std::thread::Builder::new().name("behind".to_owned()).spawn(look).ok()?;
        Some(Behind { end, thread, subject })
    }

    /// Ends it and returns the processes that it saw: number, name, and CPU time by the subject's since they were seen.
    /// Those that are gone are left out.
    pub(crate) fn end(self) -> Vec<(u32, String, f64)> {
        let subject_ns = self.subject.used_ns();
        drop(self.end);
        let found = self.thread.join().unwrap_or_default();
        let share = |using: &Using| Some(using.used_ns()? as f64 / subject_ns?.max(1) as f64);
        found.into_iter().filter_map(|(process, (name, using))| Some((process, name, share(&using)?))).collect()
    }
}
