//! The files of /proc and /sys that the checks read, below any root folder, and observations over a while.
//!
//! It judges nothing; a missing or malformed file is `None`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::cores::{Cores, pin};
use crate::probe::instructions::{Lack, countable};
use crate::probe::interface::all_of_kernel_network;
use crate::probe::system::Ticks;
use tollgate_facts::results::KernelNetwork;

/// Time for which all cores are kept busy to see steal, since the hypervisor takes nothing from an idle core: a hundred
/// ticks of each, so that 1 % can be seen.
const BUSY: Duration = Duration::from_secs(1);
/// Time for which sleeps are observed, to see how late a core wakes.
const ASLEEP: Duration = Duration::from_secs(1);
/// Length of each sleep.
const SLEEP: Duration = Duration::from_millis(1);
/// Bytes read of a file; none of the files read is larger.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A machine to look at.
#[derive(Debug, Clone)]
pub struct System {
    root: PathBuf,
    pub(super) seen: Seen,
}

/// Observations of a machine over a while.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Share of the time of the cores that the hypervisor took, 0 to 1.
    pub steal_share: f64,
    /// Lateness of one sleep in a hundred.
    pub wake_late: Duration,
    /// TCP settings that the kernel reports by other ways than files.
    pub network: KernelNetwork,
    /// Reason why instructions, or only the kernel's, cannot be counted; absent if all can.
    pub uncounted: Option<Lack>,
}

impl System {
    /// Observes this machine for two seconds.
    pub fn here() -> System {
        let (network, (_, uncounted)) = (all_of_kernel_network(), countable());
        System::below("/", Seen { steal_share: steal_share(), wake_late: wake_late(), network, uncounted })
    }

    /// Creates a machine with /proc and /sys below `root`, and these observations.
    pub fn below(root: impl Into<PathBuf>, seen: Seen) -> System {
        System { root: root.into(), seen }
    }

    /// Reads a file's text without surrounding white space; `path` begins with `/`.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let file = self.root.join(path.as_ref().strip_prefix("/").ok()?);
        let mut text = String::new();
        fs::File::open(file).ok()?.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Reads a file that is one number.
    pub(super) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// Returns the text after `name` at the beginning of a line.
    pub(super) fn field(&self, path: &str, name: &str) -> Option<String> {
        let text = self.text(path)?;
        text.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned())
    }

    /// Returns the cores that this process may use.
    pub(super) fn cores(&self) -> Vec<usize> {
        self.field("/proc/self/status", "Cpus_allowed_list:").map(|list| numbers(&list)).unwrap_or_default()
    }

    /// Returns the folders of this process's control group for a controller, its own first and the root last: in the
    /// one tree of version 2, or in the controller's own tree.
    pub(super) fn control_groups(&self, controller: &str) -> Vec<(PathBuf, Version)> {
        // A container sees its own group as the root, or paths of its host that are not there: those say nothing.
        let folders = |line: &str| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let (mount, version) = match controllers {
                "" => ("/sys/fs/cgroup".to_owned(), Version::Two),
                own if own.split(',').any(|name| name == controller) => (format!("/sys/fs/cgroup/{own}"), Version::One),
                _ => return None,
            };
            let folder = |path: &Path| Path::new(&mount).join(path.strip_prefix("/").unwrap_or(path));
            Some(Path::new(path).ancestors().map(|path| (folder(path), version)).collect::<Vec<_>>())
        };
        self.text("/proc/self/cgroup").unwrap_or_default().lines().filter_map(folders).flatten().collect()
    }
}

/// Measures the share that the hypervisor takes while all cores are busy.
fn steal_share() -> f64 {
    let cores = Cores::divide().all;
    let before = Ticks::now(&cores);
    thread::scope(|scope| {
        for core in &cores {
            scope.spawn(|| {
                pin(&[*core]);
                let begun = Instant::now();
                while begun.elapsed() < BUSY {
                    std::hint::spin_loop();
                }
            });
        }
    });
    Ticks::now(&cores).since(before).steal_share()
}

/// Measures the lateness of one sleep in a hundred.
#[expect(clippy::disallowed_methods, reason = "how late a thread wakes is only known once it slept")]
fn wake_late() -> Duration {
    let begun = Instant::now();
    let mut late = Vec::new();
    while begun.elapsed() < ASLEEP {
        let asleep = Instant::now();
        thread::sleep(SLEEP);
        late.push(asleep.elapsed().saturating_sub(SLEEP));
    }
    late.sort_unstable();
    late[late.len() - 1 - late.len() / 100]
}

/// The two interfaces of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// Parses a list such as `0-3,7`.
pub(super) fn numbers(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
    };
    list.split(',').filter_map(range).flatten().take(rustix::thread::CpuSet::MAX_CPU).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_ranges_and_numbers() {
        let check = |list: &str, expected: &[usize]| assert_eq!(numbers(list), expected, "{list}");
        check("0-3,7", &[0, 1, 2, 3, 7]);
        check("5", &[5]);
        check("", &[]);
        check("3-1,x,2", &[2]);
        assert_eq!(numbers("0-18446744073709551615").len(), rustix::thread::CpuSet::MAX_CPU);
    }

    #[test]
    fn this_machine_tells_its_cores() {
        assert_eq!(System::below("/", Seen::default()).cores(), Cores::divide().all);
    }
}
