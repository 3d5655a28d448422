//! Ports and queues of TCP.

use super::{CONNECTIONS_MAX, Diagnosis, System, Verdict};

/// Ports that are left to everybody else on the machine, as before a load.
const PORTS_SPARE: u64 = 256;
/// With fewer, the largest level cannot be run.
const PORTS_FEWEST: u64 = CONNECTIONS_MAX + PORTS_SPARE;
/// With fewer ports, connections that end can come faster than ports come back: a port waits a minute, so this many are
/// 270 new connections a second to one server.
const PORTS_ENOUGH: u64 = 16_384;
/// Connections that are being opened at the same time, as every kernel since 2020 has it.
const ACCEPT_BACKLOG: u64 = 4_096;
/// Half-open connections; beyond it the kernel answers with cookies, which is all right.
const SYN_BACKLOG: u64 = 1_024;
/// Seconds that the kernel keeps half-closed connections by itself.
const FIN_TIMEOUT_S: u64 = 60;

const IPV4: &str = "/proc/sys/net/ipv4";

pub(super) fn port_range(system: &System) -> Diagnosis {
    let range = system.text(format!("{IPV4}/ip_local_port_range")).unwrap_or_default();
    let bounds: Vec<u64> = range.split_ascii_whitespace().map_while(|number| number.parse().ok()).collect();
    let [first, last] = bounds[..] else { return Diagnosis::untold() };
    let ports = (last + 1).saturating_sub(first);
    let found = format!("{ports} ports, {first} to {last}");
    let mend = "sysctl -w net.ipv4.ip_local_port_range=\"16384 65535\"";
    let (verdict, costs) = match ports {
        0..PORTS_FEWEST => (
            Verdict::Bad,
            format!("{CONNECTIONS_MAX} connections to one server at the same time are refused by this machine itself"),
        ),
        PORTS_FEWEST..PORTS_ENOUGH => (
            Verdict::Warns,
            "variants with new connections may run out of ports, since each waits a minute after its connection"
                .to_owned(),
        ),
        _ => return Diagnosis::ok(found),
    };
    Diagnosis::worse(verdict, found, costs, mend)
}

pub(super) fn accept_backlog(system: &System) -> Diagnosis {
    let Some(backlog) = system.number("/proc/sys/net/core/somaxconn") else { return Diagnosis::untold() };
    let found = format!("at most {backlog} connections wait to be accepted");
    if backlog >= CONNECTIONS_MAX {
        return Diagnosis::ok(found);
    }
    let costs = "where more callers connect in the same moment, some do so a second later, or three";
    Diagnosis::worse(Verdict::Warns, found, costs, format!("sysctl -w net.core.somaxconn={ACCEPT_BACKLOG}"))
}

pub(super) fn syn_backlog(system: &System) -> Diagnosis {
    let Some(backlog) = system.number(format!("{IPV4}/tcp_max_syn_backlog")) else { return Diagnosis::untold() };
    let has_cookies = system.number(format!("{IPV4}/tcp_syncookies")).is_some_and(|cookies| cookies > 0);
    let beyond = if has_cookies { "cookies beyond" } else { "none beyond" };
    let found = format!("{backlog} half-open connections, {beyond}");
    if backlog >= SYN_BACKLOG || has_cookies {
        return Diagnosis::ok(found);
    }
    let costs = "first packets of callers that connect in the same moment are lost, and sent again a second later";
    Diagnosis::worse(Verdict::Warns, found, costs, format!("sysctl -w net.ipv4.tcp_max_syn_backlog={ACCEPT_BACKLOG}"))
}

pub(super) fn time_wait_reuse(system: &System) -> Diagnosis {
    match system.number(format!("{IPV4}/tcp_tw_reuse")) {
        None => Diagnosis::untold(),
        Some(0) => Diagnosis::worse(
            Verdict::Warns,
            "ports that wait are never taken again".to_owned(),
            "a gateway that opens connections to a backend has one port a minute for each, and then none",
            "sysctl -w net.ipv4.tcp_tw_reuse=1",
        ),
        Some(2) => Diagnosis::ok("ports that wait are taken again after a second, on loopback"),
        Some(_) => Diagnosis::ok("ports that wait are taken again after a second"),
    }
}

pub(super) fn fin_timeout(system: &System) -> Diagnosis {
    let Some(seconds) = system.number(format!("{IPV4}/tcp_fin_timeout")) else { return Diagnosis::untold() };
    let found = format!("half-closed connections are kept for {seconds} s");
    if seconds <= FIN_TIMEOUT_S {
        return Diagnosis::ok(found);
    }
    let costs = "connections that one side left hold memory and a port for longer than the kernel does by itself";
    Diagnosis::worse(Verdict::Warns, found, costs, format!("sysctl -w net.ipv4.tcp_fin_timeout={FIN_TIMEOUT_S}"))
}
