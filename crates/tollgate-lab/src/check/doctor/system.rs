//! The files of /proc and /sys that the checks read, below a root of one's choice, and what was seen over a while.
//!
//! It deliberately judges nothing; a file that is missing or strange is `None`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::cores::{Cores, pin};
use crate::probe::instructions::{Lack, countable};
use crate::probe::interface::all_of_kernel_network;
use crate::probe::system::Ticks;
use tollgate_facts::results::KernelNetwork;

/// So long the hypervisor is watched while all cores want to run, since it takes nothing from one that rests: a hundred
/// ticks of each, so that one in a hundred can be seen.
const BUSY: Duration = Duration::from_secs(1);
/// So long sleeps are watched, to see how late a core wakes.
const ASLEEP: Duration = Duration::from_secs(1);
/// Each sleep for so long.
const SLEEP: Duration = Duration::from_millis(1);
/// So much of a file is read: none of those that are looked at is larger.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A machine to look at.
#[derive(Debug, Clone)]
pub struct System {
    root: PathBuf,
    pub(super) seen: Seen,
}

/// What was seen of a machine over a while.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Share of the time of the cores that the hypervisor took, 0 to 1.
    pub steal_share: f64,
    /// By how much one sleep in a hundred was late.
    pub wake_late: Duration,
    /// What the kernel says by other ways than files of its interfaces.
    pub network: KernelNetwork,
    /// Why instructions cannot be counted, or not the kernel's; absent where all can.
    pub uncounted: Option<Lack>,
}

impl System {
    /// This machine, watched for two seconds.
    pub fn here() -> System {
        let (network, (_, uncounted)) = (all_of_kernel_network(), countable());
        System::below("/", Seen { steal_share: steal_share(), wake_late: wake_late(), network, uncounted })
    }

    /// A machine whose /proc and /sys stand below `root`, and what was seen of it.
    pub fn below(root: impl Into<PathBuf>, seen: Seen) -> System {
        System { root: root.into(), seen }
    }

    /// A file's text without the white space around it; `path` begins with `/`.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let file = self.root.join(path.as_ref().strip_prefix("/").ok()?);
        let mut text = String::new();
        fs::File::open(file).ok()?.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A file that is one number.
    pub(super) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// What stands behind `name` at the beginning of a line.
    pub(super) fn field(&self, path: &str, name: &str) -> Option<String> {
        let text = self.text(path)?;
        text.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned())
    }

    /// The cores that this process may use.
    pub(super) fn cores(&self) -> Vec<usize> {
        self.field("/proc/self/status", "Cpus_allowed_list:").map(|list| numbers(&list)).unwrap_or_default()
    }

    /// The folders of this process's control group, its own first and the root last, for a controller: of the one tree
    /// of version 2, or of the controller's own tree.
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

/// What the hypervisor takes from cores that all want to run.
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

/// By how much one sleep in a hundred is late.
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

/// A list such as `0-3,7`.
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
