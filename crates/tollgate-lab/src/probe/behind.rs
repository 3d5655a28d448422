//! Processes that work for a subject though they are not its own: programs behind a proxy, or a database.
//!
//! Found are those that its processes are connected to, and subjects of other variants that work while only this one is
//! asked. It looks from time to time, so a backend that is asked rarely and briefly may be missed. It does not see Unix
//! sockets, other network namespaces, or processes whose files it may not look into.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::cpu::CpuClocks;
use super::listener::{Listener, asked_by};
use super::process;
use super::watch::Extent;

/// Time between looks, at least.
const EVERY: Duration = Duration::from_millis(10);
/// The pause after a look is at least this many times its length.
const PAUSE_FACTOR: u32 = 20;
/// A process that is connected and uses a smaller share of the subject's CPU time changes no conclusion: pools keep their
/// connections.
const CONNECTED_SHARE_MIN: f64 = 0.1;
/// The same for another variant's subject without a connection: what it does by itself must not count,
const OTHER_SHARE_MIN: f64 = 0.5;
/// nor what is less than this share of a core.
const OTHER_CORE_SHARE_MIN: f64 = 0.1;

/// Looks in a thread of its own until it is ended.
#[derive(Debug)]
pub(crate) struct Behind {
    began: Instant,
    end: Sender<()>,
    thread: JoinHandle<BTreeMap<u32, Using>>,
    subject: Using,
    others: Vec<(u32, Using)>,
}

/// A process that works for the subject.
#[derive(Debug)]
pub(crate) struct Working {
    pub(crate) process: u32,
    pub(crate) name: String,
    /// Its CPU time by the subject's own.
    pub(crate) cpu_share: f64,
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

    fn of_process(process: u32) -> Option<Using> {
        Using::of(CpuClocks::new(&[process], Extent::Tree).ok()?)
    }

    fn used_ns(&self) -> Option<u64> {
        Some(self.clocks.read_ns()?.saturating_sub(self.since_ns))
    }
}

impl Behind {
    /// Begins to look for processes that work for the subject beside its own, with all that those started, and those that
    /// are known `beside` it. `others` are the subjects of all variants. Absent where the subject is not watched.
    pub(crate) fn begin<'c>(
        subject: &CpuClocks,
        beside: &CpuClocks,
        others: impl Iterator<Item = &'c CpuClocks>,
    ) -> Option<Behind> {
        let watched = [subject.roots(), beside.roots()].concat();
        let own = with_started(&watched);
        let mut roots: Vec<u32> = others.flat_map(CpuClocks::roots).filter(|process| !own.contains(process)).collect();
        roots.sort_unstable();
        roots.dedup();
        let others = roots.into_iter().filter_map(|process| Some((process, Using::of_process(process)?))).collect();
        let subject = Using::of(subject.clone())?;
        let (end, is_ended) = mpsc::channel();
        let look = move || {
            let mut found = BTreeMap::new();
            let mut pause = EVERY;
            while is_ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let began = Instant::now();
                for Listener { process, .. } in asked_by(&with_started(&watched)) {
                    if let (false, Some(using)) = (found.contains_key(&process), Using::of_process(process)) {
                        found.insert(process, using);
                    }
                }
                pause = EVERY.max(began.elapsed() * PAUSE_FACTOR);
            }
            found
        };
        let thread = std::thread::Builder::new().name("behind".to_owned()).spawn(look).ok()?;
        Some(Behind { began: Instant::now(), end, thread, subject, others })
    }

    /// Ends it and returns the processes that worked for the subject meanwhile. Those that are gone are left out.
    pub(crate) fn end(self) -> Vec<Working> {
        let elapsed_ns = self.began.elapsed().as_nanos() as f64;
        let subject_ns = self.subject.used_ns().map_or(f64::INFINITY, |ns| ns.max(1) as f64);
        drop(self.end);
        let connected = self.thread.join().unwrap_or_default();
        let used = |using: &Using| using.used_ns().unwrap_or(0) as f64;
        let is_working = |process: &u32, using: &Using| {
            works(connected.contains_key(process), used(using) / subject_ns, used(using) / elapsed_ns)
        };
        let others = self.others.iter().map(|(process, using)| (process, using));
        // Of those that are both, the others were watched for longer.
        let all: BTreeMap<&u32, &Using> = connected.iter().chain(others).collect();
        let working = all.into_iter().filter(|(process, using)| is_working(process, using));
        let working = working.filter_map(|(process, using)| {
            let name = process::stat(*process)?.name;
            Some(Working { process: *process, name, cpu_share: used(using) / subject_ns })
        });
        working.collect()
    }
}

/// Whether a process with this share of the subject's CPU time, and of a core, works for the subject.
fn works(is_connected: bool, share: f64, core_share: f64) -> bool {
    match is_connected {
        true => share >= CONNECTED_SHARE_MIN,
        false => share >= OTHER_SHARE_MIN && core_share >= OTHER_CORE_SHARE_MIN,
    }
}

/// These processes and all that they started.
fn with_started(processes: &[u32]) -> Vec<u32> {
    let roots = processes.iter().filter_map(|process| Some((*process, process::stat(*process)?)));
    process::with_descendants(roots.collect(), |_| true).into_iter().map(|(process, _)| process).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_alone_is_no_work_and_neither_is_what_a_subject_does_by_itself() {
        let check = |is_connected, share, core_share, expected| {
            assert_eq!(works(is_connected, share, core_share), expected, "{is_connected}, {share}, {core_share}");
        };
        check(true, 0.01, 0.5, false);
        check(true, 0.2, 0.01, true);
        check(false, 0.2, 0.5, false);
        check(false, 0.9, 0.05, false);
        check(false, 0.9, 0.5, true);
    }

    #[test]
    fn the_subject_does_not_work_for_itself() {
        let own = CpuClocks::new(&[std::process::id()], Extent::Tree).unwrap();
        let behind = Behind::begin(&own, &CpuClocks::default(), [own.clone()].iter()).unwrap();
        assert!(behind.end().iter().all(|working| working.process != std::process::id()));
    }

    #[test]
    fn nobody_works_for_a_subject_that_is_not_watched() {
        assert!(Behind::begin(&CpuClocks::default(), &CpuClocks::default(), [].iter()).is_none());
    }
}
