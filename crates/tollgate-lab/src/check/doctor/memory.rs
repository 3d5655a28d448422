//! Free memory for generator and subjects.

use super::system::Version;
use super::{Finding, System, Verdict};
use crate::probe::process::number;

const MIB: u64 = 1 << 20;
/// Generator, gateway and backends at their largest level.
const FEWEST_BYTES: u64 = 512 * MIB;
/// In addition, a subject on a JVM, which takes up to 700 MB when warmed up.
const ENOUGH_BYTES: u64 = 2_048 * MIB;

pub(super) fn memory(system: &System) -> Option<Finding> {
    let available = number(&system.text("/proc/meminfo")?, "MemAvailable:")?.saturating_mul(1024);
    let limits = system.control_groups("memory").into_iter().filter_map(|(folder, version)| {
        let (limit, used) = match version {
            Version::Two => ("memory.max", "memory.current"),
            Version::One => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        };
        let limit = system.number(folder.join(limit))?;
        Some(limit.saturating_sub(system.number(folder.join(used)).unwrap_or(0)))
    });
    let limit = limits.min().filter(|limit| *limit < available);
    let left = limit.unwrap_or(available);
    let found = match limit {
        Some(limit) => format!("{} MiB are left of what the container may use", limit / MIB),
        None => format!("{} MiB are left", available / MIB),
    };
    let verdict = Verdict::of(left, FEWEST_BYTES, ENOUGH_BYTES);
    let costs = verdict.costs(
        "a run may be ended by the kernel, or meet pages that come from the disk",
        "subjects on a JVM may not have room beside the rest",
    );
    let mend = if limit.is_some() { "give the container more (`--memory`)" } else { "end what else holds memory" };
    Some(Finding::told(verdict, found, costs, mend))
}
