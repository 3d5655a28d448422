//! Machines made up of files, each with one wrong setting.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::probe::instructions::Lack;
use tollgate_facts::results::{KernelNetwork, PacketHandling};

/// A good machine: eight cores, idle, nothing to do.
const SOUND: &[(&str, &str)] = &[
    ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
    ("proc/sys/net/core/somaxconn", "4096\n"),
    ("proc/sys/net/ipv4/tcp_max_syn_backlog", "4096\n"),
    ("proc/sys/net/ipv4/tcp_syncookies", "1\n"),
    ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
    ("proc/sys/net/ipv4/tcp_fin_timeout", "60\n"),
    ("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n"),
    (
        "proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n\
         Max processes             unlimited            unlimited            processes\n\
         Max open files            1024                 1048576              files\n",
    ),
    ("proc/self/status", "Name:\ttollgate\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n"),
    ("proc/self/cgroup", "0::/one.slice/two.service\n"),
    ("proc/loadavg", "0.40 0.30 0.20 1/223 1834\n"),
    ("proc/meminfo", "MemTotal:       16384000 kB\nMemAvailable:   8192000 kB\n"),
    ("sys/devices/system/cpu/online", "0-7\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu7/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu7/topology/thread_siblings_list", "7,15\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("sys/fs/cgroup/one.slice/cpu.max", "max 100000\n"),
];

const GOVERNOR: &str = "sys/devices/system/cpu/cpu7/cpufreq/scaling_governor";
const CLOCK: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const LIMITS: &str = "proc/self/limits";
const STATUS: &str = "proc/self/status";

/// Runs the checks on the good machine with some files replaced; an empty text removes a file.
fn found(changes: &[(&str, &str)], seen: Seen) -> Vec<Finding> {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in SOUND.iter().chain(changes) {
        let file = root.path().join(path);
        fs::create_dir_all(file.parent().unwrap_or(Path::new(""))).unwrap();
        if text.is_empty() {
            fs::remove_file(file).unwrap();
        } else {
            fs::write(file, text).unwrap();
        }
    }
    examine(&System::below(root.path(), seen))
}

/// Compares the only finding that is not `ok` with its check, its verdict and words of its three texts.
fn check_with(seen: Seen, changes: &[(&str, &str)], name: &str, verdict: Verdict, words: [&str; 3]) {
    let found = found(changes, seen);
    let worse: Vec<&Finding> = found.iter().filter(|finding| finding.verdict != Verdict::Ok).collect();
    let [only] = worse[..] else { panic!("{name}: {worse:#?}") };
    assert_eq!((only.name, only.verdict), (name, verdict), "{only:#?}");
    let texts = [Some(&only.found), only.costs.as_ref(), only.mend.as_ref()];
    for (text, word) in texts.into_iter().zip(words) {
        assert!(text.is_some_and(|text| text.contains(word)), "`{word}` is not in {text:?}");
    }
}

fn check(changes: &[(&str, &str)], name: &str, verdict: Verdict, words: [&str; 3]) {
    check_with(Seen::default(), changes, name, verdict, words);
}

/// Checks the text of a finding that is `ok`.
fn check_ok(changes: &[(&str, &str)], name: &str, words: &str) {
    let found = found(changes, Seen::default());
    let finding = found.iter().find(|finding| finding.name == name).unwrap();
    assert_eq!(
        (finding.verdict, finding.costs.as_ref(), finding.mend.as_ref()),
        (Verdict::Ok, None, None),
        "{finding:?}"
    );
    assert!(finding.found.contains(words), "`{words}` is not in {finding:?}");
}

#[test]
fn nothing_is_to_be_done_on_a_sound_machine() {
    let found = found(&[], Seen { steal_share: 0.01, wake_late: Duration::from_millis(1), ..Seen::default() });
    assert_eq!(found.len(), CHECKS.len());
    assert!(found.iter().all(|finding| finding.verdict == Verdict::Ok && finding.mend.is_none()), "{found:#?}");
}

#[test]
fn a_system_that_tells_nothing_is_not_blamed() {
    let root = tempfile::tempdir().unwrap();
    let found = examine(&System::below(root.path(), Seen::default()));
    assert!(found.iter().all(|finding| finding.verdict == Verdict::Ok), "{found:#?}");
}

#[test]
fn ports_are_few_below_those_of_the_largest_level() {
    const RANGE: &str = "proc/sys/net/ipv4/ip_local_port_range";
    let mend = "sysctl -w net.ipv4.ip_local_port_range=\"16384 65535\"";
    check(
        &[(RANGE, "50000 52814")],
        "port-range",
        Verdict::Bad,
        ["2815 ports, 50000 to 52814", "2560 connections", mend],
    );
    check(&[(RANGE, "50000 52815")], "port-range", Verdict::Warns, ["2816 ports", "new connections", mend]);
    check(&[(RANGE, "40000 56382")], "port-range", Verdict::Warns, ["16383 ports", "waits a minute", mend]);
    check_ok(&[(RANGE, "40000 56383")], "port-range", "16384 ports");
    check_ok(&[(RANGE, "many")], "port-range", "does not tell");
}

#[test]
fn queues_of_new_connections_hold_the_largest_level() {
    const BACKLOG: &str = "proc/sys/net/core/somaxconn";
    const HALF_OPEN: (&str, &str) = ("proc/sys/net/ipv4/tcp_max_syn_backlog", "128");
    const NO_COOKIES: (&str, &str) = ("proc/sys/net/ipv4/tcp_syncookies", "0");
    check(&[(BACKLOG, "2559")], "accept-backlog", Verdict::Warns, ["2559", "a second later", "somaxconn=4096"]);
    check_ok(&[(BACKLOG, "2560")], "accept-backlog", "2560");
    check(&[HALF_OPEN, NO_COOKIES], "syn-backlog", Verdict::Warns, ["128", "are lost", "tcp_max_syn_backlog=4096"]);
    check_ok(&[HALF_OPEN], "syn-backlog", "cookies beyond");
    check_ok(&[NO_COOKIES], "syn-backlog", "none beyond");
}

#[test]
fn connections_that_ended_are_given_back() {
    const REUSE: &str = "proc/sys/net/ipv4/tcp_tw_reuse";
    const TIMEOUT: &str = "proc/sys/net/ipv4/tcp_fin_timeout";
    check(&[(REUSE, "0")], "time-wait-reuse", Verdict::Warns, ["never", "a gateway", "tcp_tw_reuse=1"]);
    check_ok(&[(REUSE, "1")], "time-wait-reuse", "after a second");
    check(&[(TIMEOUT, "61")], "fin-timeout", Verdict::Warns, ["61 s", "memory", "tcp_fin_timeout=60"]);
}

#[test]
fn another_congestion_control_than_the_usual_one_is_told() {
    const CONTROL: &str = "proc/sys/net/ipv4/tcp_congestion_control";
    let words = ["`bbr`", "a factor of up to 1.6", "sysctl -w net.ipv4.tcp_congestion_control=cubic"];
    check(&[(CONTROL, "bbr\n")], "congestion-control", Verdict::Warns, words);
    check_ok(&[], "congestion-control", "`cubic`");
    check_ok(&[(CONTROL, "")], "congestion-control", "does not tell");
}

#[test]
fn queues_that_delay_packets_are_told_with_their_interface() {
    let seen = |qdisc: &str| {
        let offloads = Some(vec!["TSO".to_owned(), "GRO".to_owned()]);
        let handling = PacketHandling { qdisc: Some(qdisc.to_owned()), offloads };
        let network = KernelNetwork { interfaces: [("lo".to_owned(), handling)].into(), ..KernelNetwork::default() };
        Seen { network, ..Seen::default() }
    };
    let words = ["lo: netem; TSO, GRO", "is in every time", "tc qdisc del dev lo root"];
    check_with(seen("netem"), &[], "packet-queues", Verdict::Warns, words);
    check_with(seen("mq, tbf"), &[], "packet-queues", Verdict::Warns, ["tbf", "`tbf`", "dev lo"]);
    assert!(found(&[], seen("fq_codel")).iter().all(|finding| finding.verdict == Verdict::Ok));
}

#[test]
fn open_files_are_those_of_the_hard_limit() {
    let limits = |hard: &str| format!("Max open files            1024                 {hard}                files\n");
    let few = |hard: &str, verdict, words| check(&[(LIMITS, &limits(hard))], "open-files", verdict, words);
    few("1023", Verdict::Bad, ["1023 open files", "cannot open", "ulimit -n 65536"]);
    few("1024", Verdict::Warns, ["1024 open files", "2560 callers", "limits.conf"]);
    few("5183", Verdict::Warns, ["raises to 5183 open files", "two files for each", "ulimit"]);
    check_ok(&[(LIMITS, &limits("5184"))], "open-files", "1024 open files, which a run raises to 5184 open files");
    check_ok(&[(LIMITS, &limits("unlimited"))], "open-files", "no limit");
}

#[test]
fn cores_are_those_that_may_be_used() {
    let calm = ("proc/loadavg", "0.01 0 0 1/2 3");
    let few = |list: &str, verdict, words| {
        let status = format!("Cpus_allowed_list:\t{list}\n");
        check(&[(STATUS, &status), calm], "cores", verdict, words);
    };
    few("3", Verdict::Bad, ["1 of 8 cores", "of both together", "`taskset`"]);
    few("0,5-6", Verdict::Warns, ["3 of 8 cores", "can be attributed", "--cpuset-cpus"]);
    check(
        &[(STATUS, "Cpus_allowed_list:\t0-1\n"), ("sys/devices/system/cpu/online", "0-1"), calm],
        "cores",
        Verdict::Warns,
        ["2 of 2 cores", "CPU time per request", "a machine with at least 4 cores"],
    );
}

#[test]
fn a_quota_of_the_group_or_of_one_above_it_is_found() {
    const OUTER: &str = "sys/fs/cgroup/one.slice/cpu.max";
    const INNER: &str = "sys/fs/cgroup/one.slice/two.service/cpu.max";
    let words = ["2.5 cores' time for 8 cores", "stands still", "CPUQuota="];
    check(&[(OUTER, "250000 100000")], "cpu-quota", Verdict::Bad, words);
    check(&[(OUTER, "400000 100000"), (INNER, "250000 100000")], "cpu-quota", Verdict::Bad, words);
    check_ok(&[(OUTER, "800000 100000")], "cpu-quota", "8.0 cores' time");
    // The older interface, with a tree for each controller.
    let groups = ("proc/self/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/mine\n0::/\n");
    let quota = ("sys/fs/cgroup/cpu,cpuacct/mine/cpu.cfs_quota_us", "50000");
    let period = ("sys/fs/cgroup/cpu,cpuacct/mine/cpu.cfs_period_us", "20000");
    check(&[groups, quota, period], "cpu-quota", Verdict::Bad, words);
    check_ok(&[groups, (quota.0, "-1"), period], "cpu-quota", "none");
}

#[test]
fn both_sides_keep_their_cores_and_the_cores_their_clock() {
    // Of eight cores, 6 and 7 are the generator's.
    let siblings = ("sys/devices/system/cpu/cpu7/topology/thread_siblings_list", "3,7");
    let words = ["7 of the generator and 3 of the subject", "while the generator works", "smt/control"];
    check(&[siblings], "sibling-threads", Verdict::Warns, words);
    let words = ["`powersave` on core 7", "follows the load", "cpupower frequency-set -g performance"];
    check(&[(GOVERNOR, "powersave")], "governor", Verdict::Warns, words);
    const INTEL: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
    let words = ["on", "how warm", "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"];
    check(&[(INTEL, "0")], "turbo", Verdict::Warns, words);
    let words = ["on", "how warm", "echo 0 > /sys/devices/system/cpu/cpufreq/boost"];
    check(&[(INTEL, ""), ("sys/devices/system/cpu/cpufreq/boost", "1")], "turbo", Verdict::Warns, words);
    check_ok(&[(INTEL, "")], "turbo", "not this system's to choose");
}

#[test]
fn instructions_that_the_kernel_hides_are_mended_by_its_setting_and_no_counter_is_by_nothing() {
    let uncounted = |lack| Seen { uncounted: Some(lack), ..Seen::default() };
    let words = ["kernel.perf_event_paranoid is 2", "tolls on instructions", "sysctl -w kernel.perf_event_paranoid=1"];
    let hidden = uncounted(Lack::KernelLeftOut(Some(2)));
    check_with(hidden, &[], "instructions", Verdict::Warns, words);
    let found = found(&[], uncounted(Lack::NoCounter));
    let finding = found.iter().find(|finding| finding.name == "instructions").unwrap();
    assert_eq!((finding.verdict, finding.mend.as_ref()), (Verdict::Ok, None));
    assert!(finding.found.contains("no counter of instructions"), "{finding:?}");
}

#[test]
fn time_belongs_to_the_run_and_is_cheap_to_read() {
    let words = ["5.0 % of a second", "marks its figures", "the host is calmer"];
    let stolen = |steal_share| Seen { steal_share, ..Seen::default() };
    check_with(stolen(0.05), &[], "steal", Verdict::Warns, words);
    check_with(stolen(0.1), &[], "steal", Verdict::Bad, ["10.0 %", "hypervisor", "of its own"]);
    let late = Seen { wake_late: Duration::from_micros(1010), ..Seen::default() };
    check_with(late, &[], "wake-up", Verdict::Warns, ["ends 1.01 ms late", "hears of it late", "/dev/cpu_dma_latency"]);
    const LOAD: &str = "proc/loadavg";
    check(&[(LOAD, "2.01 1 1 1/2 3")], "load-average", Verdict::Warns, ["2.01 in the last minute", "else", "`top`"]);
    check(&[(LOAD, "8.00 1 1 1/2 3")], "load-average", Verdict::Bad, ["on 8 cores", "takes time", "ended"]);
    let available = ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm");
    let words =
        ["`hpet`", "system call", "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"];
    check(&[(CLOCK, "hpet"), available], "clock-source", Verdict::Warns, words);
    check(&[(CLOCK, "acpi_pm")], "clock-source", Verdict::Warns, ["acpi_pm", "microsecond", "tsc=reliable"]);
    check(&[(CLOCK, "jiffies")], "clock-source", Verdict::Bad, ["jiffies", "milliseconds", "tsc=reliable"]);
    check_ok(&[(CLOCK, "kvm-clock")], "clock-source", "kvm-clock");
}

#[test]
fn memory_is_what_machine_and_container_leave() {
    const MEMORY: &str = "proc/meminfo";
    let words = ["511 MiB are left", "ended by the kernel", "what else holds memory"];
    check(&[(MEMORY, "MemAvailable: 524287 kB")], "memory", Verdict::Bad, words);
    check(&[(MEMORY, "MemAvailable: 524288 kB")], "memory", Verdict::Warns, ["512 MiB", "JVM", "end"]);
    let limit = ("sys/fs/cgroup/one.slice/memory.max", "2147483648");
    let used = ("sys/fs/cgroup/one.slice/memory.current", "1073741824");
    check(
        &[limit, used],
        "memory",
        Verdict::Warns,
        ["1024 MiB are left of what the container may use", "JVM", "`--memory`"],
    );
    check_ok(&[("sys/fs/cgroup/one.slice/memory.max", "max")], "memory", "8000 MiB are left");
}
