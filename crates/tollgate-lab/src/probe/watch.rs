//! Watch of any process of this machine, with its descendants if wanted: each look shows its use since the previous
//! one.
//!
//! If a process of a tree begins and ends between two looks, its time comes from its parent's account, once the parent
//! has waited for it. Time of processes that nobody waited for is not estimated, and the watch does not wait between
//! looks.

mod ended;

use std::collections::BTreeMap;
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::Serialize;

use super::process::{self, Found, Stat, Switches};
pub(super) use ended::Ended;
pub use process::PROCESSES_MAX;

/// Processes to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// Only the process.
    #[default]
    Alone,
    /// The process and all its descendants.
    Tree,
}

/// Network traffic to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// None.
    Unwatched,
    /// Traffic of the interfaces in its network namespace, as the kernel does not count it by process.
    OfNamespace,
}

/// A process under watch.
#[derive(Debug)]
pub struct Watch {
    process: u32,
    /// Name of the process.
    pub name: String,
    started_ticks: u64,
    extent: Extent,
    network: Network,
    began: Instant,
    last: Instant,
    carried: Option<(u64, u64)>,
    /// Findings of the last look, by process id.
    known: BTreeMap<u32, Found>,
    ended: Ended,
}

/// Findings of one look. Unknown values are absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Look {
    /// Seconds since the watch began.
    pub at_s: f64,
    /// Seconds since the last look, the span of all rates.
    pub span_s: f64,
    /// Number of processes.
    pub processes: usize,
    /// CPU time per wall time: 1 is one core.
    pub cpu_cores: Option<f64>,
    /// Resident memory; shared memory is counted in each process.
    pub resident_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
    /// Context switches per second of threads that waited.
    pub voluntary_switches_per_s: Option<f64>,
    /// Context switches per second of threads that lost their core.
    pub involuntary_switches_per_s: Option<f64>,
    /// Open file descriptors.
    pub descriptors: Option<u64>,
    /// Bytes received per second.
    pub received_bytes_per_s: Option<f64>,
    /// Bytes sent per second.
    pub sent_bytes_per_s: Option<f64>,
}

/// One figure of a look.
type Figure = fn(&Look) -> Option<f64>;

/// All figures, in order, by name in the JSON of a look.
pub const COLUMNS: &[(&str, Figure)] = &[
    ("processes", |look| Some(look.processes as f64)),
    ("cpu_cores", |look| look.cpu_cores),
    ("resident_bytes", |look| look.resident_bytes.map(|bytes| bytes as f64)),
    ("threads", |look| look.threads.map(|threads| threads as f64)),
    ("voluntary_switches_per_s", |look| look.voluntary_switches_per_s),
    ("involuntary_switches_per_s", |look| look.involuntary_switches_per_s),
    ("descriptors", |look| look.descriptors.map(|open| open as f64)),
    ("received_bytes_per_s", |look| look.received_bytes_per_s),
    ("sent_bytes_per_s", |look| look.sent_bytes_per_s),
];

/// Mean and maximum of one figure over all looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Total {
    /// The figure's name.
    pub name: &'static str,
    /// Mean over time.
    pub mean: f64,
    /// Largest value of a look.
    pub max: f64,
    /// Number of looks with a value.
    pub n: u64,
}

/// Summary of all looks in little memory: for each figure its sum over time, that time, the largest value, and the
/// number of looks. No value is below 0.
#[derive(Debug, Clone, Default)]
pub struct Totals([(f64, f64, f64, u64); COLUMNS.len()]);

impl Totals {
    /// Adds a look.
    pub fn add(&mut self, look: &Look) {
        for ((_, figure), (sum, span, max, n)) in COLUMNS.iter().zip(&mut self.0) {
            let Some(value) = figure(look) else { continue };
            *sum += value * look.span_s;
            *span += look.span_s;
            *max = max.max(value);
            *n += 1;
        }
    }

    /// Returns the figures with values, in the order of [`COLUMNS`].
    pub fn all(&self) -> Vec<Total> {
        let total = |((name, _), (sum, span, max, n)): (&(&'static str, Figure), &(f64, f64, f64, u64))| {
            (*n > 0 && *span > 0.0).then(|| Total { name, mean: sum / span, max: *max, n: *n })
        };
        COLUMNS.iter().zip(&self.0).filter_map(total).collect()
    }
}

/// Reason why a process cannot be watched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// No process has the id.
    #[error("there is no process {0}: it has ended, or its number is another")]
    Gone(u32),
    /// It exists, but /proc shows it only to other users.
    #[error(
        "process {0} is another user's, and this machine hides it (/proc is mounted with hidepid): watch it as that user or \
         as root"
    )]
    Hidden(u32),
    /// It has ended, but its parent has not waited for it.
    #[error("process {process} has ended already; only its parent, process {parent}, has not asked how")]
    Zombie {
        /// The process.
        process: u32,
        /// Its parent.
        parent: u32,
    },
    /// The id is that of a thread.
    #[error("{thread} is a thread of process {of}: watch that one")]
    Thread {
        /// The thread.
        thread: u32,
        /// The process of the thread.
        of: u32,
    },
}

impl Watch {
    /// Begins a watch.
    ///
    /// # Errors
    /// The reason why the process cannot be watched.
    pub fn begin(process: u32, extent: Extent, network: Network) -> Result<Watch, WatchError> {
        let Some(stat) = process::stat(process) else {
            let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
            // Without a signal, this only asks whether it is there.
            return match pid.map(test_kill_process) {
                Some(Ok(()) | Err(Errno::PERM)) => Err(WatchError::Hidden(process)),
                _ => Err(WatchError::Gone(process)),
            };
        };
        if let Some(of) = process::group(process).filter(|of| *of != process) {
            return Err(WatchError::Thread { thread: process, of });
        }
        if stat.is_ended() {
            return Err(WatchError::Zombie { process, parent: stat.parent });
        }
        let now = Instant::now();
        let mut watch = Watch {
            process,
            name: stat.name,
            started_ticks: stat.started_ticks,
            extent,
            network,
            began: now,
            last: now,
            carried: None,
            known: BTreeMap::new(),
            ended: Ended::default(),
        };
        // The first look only notes what was used before.
        watch.look().ok_or(WatchError::Gone(process))?;
        Ok(watch)
    }

    /// Returns notes about missing or shared figures, with the reasons.
    pub fn notes(&self) -> Vec<String> {
        let process = self.process;
        let files = process::descriptors(process).is_none().then(|| {
            format!("which files process {process} has open is shown only to its user and to root: run as one of them")
        });
        let network = (self.network == Network::OfNamespace).then(|| match process::carried(process) {
            Some(_) => "in, out: all that the interfaces of its network namespace carry, loopback among them, other \
                        processes' as well"
                .to_owned(),
            None => "what its network carries is not shown to this user".to_owned(),
        });
        files.into_iter().chain(network).collect()
    }

    /// Looks at the current state, and the use since the last look; `None` once the process has ended.
    pub fn look(&mut self) -> Option<Look> {
        let members = self.members()?;
        let now = Instant::now();
        let span_s = now.duration_since(self.last).as_secs_f64();
        // One that ends in between belongs to the next look, which misses it.
        let found = members.into_iter().filter_map(|(process, stat)| Some((process, process::look(process, stat)?)));
        let mut found: BTreeMap<u32, Found> = found.collect();
        if !found.contains_key(&self.process) {
            return None;
        }
        let mut look = Look::of(&found, &self.known, span_s);
        if self.extent == Extent::Tree {
            let waited_for = self.ended.since(&mut self.known, &mut found);
            look.cpu_cores = look.cpu_cores.map(|cores| cores + rate(waited_for, span_s) / 1e9);
        }
        self.known = found;
        self.last = now;
        let carried = match self.network {
            Network::Unwatched => None,
            Network::OfNamespace => process::carried(self.process),
        };
        let before = std::mem::replace(&mut self.carried, carried);
        let moved = |of: fn((u64, u64)) -> u64| Some(rate(of(carried?).saturating_sub(of(before?)), span_s));
        Some(Look {
            at_s: now.duration_since(self.began).as_secs_f64(),
            processes: self.known.len(),
            received_bytes_per_s: moved(|(received, _)| received),
            sent_bytes_per_s: moved(|(_, sent)| sent),
            ..look
        })
    }

    /// Returns the process and, if wanted, its descendants; `None` once it has ended.
    fn members(&self) -> Option<Vec<(u32, Stat)>> {
        let own = process::stat(self.process)?;
        // The number may have gone to another one since.
        if own.is_ended() || own.started_ticks != self.started_ticks {
            return None;
        }
        let own = vec![(self.process, own)];
        Some(match self.extent {
            Extent::Alone => own,
            Extent::Tree => process::with_descendants(own, |stat| !stat.is_ended()),
        })
    }
}

impl Look {
    /// Computes a look from the current and the previous findings of each process; what began in between counts from
    /// its beginning. A figure that any process lacks is absent. The caller fills in the time, the number of processes
    /// and the network.
    fn of(found: &BTreeMap<u32, Found>, known: &BTreeMap<u32, Found>, span_s: f64) -> Look {
        let sum = |of: fn(&Found) -> Option<u64>| found.values().map(of).sum::<Option<u64>>();
        let used = |(process, now): (&u32, &Found)| {
            let before = same(known, *process, now).and_then(|before| before.cpu_ns);
            Some(now.cpu_ns?.saturating_sub(before.unwrap_or(0)))
        };
        let switched = |of: fn(&Switches) -> u64| {
            let of_process = |(process, now): (&u32, &Found)| {
                let before = same(known, *process, now).and_then(|before| before.switches.as_ref());
                let before = |thread| before.and_then(|threads| threads.get(thread)).map_or(0, of);
                let threads = now.switches.as_ref()?.iter();
                Some(threads.map(|(thread, now)| of(now).saturating_sub(before(thread))).sum::<u64>())
            };
            Some(rate(found.iter().map(of_process).sum::<Option<u64>>()?, span_s))
        };
        Look {
            span_s,
            cpu_cores: found.iter().map(used).sum::<Option<u64>>().map(|used_ns| rate(used_ns, span_s) / 1e9),
            resident_bytes: sum(|found| found.resident_bytes),
            threads: sum(|found| found.threads),
            voluntary_switches_per_s: switched(|switches| switches.voluntary),
            involuntary_switches_per_s: switched(|switches| switches.involuntary),
            descriptors: sum(|found| found.descriptors),
            ..Look::default()
        }
    }
}

/// Returns the previous finding of a process, unless its id belonged to another one.
pub(super) fn same<'k>(known: &'k BTreeMap<u32, Found>, process: u32, now: &Found) -> Option<&'k Found> {
    known.get(&process).filter(|known| known.stat.started_ticks == now.stat.started_ticks)
}

/// Returns the amount per second.
fn rate(amount: u64, span_s: f64) -> f64 {
    if span_s > 0.0 { amount as f64 / span_s } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> u32 {
        std::process::id()
    }

    #[test]
    fn a_process_is_seen_to_work() {
        let mut watch = Watch::begin(own(), Extent::Alone, Network::OfNamespace).unwrap();
        let first = watch.look().unwrap();
        assert!(first.processes == 1 && first.threads.unwrap() >= 1 && first.descriptors.unwrap() >= 3, "{first:?}");
        assert!(first.resident_bytes.unwrap() > 100_000);
        let mut used = 0.0;
        while used < 0.002 {
            let look = watch.look().unwrap();
            used += look.cpu_cores.unwrap() * look.span_s;
        }
    }

    #[test]
    fn children_are_seen_only_where_they_are_wanted_and_the_end_of_the_watched_one_is() {
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let processes = |extent| Watch::begin(own(), extent, Network::Unwatched).unwrap().look().unwrap().processes;
        assert_eq!(processes(Extent::Alone), 1);
        assert!(processes(Extent::Tree) >= 2);

        let mut watch = Watch::begin(child.id(), Extent::Tree, Network::Unwatched).unwrap();
        assert_eq!(watch.name, "cat");
        let look = watch.look().unwrap();
        assert_eq!((look.processes, look.threads, look.received_bytes_per_s), (1, Some(1), None));
        drop(child.stdin.take());
        // Not asked how it ended: until then it is there, as a zombie.
        while watch.look().is_some() {}
        let error = Watch::begin(child.id(), Extent::Alone, Network::Unwatched).unwrap_err();
        assert_eq!(error, WatchError::Zombie { process: child.id(), parent: own() });
        child.wait().unwrap();
        let error = Watch::begin(child.id(), Extent::Alone, Network::Unwatched).unwrap_err();
        assert_eq!(error, WatchError::Gone(child.id()));
        assert_eq!(
            error.to_string(),
            format!("there is no process {}: it has ended, or its number is another", child.id())
        );
    }

    #[test]
    fn a_thread_is_no_process() {
        let (told, number) = std::sync::mpsc::channel();
        let (ending, end) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            told.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
            let _ = end.recv();
        });
        let number = number.recv().unwrap();
        let error = Watch::begin(number, Extent::Alone, Network::Unwatched).unwrap_err();
        drop(ending);
        thread.join().unwrap();
        assert_eq!(error, WatchError::Thread { thread: number, of: own() });
    }

    #[test]
    fn a_mean_is_over_time_and_what_is_not_told_is_in_no_total() {
        let look = |span_s, cpu_cores| Look {
            at_s: 0.0,
            span_s,
            processes: 1,
            cpu_cores: Some(cpu_cores),
            resident_bytes: None,
            threads: None,
            voluntary_switches_per_s: None,
            involuntary_switches_per_s: None,
            descriptors: None,
            received_bytes_per_s: None,
            sent_bytes_per_s: None,
        };
        let mut totals = Totals::default();
        assert!(totals.all().is_empty());
        totals.add(&look(1.0, 2.0));
        totals.add(&look(3.0, 1.0));
        let cpu = Total { name: "cpu_cores", mean: 1.25, max: 2.0, n: 2 };
        assert_eq!(totals.all(), [Total { name: "processes", mean: 1.0, max: 1.0, n: 2 }, cpu]);
    }

    #[test]
    fn what_a_child_used_since_it_began_counts_and_what_was_used_before_the_first_look_does_not() {
        let found = |started_ticks: u64, cpu_ns: u64, threads: &[(u32, u64)]| Found {
            stat: Stat { started_ticks, ..Stat::default() },
            cpu_ns: Some(cpu_ns),
            resident_bytes: Some(1),
            threads: Some(1),
            switches: Some(
                threads
                    .iter()
                    .map(|(thread, voluntary)| (*thread, Switches { voluntary: *voluntary, involuntary: 0 }))
                    .collect(),
            ),
            descriptors: None,
        };
        let before = BTreeMap::from([(10, found(1, 100, &[(1, 10), (2, 7)])), (11, found(2, 500, &[(9, 50)]))]);
        let now = BTreeMap::from([(10, found(1, 130, &[(1, 15), (3, 2)])), (11, found(3, 40, &[(9, 1)]))]);
        let look = Look::of(&now, &before, 1.0);
        assert_eq!((look.cpu_cores, look.voluntary_switches_per_s, look.descriptors), (Some(70e-9), Some(8.0), None));
        let watch = Watch::begin(own(), Extent::Alone, Network::Unwatched).unwrap();
        assert!(watch.known[&own()].cpu_ns.unwrap() > 0, "the first look notes what was used before it");
    }
}
