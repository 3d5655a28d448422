//! State of one process at one time, from /proc.
//!
//! It keeps no history: rates come from the watch.

use std::collections::HashMap;
use std::{fs, io};

use super::cpu::CpuClocks;
use super::system::TICK_NS;
use super::watch::Extent;

/// Processes of one tree, at most; those found last are left out.
pub const PROCESSES_MAX: usize = 1024;
/// Threads of one process whose context switches are counted; with more, the switches are absent.
pub(crate) const THREADS_MAX: usize = 4096;

/// Identity and CPU time of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    pub(crate) name: String,
    pub(super) state: char,
    pub(super) parent: u32,
    /// The leader of its process group.
    pub(crate) group: u32,
    /// User and system time of all its threads, in nanoseconds, to within [`TICK_NS`].
    pub(crate) cpu_ns: u64,
    /// CPU time of children that it has waited for, and of their children.
    pub(crate) children_ns: u64,
    /// Start time, in ticks since boot: unique together with the process id.
    pub(super) started_ticks: u64,
}

/// Identity, resources and use of a process so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) stat: Stat,
    pub(super) cpu_ns: Option<u64>,
    pub(super) resident_bytes: Option<u64>,
    pub(super) threads: Option<u64>,
    /// Context switches of each thread; the process's own file has only those of the first thread.
    pub(super) switches: Option<HashMap<u32, Switches>>,
    pub(super) descriptors: Option<u64>,
}

/// Context switches of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Switches {
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
}

impl Stat {
    /// Whether it has ended and waits for its parent.
    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Reads the process with this id.
pub(crate) fn stat(process: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The process that a thread belongs to; a process belongs to itself.
pub(super) fn group(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    number(&status, "Tgid:").and_then(|group| u32::try_from(group).ok())
}

/// Lists all processes that /proc shows.
///
/// # Errors
/// An unreadable /proc.
pub(crate) fn all() -> io::Result<impl Iterator<Item = (u32, Stat)>> {
    let numbers = fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(numbers.filter_map(|process| Some((process, stat(process)?))))
}

/// Adds all descendants for which `is_meant` holds. The lab itself is excluded: when one shell starts a server and the
/// lab, the lab is not part of the server.
pub(super) fn with_descendants(mut members: Vec<(u32, Stat)>, is_meant: impl Fn(&Stat) -> bool) -> Vec<(u32, Stat)> {
    let is_other = |process: u32| process != std::process::id();
    let all = all().into_iter().flatten().filter(|(process, stat)| is_other(*process) && is_meant(stat));
    let all: Vec<_> = all.collect();
    let mut next = 0;
    while next < members.len() && members.len() < PROCESSES_MAX {
        let parent = members[next].0;
        let is_new = |process: u32| members.iter().all(|(known, _)| *known != process);
        let children = all.iter().filter(|(process, stat)| stat.parent == parent && is_new(*process));
        let children: Vec<_> = children.cloned().collect();
        members.extend(children);
        next += 1;
    }
    members.truncate(PROCESSES_MAX);
    members
}

/// Reads the resources and use of a process; `None` once it is gone.
pub(super) fn look(process: u32, stat: Stat) -> Option<Found> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    Some(Found {
        stat,
        cpu_ns: CpuClocks::new(&[process], Extent::Alone).ok().and_then(|clocks| clocks.read_ns()),
        // A thread of the kernel has none.
        resident_bytes: number(&status, "VmRSS:").map(|kibibytes| kibibytes * 1024),
        threads: number(&status, "Threads:"),
        switches: switches(process),
        descriptors: descriptors(process),
    })
}

/// Counts its open file descriptors; `None` if they are not visible.
pub(super) fn descriptors(process: u32) -> Option<u64> {
    Some(fs::read_dir(format!("/proc/{process}/fd")).ok()?.count() as u64)
}

/// Reads the bytes that the interfaces of its network namespace received and sent.
pub(super) fn carried(process: u32) -> Option<(u64, u64)> {
    parse_interfaces(&fs::read_to_string(format!("/proc/{process}/net/dev")).ok()?)
}

fn switches(process: u32) -> Option<HashMap<u32, Switches>> {
    let mut threads = HashMap::new();
    for entry in fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten() {
        let Some(thread) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that ended just now is no error.
        let Ok(status) = fs::read_to_string(entry.path().join("status")) else { continue };
        threads.insert(thread, parse_switches(&status)?);
        if threads.len() > THREADS_MAX {
            return None;
        }
    }
    Some(threads)
}

fn parse_switches(status: &str) -> Option<Switches> {
    Some(Switches {
        voluntary: number(status, "voluntary_ctxt_switches:")?,
        involuntary: number(status, "nonvoluntary_ctxt_switches:")?,
    })
}

/// Returns the first number after `field` at the start of a line.
pub(crate) fn number(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Parses a `stat` file: the name may contain any character, even a closing bracket, but nothing after it does.
fn parse_stat(text: &str) -> Option<Stat> {
    let (before, after) = text.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    // The state is the third field of all.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Stat {
        name: name.to_owned(),
        state: fields.first()?.chars().next()?,
        parent: u32::try_from(field(4)?).ok()?,
        group: u32::try_from(field(5)?).ok()?,
        cpu_ns: (field(14)? + field(15)?) * TICK_NS,
        children_ns: (field(16)? + field(17)?) * TICK_NS,
        started_ticks: field(22)?,
    })
}

/// Parses lines of `name: received-bytes packets errs drop fifo frame compressed multicast sent-bytes …`, below two
/// header lines.
fn parse_interfaces(text: &str) -> Option<(u64, u64)> {
    let carried = |line: &str| {
        let mut counts = line.split_once(':')?.1.split_ascii_whitespace().map(|count| count.parse::<u64>().ok());
        Some((counts.next()??, counts.nth(7)??))
    };
    text.lines().filter_map(carried).reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_brackets_and_spaces() {
        let check = |text: &str, expected: Option<(&str, char, u32, u64)>| {
            let found = parse_stat(text);
            let times = |stat: &Stat| (stat.cpu_ns / TICK_NS, stat.children_ns / TICK_NS, stat.group);
            assert!(found.as_ref().is_none_or(|stat| times(stat) == (11, 15, 1)), "{text}");
            let found = found.as_ref().map(|stat| (stat.name.as_str(), stat.state, stat.parent, stat.started_ticks));
            assert_eq!(found, expected, "{text}");
        };
        let rest = "S 7 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 4711 9 10";
        check(&format!("42 (cat) {rest}"), Some(("cat", 'S', 7, 4711)));
        check(&format!("42 (a) Z 1 ((b) {rest}"), Some(("a) Z 1 ((b", 'S', 7, 4711)));
        check("42 (cat) S 7", None);
        check("42 cat S 7", None);
        check("", None);
    }

    #[test]
    fn bytes_of_all_interfaces_are_added_up() {
        let text = "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n\
                    \x20   lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n  eth0:2000 3 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n";
        assert_eq!(parse_interfaces(text), Some((2100, 600)));
        assert_eq!(parse_interfaces("Inter-| Receive\n"), None);
    }

    #[test]
    fn involuntary_switches_are_not_taken_for_voluntary_ones() {
        let status = "Threads:\t1\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(parse_switches(status), Some(Switches { voluntary: 5, involuntary: 3 }));
        assert_eq!(parse_switches("Threads:\t1\n"), None);
    }

    #[test]
    fn a_field_is_found_at_the_start_of_its_line_only() {
        let text = "Name:\tVmRSS: 3\nVmRSS:\t    1234 kB\nThreads:\t7\n";
        assert_eq!(number(text, "VmRSS:"), Some(1234));
        assert_eq!(number(text, "Threads:"), Some(7));
        assert_eq!(number(text, "VmSwap:"), None);
    }
}
