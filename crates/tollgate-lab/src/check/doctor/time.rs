//! Time: steal by other guests, late wake-ups, other load, and the cost of reading the clock.

use std::time::Duration;

use super::{Finding, System, Verdict};
use crate::judge::bounds::STEAL_SHARE_MAX;

/// Share from which on a figure shows the hypervisor rather than the subject.
const STEAL_SHARE_BAD: f64 = 0.1;
/// A kernel timer is late by about 60 µs anyway, and a core of a dedicated machine wakes in less than 200 µs; a core of
/// a busy host was late by up to 550 µs.
const WAKE_LATE_MAX: Duration = Duration::from_millis(1);
/// Share of the cores that may be busy before a run.
const LOAD_SHARE_MAX: f64 = 0.25;
/// Clock sources that are read without a system call.
const CLOCKS_CHEAP: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];
/// The clock source that advances only a few hundred times a second.
const CLOCK_COARSE: &str = "jiffies";

pub(super) fn steal(system: &System) -> Option<Finding> {
    let share = system.seen.steal_share;
    let found = format!("{:.1} % of a second", share * 100.0);
    let verdict = if share < STEAL_SHARE_BAD { Verdict::warns_if(share > STEAL_SHARE_MAX) } else { Verdict::Bad };
    let costs =
        "the hypervisor gives the time to others: a run marks its figures, and high percentiles are those of the host";
    Some(Finding::told(verdict, found, costs, "run when the host is calmer, or on a machine of its own"))
}

pub(super) fn wake_up(system: &System) -> Option<Finding> {
    let late_ms = system.seen.wake_late.as_secs_f64() * 1e3;
    let found = format!("of sleeps of 1 ms one in a hundred ends {late_ms:.2} ms late or later");
    let costs =
        "whoever waits for an answer hears of it late: high percentiles of short answers are those of the machine";
    let mend = "if nothing else runs here, its cores rest too deeply, as those of virtual machines do. As root, in the shell that \
                starts the run: exec 9> /dev/cpu_dma_latency; echo 0 >&9 (none rests while it is open; this costs power, and a run \
                with it is not to be compared with one without)";
    Some(Finding::told(Verdict::warns_if(system.seen.wake_late > WAKE_LATE_MAX), found, costs, mend))
}

pub(super) fn load_average(system: &System) -> Option<Finding> {
    let load: f64 = system.text("/proc/loadavg")?.split(' ').next()?.parse().ok()?;
    let cores @ 1.. = system.cores().len() else { return None };
    let found = format!("{load:.2} in the last minute on {cores} cores");
    let is_high = load > LOAD_SHARE_MAX * cores as f64;
    let verdict = if load < cores as f64 { Verdict::warns_if(is_high) } else { Verdict::Bad };
    let costs = "something else is running: it takes time from generator and subject, and not from both alike";
    Some(Finding::told(verdict, found, costs, "look for it with `top`, and wait until it has ended"))
}

pub(super) fn clock_source(system: &System) -> Option<Finding> {
    const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";
    let clock = system.text(format!("{CLOCKS}/current_clocksource"))?;
    let available = system.text(format!("{CLOCKS}/available_clocksource")).unwrap_or_default();
    let better = CLOCKS_CHEAP.iter().find(|clock| available.split(' ').any(|name| name == **clock));
    let mend = match better {
        Some(better) => format!("echo {better} > {CLOCKS}/current_clocksource"),
        None => "the kernel's argument `tsc=reliable`, where the processor has a constant one".to_owned(),
    };
    let (verdict, costs) = match clock.as_str() {
        CLOCK_COARSE => (Verdict::Bad, "time moves in steps of milliseconds: no response time is true"),
        clock => (
            Verdict::warns_if(!CLOCKS_CHEAP.contains(&clock)),
            "each look at the time is a system call of about a microsecond, in the generator and in most subjects",
        ),
    };
    Some(Finding::told(verdict, format!("`{clock}`"), costs, mend))
}
