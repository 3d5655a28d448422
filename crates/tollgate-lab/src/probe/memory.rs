//! Resident memory and threads of processes, from /proc/PID/status.

use std::fs;

use super::process::number;
use tollgate_facts::results::Reading;

/// Values sampled of every subject with known processes, in the order of the report: field, size of its unit, name and
/// unit of the series.
const SAMPLED: &[(&str, f64, &str, &str)] =
    &[("VmRSS:", 1024.0, "subject-resident-memory", "bytes"), ("Threads:", 1.0, "subject-threads", "threads")];

/// Samples all values, each as the sum over the processes that have it; a process that has just ended does not.
pub(crate) fn sample(processes: &[u32]) -> Vec<Reading> {
    let status = |process: &u32| fs::read_to_string(format!("/proc/{process}/status")).ok();
    let statuses: Vec<String> = processes.iter().filter_map(status).collect();
    let of = |(field, one, name, unit): &(&str, f64, &'static str, &'static str)| {
        let values = statuses.iter().filter_map(|status| number(status, field).map(|value| value as f64));
        Some(Reading { name, unit, value: values.reduce(|sum, value| sum + value)? * one })
    };
    SAMPLED.iter().filter_map(of).collect()
}

/// Returns the peak resident memory of this process, in bytes.
pub(crate) fn most_of_own() -> Option<u64> {
    number(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:").map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_threads() {
        let found = sample(&[std::process::id()]);
        assert_eq!([found[0].name, found[1].name], ["subject-resident-memory", "subject-threads"]);
        assert!(found[0].value > 100_000.0 && found[1].value >= 1.0);
        assert_eq!(sample(&[]), []);
    }
}
