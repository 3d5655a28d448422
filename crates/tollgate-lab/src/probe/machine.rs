//! The machine of a run, as described by /proc and /sys.

use std::fs;

use tollgate_facts::results::Machine;

use super::interface::kernel_network;
use super::process::number;

/// Describes this machine.
pub fn machine() -> Machine {
    let cpu = text("/proc/cpuinfo").unwrap_or_default();
    Machine {
        cpu: field(&cpu, "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: text("/proc/meminfo").and_then(|text| number(&text, "MemTotal:")).unwrap_or(0) * 1024,
        system: system(),
        governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualized: virtualized(&cpu),
        network: Some(kernel_network(&[])),
    }
}

fn system() -> String {
    let name = text("/etc/os-release")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or_else(|| "Linux".to_owned(), |name| name.trim_matches('"').to_owned());
    let kernel = text("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{name}, kernel {kernel}")
}

fn virtualized(cpu: &str) -> Option<String> {
    let known = text("/sys/hypervisor/type").or_else(|| text("/sys/class/dmi/id/sys_vendor"));
    let flagged = field(cpu, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    flagged.then(|| known.unwrap_or_else(|| "unnamed hypervisor".to_owned()))
}

fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn text(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_cores_and_memory() {
        let machine = machine();
        assert!(machine.cores >= 1 && machine.memory_bytes > 0 && !machine.cpu.is_empty());
        assert!(machine.system.contains("kernel"));
    }
}
