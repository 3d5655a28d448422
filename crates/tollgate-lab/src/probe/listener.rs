//! Processes of this machine that listen on a port.
//!
//! It does not know what they serve: they may forward to another program.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};

use super::process;

/// A listening process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Its process id.
    pub process: u32,
    /// Its process name.
    pub name: String,
}

/// Finds the processes that listen on an address of this machine, as far as permissions allow. A process whose parent
/// is one of them is left out: it is its parent's worker.
pub fn listeners(address: SocketAddr) -> Vec<Listener> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let sockets: HashSet<String> = tables.iter().flat_map(|table| sockets(table, address)).collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let all =
        process::all().into_iter().flatten().filter(|(process, _)| is_program(*process) && holds(*process, &sockets));
    let all: Vec<_> = all.collect();
    let is_worker = |parent: u32| all.iter().any(|(process, _)| *process == parent);
    let roots = all.iter().filter(|(_, stat)| !is_worker(stat.parent));
    roots.map(|(process, stat)| Listener { process: *process, name: stat.name.clone() }).collect()
}

/// Excludes process 1, which has sockets for others and starts all programs.
fn is_program(process: u32) -> bool {
    process > 1
}

/// Finds link texts of sockets in a kernel table that listen on an address, or on its port at any address.
fn sockets(table: &str, address: SocketAddr) -> impl Iterator<Item = String> {
    let names = names(address);
    table.lines().filter_map(move |line| {
        // Number, own address, the other's, state (0A listens), queues, timer, retransmissions, user, timeout, inode.
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        fields.get(1)?;
        let listens = names.iter().any(|name| name == fields[1]) && *fields.get(3)? == "0A";
        listens.then(|| format!("socket:[{}]", fields.get(9).copied().unwrap_or_default()))
    })
}

/// Returns the names of an address in the kernel's tables, with its wildcard addresses: hexadecimal words of four
/// bytes, each in this machine's byte order.
fn names(address: SocketAddr) -> Vec<String> {
    let words = |bytes: &[u8]| -> String {
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_ne_bytes);
        bytes.chunks(4).map(|bytes| format!("{:08X}", word(bytes))).collect()
    };
    let ip = address.ip().to_canonical();
    let hosts = match ip {
        IpAddr::V4(ip) => {
            vec![words(&ip.octets()), words(&[0; 4]), words(&ip.to_ipv6_mapped().octets()), words(&[0; 16])]
        }
        IpAddr::V6(ip) => vec![words(&ip.octets()), words(&[0; 16])],
    };
    hosts.into_iter().map(|host| format!("{host}:{:04X}", address.port())).collect()
}

fn holds(process: u32, sockets: &HashSet<String>) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    open.flatten().any(|entry| {
        let link = fs::read_link(entry.path());
        link.is_ok_and(|link| link.to_str().is_some_and(|link| sockets.contains(link)))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn whoever_listens_is_found() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let found: Vec<u32> =
            listeners(listening.local_addr().unwrap()).into_iter().map(|found| found.process).collect();
        assert_eq!(found, [std::process::id()]);
        drop(listening);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn only_sockets_that_listen_on_the_address_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1\n   \
                     1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 42 1\n   \
                     2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 43 1\n";
        let on = |address: &str| sockets(table, address.parse().unwrap()).collect::<Vec<_>>();
        assert_eq!(on("127.0.0.1:8080"), ["socket:[41]"]);
        assert_eq!(on("127.0.0.2:8080"), [""; 0]);
        assert_eq!(on("127.0.0.1:443"), [""; 0]);
        assert_eq!(on("127.0.0.1:80"), ["socket:[43]"]);
    }
}
