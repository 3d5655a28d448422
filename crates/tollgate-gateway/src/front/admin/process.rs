//! Resource use of this process: CPU time, memory, threads, open files. Linux reports it under `/proc`; elsewhere the
//! figures are absent.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Resource use of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Process {
    /// CPU time since its start, of all its threads.
    pub(super) cpu: Duration,
    /// Resident memory.
    pub(super) resident_bytes: Option<u64>,
    /// Threads.
    pub(super) threads: Option<u64>,
    /// Open files and sockets.
    pub(super) open_files: Option<u64>,
    /// Limit of open files.
    pub(super) open_files_max: Option<u64>,
}

impl Process {
    /// The current figures.
    pub(super) fn now() -> Process {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        Process {
            cpu: Duration::try_from(cpu).unwrap_or_default(),
            resident_bytes: number_after(&status, "VmRSS:").map(|kibibytes| kibibytes * 1024),
            threads: number_after(&status, "Threads:"),
            // One of them is the folder that is being read.
            open_files: fs::read_dir("/proc/self/fd").ok().map(|files| (files.count() as u64).saturating_sub(1)),
            open_files_max: number_after(&limits, "Max open files"),
        }
    }
}

/// The first number behind `name` at the start of a line.
fn number_after(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_their_names() {
        let text = "Name:\ttollgate\nVmRSS:\t   12345 kB\nThreads:\t7\nMax open files            1024                 524288               files\n";
        assert_eq!(number_after(text, "VmRSS:"), Some(12_345));
        assert_eq!(number_after(text, "Threads:"), Some(7));
        assert_eq!(number_after(text, "Max open files"), Some(1024));
        assert_eq!(number_after("Max open files            unlimited\n", "Max open files"), None);
    }

    #[test]
    fn this_very_process_has_threads_memory_and_files() {
        let process = Process::now();
        assert!(process.cpu > Duration::ZERO);
        assert!(process.threads > Some(0) && process.resident_bytes > Some(1 << 16) && process.open_files > Some(2));
    }
}
