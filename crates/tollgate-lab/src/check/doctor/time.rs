//! Who else takes the time, how late it is given back, and whether reading it is cheap.

use std::time::Duration;

use super::{Diagnosis, System, Verdict};
use crate::judge::STEAL_SHARE_MAX;

/// From this share on the hypervisor, not the subject, is what is measured.
const STEAL_SHARE_BAD: f64 = 0.1;
/// A timer of the kernel is late by some 60 us as it is, and a core of a machine of its own wakes in less than 200; one
/// of a busy host that does not rest was late by up to 550.
const WAKE_LATE_MAX: Duration = Duration::from_millis(1);
/// Share of the cores that may be busy before a run.
const LOAD_SHARE_MAX: f64 = 0.25;
/// Sources of time that are read without a system call.
const CLOCKS_CHEAP: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];
/// The one that moves a few hundred times a second only.
const CLOCK_COARSE: &str = "jiffies";

pub(super) fn steal(system: &System) -> Diagnosis {
    let share = system.seen.steal_share;
    let found = format!("{:.1} % of a second", share * 100.0);
    if share <= STEAL_SHARE_MAX {
        return Diagnosis::ok(found);
    }
    let verdict = if share < STEAL_SHARE_BAD { Verdict::Warns } else { Verdict::Bad };
    let costs =
        "the hypervisor gives the time to others: a run marks its figures, and high percentiles are those of the host";
    Diagnosis::worse(verdict, found, costs, "run when the host is calmer, or on a machine of its own")
}

pub(super) fn wake_up(system: &System) -> Diagnosis {
    let late_ms = system.seen.wake_late.as_secs_f64() * 1e3;
    let found = format!("of sleeps of 1 ms one in a hundred ends {late_ms:.2} ms late or later");
    if system.seen.wake_late <= WAKE_LATE_MAX {
        return Diagnosis::ok(found);
    }
    let costs =
        "whoever waits for an answer hears of it late: high percentiles of short answers are those of the machine";
    let mend = "if nothing else runs here, its cores rest too deeply, as those of virtual machines do. As root, in the shell that \
                starts the run: exec 9> /dev/cpu_dma_latency; echo 0 >&9 (none rests while it is open; this costs power, and a run \
                with it is not to be compared with one without)";
    Diagnosis::worse(Verdict::Warns, found, costs, mend)
}

pub(super) fn load_average(system: &System) -> Diagnosis {
    let load = system.text("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let (Some(load), cores @ 1..) = (load, system.cores().len()) else { return Diagnosis::untold() };
    let found = format!("{load:.2} in the last minute on {cores} cores");
    if load <= LOAD_SHARE_MAX * cores as f64 {
        return Diagnosis::ok(found);
    }
    let verdict = if load < cores as f64 { Verdict::Warns } else { Verdict::Bad };
    let costs = "something else is running: it takes time from generator and subject, and not from both alike";
    Diagnosis::worse(verdict, found, costs, "look for it with `top`, and wait until it has ended")
}

pub(super) fn clock_source(system: &System) -> Diagnosis {
    const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";
    let Some(clock) = system.text(format!("{CLOCKS}/current_clocksource")) else { return Diagnosis::untold() };
    let found = format!("`{clock}`");
    if CLOCKS_CHEAP.contains(&clock.as_str()) {
        return Diagnosis::ok(found);
    }
    let available = system.text(format!("{CLOCKS}/available_clocksource")).unwrap_or_default();
    let better = CLOCKS_CHEAP.iter().find(|clock| available.split(' ').any(|name| name == **clock));
    let mend = match better {
        Some(better) => format!("echo {better} > {CLOCKS}/current_clocksource"),
        None => "the kernel's argument `tsc=reliable`, where the processor has a constant one".to_owned(),
    };
    if clock == CLOCK_COARSE {
        return Diagnosis::worse(
            Verdict::Bad,
            found,
            "time moves in steps of milliseconds: no response time is true",
            mend,
        );
    }
    let costs = "each look at the time is a system call of about a microsecond, in the generator and in most subjects";
    Diagnosis::worse(Verdict::Warns, found, costs, mend)
}
