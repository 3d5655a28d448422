//! Instructions of processes as the processor counts them (perf_event_open): of all their threads, also later ones, and
//! of processes that they start later.
//!
//! If other programs shared a counter, the count is partial: a small gap is extrapolated, a large one makes the count
//! absent.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::{fs, io};

use derive_more::AddAssign;
use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter};
use tollgate_facts::results::{Counted, Instructions};

/// Smallest share of the time that a counter must have run for its count to be extrapolated: with less it would be an
/// estimate; 1 % is little compared with the band of "no toll".
const RUNNING_SHARE_MIN: f64 = 0.99;
/// Looks at the threads of a process, at most, until none began in between.
const LOOKS_MAX: u32 = 20;

/// The counters of one process.
type OfProcess = Mutex<Vec<Counter>>;

/// Permission to count instructions, and the open counters: one for each process, shared by all users, as a processor
/// has few.
#[derive(Debug)]
pub struct Counting {
    counted: Counted,
    lack: Option<Lack>,
    open: RefCell<HashMap<u32, Weak<OfProcess>>>,
}

/// Counters of processes; without processes there is no count. Clones share the counters.
#[derive(Debug, Clone, Default)]
pub struct Counters(Vec<Arc<OfProcess>>);

/// Instructions counted up to a time, or between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, AddAssign)]
pub struct Count {
    counted: u64,
    /// Time for which threads had a core.
    enabled_ns: u64,
    /// Part of that time in which the counter was running.
    running_ns: u64,
}

/// Reason why instructions are not counted, or not all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lack {
    /// The machine has no counter.
    #[error("this machine has no counter of instructions (a virtual machine has one only if its host gives it one)")]
    NoCounter,
    /// Forbidden by the kernel's setting, or by a container's filter.
    #[error("the kernel does not allow it ({})", setting(.0))]
    NotAllowed(Option<i64>),
    /// Kernel code is excluded by the kernel's setting.
    #[error("the kernel does not allow to count its own ({})", setting(.0))]
    KernelLeftOut(Option<i64>),
    /// Counting is allowed for our own processes, but not for this one.
    #[error("a process is another user's")]
    AnothersProcess,
    /// No such system call, or a container's filter hides it.
    #[error("this kernel has no perf_event_open")]
    NoCall,
    /// Too few files: each thread has a counter, and each counter is an open file.
    #[error("there are more threads than files may be open")]
    TooFewFiles,
    /// Another program uses the counters exclusively.
    #[error("another program has the counters to itself")]
    Busy,
    /// The threads changed between all looks.
    #[error("threads of a process begin and end too quickly")]
    Restless,
    /// Another system error.
    #[error("{0}")]
    Other(String),
}

impl Counting {
    /// Finds out what this machine has and allows.
    pub fn here() -> Counting {
        let (counted, lack) = countable();
        Counting { counted, lack, open: RefCell::default() }
    }

    /// Opens counters for all these processes; none if nothing can be counted.
    ///
    /// # Errors
    /// The reason why these cannot be counted, though others can.
    pub fn of(&self, processes: &[u32]) -> Result<Counters, Lack> {
        let processes: &[u32] = if self.counted == Counted::Nothing { &[] } else { processes };
        let counters = processes.iter().map(|process| self.of_one(*process, Hardware::INSTRUCTIONS));
        counters.collect::<Result<_, _>>().map(Counters).map_err(|lack| match lack {
            Lack::NotAllowed(_) => Lack::AnothersProcess,
            lack => lack,
        })
    }

    fn of_one(&self, process: u32, event: impl Event) -> Result<Arc<OfProcess>, Lack> {
        let mut open = self.open.borrow_mut();
        if let Some(known) = open.get(&process).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let counters = Arc::new(Mutex::new(of_process(&mut builder(event, self.counted), process)?));
        open.insert(process, Arc::downgrade(&counters));
        Ok(counters)
    }

    /// Returns the description for results.
    pub fn told(&self) -> Instructions {
        Instructions { counted: self.counted, reason: self.lack.as_ref().map(Lack::words), trials_shared: 0 }
    }
}

impl Counters {
    /// Returns the count since they were opened; ended processes keep their count.
    pub fn read(&self) -> Option<Count> {
        if self.0.is_empty() {
            return None;
        }
        let mut sum = Count::default();
        for counters in &self.0 {
            for counter in &mut *counters.lock().unwrap_or_else(PoisonError::into_inner) {
                let found = counter.read_full().ok()?;
                sum += Count {
                    counted: found.count(),
                    enabled_ns: found.time_enabled()?.as_nanos() as u64,
                    running_ns: found.time_running()?.as_nanos() as u64,
                };
            }
        }
        Some(sum)
    }
}

impl Count {
    /// Returns the count since `before`.
    pub fn since(self, before: Count) -> Count {
        Count {
            counted: self.counted.saturating_sub(before.counted),
            enabled_ns: self.enabled_ns.saturating_sub(before.enabled_ns),
            running_ns: self.running_ns.saturating_sub(before.running_ns),
        }
    }

    /// Returns the count for all of the time; absent if the counter was shared for more than 1 % of it.
    pub fn whole(self) -> Option<u64> {
        if self.running_ns >= self.enabled_ns {
            return Some(self.counted);
        }
        let share = self.running_ns as f64 / self.enabled_ns as f64;
        (share >= RUNNING_SHARE_MIN).then(|| (self.counted as f64 / share).round() as u64)
    }
}

impl Lack {
    fn of(error: &io::Error) -> Lack {
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => Lack::NoCounter,
            Some(libc::EACCES | libc::EPERM) => Lack::NotAllowed(paranoid()),
            Some(libc::ENOSYS) => Lack::NoCall,
            Some(libc::EMFILE | libc::ENFILE) => Lack::TooFewFiles,
            Some(libc::EBUSY) => Lack::Busy,
            _ => Lack::Other(error.to_string()),
        }
    }

    /// Returns the remedy, if there is one.
    pub fn mend(&self) -> Option<&'static str> {
        match self {
            Lack::NotAllowed(_) => Some(
                "`sysctl -w kernel.perf_event_paranoid=1`, or the capability CAP_PERFMON; the filter of a container \
                 (seccomp) must allow perf_event_open as well",
            ),
            Lack::KernelLeftOut(_) => Some("`sysctl -w kernel.perf_event_paranoid=1`, or the capability CAP_PERFMON"),
            Lack::AnothersProcess => Some("run it as that user, or with the capability CAP_PERFMON"),
            Lack::TooFewFiles => Some("`ulimit -n 65536`"),
            _ => None,
        }
    }

    /// Returns the reason and the remedy.
    pub fn words(&self) -> String {
        let mend = self.mend().map(|mend| format!("; what helps: {mend}"));
        std::iter::once(self.to_string()).chain(mend).collect()
    }
}

/// Finds out which instructions can be counted here, and why not all.
pub fn countable() -> (Counted, Option<Lack>) {
    widest(|counted| builder(Hardware::INSTRUCTIONS, counted).observe_self().build().map(drop))
}

/// Returns the most that can be counted, and why not more.
fn widest(open: impl Fn(Counted) -> io::Result<()>) -> (Counted, Option<Lack>) {
    let lack = |counted| open(counted).map_err(|error| Lack::of(&error));
    match lack(Counted::UserAndKernel) {
        Ok(()) => (Counted::UserAndKernel, None),
        Err(Lack::NotAllowed(paranoid)) => match lack(Counted::User) {
            Ok(()) => (Counted::User, Some(Lack::KernelLeftOut(paranoid))),
            Err(lack) => (Counted::Nothing, Some(lack)),
        },
        Err(lack) => (Counted::Nothing, Some(lack)),
    }
}

/// Creates a builder for one thread, with the threads and processes that it starts.
fn builder<'a>(event: impl Event, counted: Counted) -> Builder<'a> {
    let mut builder = Builder::new(event);
    builder.any_cpu().inherit(true).enabled(true);
    builder.exclude_kernel(counted != Counted::UserAndKernel);
    builder
}

/// Opens a counter for each existing thread.
fn of_process(builder: &mut Builder<'_>, process: u32) -> Result<Vec<Counter>, Lack> {
    for _ in 0..LOOKS_MAX {
        let before = threads(process)?;
        let mut counters = Vec::with_capacity(before.len());
        for thread in &before {
            match builder.observe_pid(*thread).build() {
                Ok(counter) => counters.push(counter),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(Lack::of(&error)),
            }
        }
        // One that began meanwhile is counted with the one that began it, or not: nobody can tell.
        if threads(process)? == before {
            return Ok(counters);
        }
    }
    Err(Lack::Restless)
}

fn threads(process: u32) -> Result<BTreeSet<libc::pid_t>, Lack> {
    let found = match fs::read_dir(format!("/proc/{process}/task")) {
        Ok(found) => found,
        // It ended since somebody saw it, and executes nothing any more.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(Lack::Other(error.to_string())),
    };
    Ok(found.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Reads the kernel's restriction: 2 excludes kernel code, 3 everything.
fn paranoid() -> Option<i64> {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

fn setting(paranoid: &Option<i64>) -> String {
    paranoid.map_or_else(|| "it does not say why".to_owned(), |is| format!("kernel.perf_event_paranoid is {is}"))
}

#[cfg(test)]
mod tests;
