//! TCP ports and queues, congestion control, and the queues of interfaces.

use tollgate_facts::results::{CONGESTION_CONTROL_USUAL, PacketHandling};

use super::{CONNECTIONS_MAX, Finding, System, Verdict};

/// Ports left for other programs, as before a load.
const PORTS_SPARE: u64 = 256;
/// With fewer, the largest level cannot be run.
const PORTS_FEWEST: u64 = CONNECTIONS_MAX + PORTS_SPARE;
/// With fewer ports, short connections can use ports faster than they become free: a port waits a minute, so this many
/// allow 270 new connections a second to one server.
const PORTS_ENOUGH: u64 = 16_384;
/// Connections waiting to be accepted, at most: the default of every kernel since 2020.
const ACCEPT_BACKLOG: u64 = 4_096;
/// Half-open connections; with more the kernel sends SYN cookies, which is fine.
const SYN_BACKLOG: u64 = 1_024;
/// Seconds for which the kernel keeps half-closed connections.
const FIN_TIMEOUT_S: u64 = 60;

const IPV4: &str = "/proc/sys/net/ipv4";

pub(super) fn port_range(system: &System) -> Option<Finding> {
    let range = system.text(format!("{IPV4}/ip_local_port_range"))?;
    let bounds: Vec<u64> = range.split_ascii_whitespace().map_while(|number| number.parse().ok()).collect();
    let [first, last] = bounds[..] else { return None };
    let ports = (last + 1).saturating_sub(first);
    let found = format!("{ports} ports, {first} to {last}");
    let mend = "sysctl -w net.ipv4.ip_local_port_range=\"16384 65535\"";
    let verdict = Verdict::of(ports, PORTS_FEWEST, PORTS_ENOUGH);
    let costs = verdict.costs(
        &format!("{CONNECTIONS_MAX} connections to one server at the same time are refused by this machine itself"),
        "variants with new connections may run out of ports, since each waits a minute after its connection",
    );
    Some(Finding::told(verdict, found, costs, mend))
}

pub(super) fn accept_backlog(system: &System) -> Option<Finding> {
    let backlog = system.number("/proc/sys/net/core/somaxconn")?;
    let found = format!("at most {backlog} connections wait to be accepted");
    let costs = "where more callers connect in the same moment, some do so a second later, or three";
    let mend = format!("sysctl -w net.core.somaxconn={ACCEPT_BACKLOG}");
    Some(Finding::told(Verdict::warns_if(backlog < CONNECTIONS_MAX), found, costs, mend))
}

pub(super) fn syn_backlog(system: &System) -> Option<Finding> {
    let backlog = system.number(format!("{IPV4}/tcp_max_syn_backlog"))?;
    let has_cookies = system.number(format!("{IPV4}/tcp_syncookies")).is_some_and(|cookies| cookies > 0);
    let beyond = if has_cookies { "cookies beyond" } else { "none beyond" };
    let found = format!("{backlog} half-open connections, {beyond}");
    let costs = "first packets of callers that connect in the same moment are lost, and sent again a second later";
    let mend = format!("sysctl -w net.ipv4.tcp_max_syn_backlog={ACCEPT_BACKLOG}");
    Some(Finding::told(Verdict::warns_if(backlog < SYN_BACKLOG && !has_cookies), found, costs, mend))
}

pub(super) fn time_wait_reuse(system: &System) -> Option<Finding> {
    let reuse = system.number(format!("{IPV4}/tcp_tw_reuse"))?;
    let found = match reuse {
        0 => "ports that wait are never taken again",
        2 => "ports that wait are taken again after a second, on loopback",
        _ => "ports that wait are taken again after a second",
    };
    let costs = "a gateway that opens connections to a backend has one port a minute for each, and then none";
    let mend = "sysctl -w net.ipv4.tcp_tw_reuse=1";
    Some(Finding::told(Verdict::warns_if(reuse == 0), found.to_owned(), costs, mend))
}

pub(super) fn fin_timeout(system: &System) -> Option<Finding> {
    let seconds = system.number(format!("{IPV4}/tcp_fin_timeout"))?;
    let found = format!("half-closed connections are kept for {seconds} s");
    let costs = "connections that one side left hold memory and a port for longer than the kernel does by itself";
    let mend = format!("sysctl -w net.ipv4.tcp_fin_timeout={FIN_TIMEOUT_S}");
    Some(Finding::told(Verdict::warns_if(seconds > FIN_TIMEOUT_S), found, costs, mend))
}

pub(super) fn congestion_control(system: &System) -> Option<Finding> {
    let chosen = system.text(format!("{IPV4}/tcp_congestion_control"))?;
    let costs = format!(
        "servers that write an answer in parts wait between them as `{CONGESTION_CONTROL_USUAL}` would not have it: which of \
         two servers is faster, and by how much, changed by a factor of up to 1.6 between the two"
    );
    let mend = format!("sysctl -w net.ipv4.tcp_congestion_control={CONGESTION_CONTROL_USUAL}");
    let verdict = Verdict::warns_if(chosen != CONGESTION_CONTROL_USUAL);
    Some(Finding::told(verdict, format!("`{chosen}` paces new connections"), costs, mend))
}

/// Queues that delay, lose or limit packets: set up by hand, and often forgotten.
const QUEUES_SLOW: [&str; 2] = ["netem", "tbf"];

pub(super) fn packet_queues(system: &System) -> Option<Finding> {
    let interfaces = &system.seen.network.interfaces;
    let words = |(name, handling): (&String, &PacketHandling)| format!("{name}: {}", handling.words());
    let found: Vec<String> = interfaces.iter().map(words).collect();
    let slow = interfaces.iter().find_map(|(name, handling)| {
        let slow = handling.qdisc.as_deref()?.split(", ").find(|qdisc| QUEUES_SLOW.contains(qdisc))?;
        Some((name, slow))
    });
    let (name, slow) = slow.unzip();
    let costs =
        format!("`{}` delays, loses or limits what goes through: it is in every time", slow.unwrap_or_default());
    let mend = format!("tc qdisc del dev {} root, unless it is meant", name.map_or("", String::as_str));
    (!found.is_empty()).then(|| Finding::told(Verdict::warns_if(slow.is_some()), found.join(" | "), costs, mend))
}
