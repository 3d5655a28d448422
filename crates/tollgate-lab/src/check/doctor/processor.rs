//! Cores: enough for both sides, not shared, and with a constant clock rate.

use super::system::{Version, numbers};
use super::{Finding, System, Verdict};
use crate::cores::Cores;

/// With fewer, generator and subject have a core each, but the kernel's own work has none.
const CORES_ENOUGH: u64 = 4;

const CPU: &str = "/sys/devices/system/cpu";
/// Finding when the hypervisor controls the clock rate.
const NOT_CHOSEN: &str = "none: the clock is not this system's to choose";

pub(super) fn cores(system: &System) -> Option<Finding> {
    let usable = system.cores();
    let online = system.text(format!("{CPU}/online")).map_or(usable.len(), |list| numbers(&list).len());
    let found = format!("{} of {online} cores may be used", usable.len());
    let mend = if usable.len() < online {
        "start it without `taskset`, or give the container more cores (`--cpuset-cpus`)"
    } else {
        "a machine with at least 4 cores"
    };
    let verdict = Verdict::of(usable.len() as u64, 2, CORES_ENOUGH);
    let costs = verdict.costs(
        "the load generator and the subject take each other's time: response times and throughput are those of both together",
        "the load generator and the subject share all cores: only CPU time per request can be attributed to the subject",
    );
    (!usable.is_empty()).then(|| Finding::told(verdict, found, costs, mend))
}

/// Checks for a CPU quota, which stops every thread of the group for the rest of a period (100 ms) once it is used up.
pub(super) fn quota(system: &System) -> Option<Finding> {
    let quotas = system.control_groups("cpu").into_iter().filter_map(|(folder, version)| {
        let (quota, period) = match version {
            Version::Two => {
                let text = system.text(folder.join("cpu.max"))?;
                let (quota, period) = text.split_once(' ')?;
                (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
            }
            Version::One => {
                let read = |name: &str| system.text(folder.join(name))?.parse::<f64>().ok();
                (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
            }
        };
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    });
    let Some(quota) = quotas.reduce(f64::min) else { return Some(Finding::ok("none")) };
    let cores = system.cores().len();
    let found = format!("{quota:.1} cores' time for {cores} cores");
    let verdict = if quota < cores as f64 { Verdict::Bad } else { Verdict::Ok };
    let costs = "everything stands still for up to 100 ms once it is used up: high percentiles are those of the quota";
    let mend = "give the container whole cores (`--cpuset-cpus`) and no `--cpus`; of a unit of systemd: `CPUQuota=`";
    Some(Finding::told(verdict, found, costs, mend))
}

/// Checks for two threads of one core, which share its arithmetic units: each is slower while the other works.
pub(super) fn sibling_threads(system: &System) -> Option<Finding> {
    let sides = Cores::of(system.cores());
    let shared = sides.generator.iter().find_map(|core| {
        let list = system.text(format!("{CPU}/cpu{core}/topology/thread_siblings_list"))?;
        let sibling = numbers(&list).into_iter().find(|sibling| sides.subjects.contains(sibling))?;
        Some((*core, sibling))
    });
    let found = match shared {
        Some((generator, subject)) => {
            format!("{generator} of the generator and {subject} of the subject are threads of one core")
        }
        None => "generator and subject share no core".to_owned(),
    };
    let costs = "the subject is slower while the generator works: CPU time per request is too high, and varies";
    let mend = "echo off > /sys/devices/system/cpu/smt/control";
    Some(Finding::told(Verdict::warns_if(shared.is_some()), found, costs, mend))
}

pub(super) fn governor(system: &System) -> Option<Finding> {
    let of = |core| Some((core, system.text(format!("{CPU}/cpu{core}/cpufreq/scaling_governor"))?));
    let governors: Vec<(usize, String)> = system.cores().into_iter().filter_map(of).collect();
    let other = governors.iter().find(|(_, governor)| governor != "performance");
    let found = match other {
        Some((core, governor)) => format!("`{governor}` on core {core}"),
        None if governors.is_empty() => NOT_CHOSEN.to_owned(),
        None => "`performance`".to_owned(),
    };
    let costs = "the clock follows the load: CPU time per request falls as the load rises, whatever the subject does";
    let mend = "cpupower frequency-set -g performance";
    Some(Finding::told(Verdict::warns_if(other.is_some()), found, costs, mend))
}

pub(super) fn turbo(system: &System) -> Option<Finding> {
    let never = system.number(format!("{CPU}/intel_pstate/no_turbo"));
    let boost = system.number(format!("{CPU}/cpufreq/boost"));
    let (is_on, mend) = match (never, boost) {
        (Some(never), _) => (never == 0, "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"),
        (None, Some(boost)) => (boost != 0, "echo 0 > /sys/devices/system/cpu/cpufreq/boost"),
        (None, None) => return Some(Finding::ok(NOT_CHOSEN)),
    };
    let found = if is_on { "on" } else { "off" };
    let costs = "the clock depends on how many cores are busy and on how warm they are: intervals are wider";
    Some(Finding::told(Verdict::warns_if(is_on), found.to_owned(), costs, mend))
}

/// Checks whether the instructions of subjects can be counted: the machine needs counters and the kernel's permission.
pub(super) fn instructions(system: &System) -> Option<Finding> {
    let Some(lack) = &system.seen.uncounted else {
        return Some(Finding::ok("can be counted, the kernel's among them"));
    };
    let verdict = Verdict::warns_if(lack.mend().is_some());
    let found = format!("cannot be counted, or not all: {lack}");
    let costs = "a run has no tolls on instructions, or of the program's own alone";
    Some(Finding::told(verdict, found, costs, lack.mend().unwrap_or_default()))
}
