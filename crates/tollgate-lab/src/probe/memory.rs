//! Resident memory and threads of processes, from /proc/PID/status.

use std::fs;

use tollgate_facts::results::Reading;

use super::Probe;

/// Resident memory, summed over the processes.
#[derive(Debug)]
pub struct Resident;

/// Threads, summed over the processes.
#[derive(Debug)]
pub struct Threads;

impl Probe for Resident {
    fn sample(&self, processes: &[u32]) -> Option<Reading> {
        let kibibytes = sum(processes, "VmRSS:")?;
        Some(Reading { name: "subject-resident-memory", unit: "bytes", value: kibibytes as f64 * 1024.0 })
    }
}

impl Probe for Threads {
    fn sample(&self, processes: &[u32]) -> Option<Reading> {
        Some(Reading { name: "subject-threads", unit: "threads", value: sum(processes, "Threads:")? as f64 })
    }
}

fn sum(processes: &[u32], field: &str) -> Option<u64> {
    if processes.is_empty() {
        return None;
    }
    processes.iter().map(|process| number(&fs::read_to_string(format!("/proc/{process}/status")).ok()?, field)).sum()
}

/// The first number behind `field` at the start of a line.
pub(crate) fn number(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_threads() {
        let own = [std::process::id()];
        assert!(Resident.sample(&own).unwrap().value > 100_000.0);
        assert!(Threads.sample(&own).unwrap().value >= 1.0);
        assert_eq!(Resident.sample(&[]), None);
    }

    #[test]
    fn a_field_is_found_at_the_start_of_its_line_only() {
        let text = "Name:\tVmRSS: 3\nVmRSS:\t    1234 kB\nThreads:\t7\n";
        assert_eq!(number(text, "VmRSS:"), Some(1234));
        assert_eq!(number(text, "Threads:"), Some(7));
        assert_eq!(number(text, "VmSwap:"), None);
    }
}
