//! Processes of this machine that listen on a port, and those that others have connections to.
//!
//! It does not know what they serve: they may forward to another program.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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
    let tables = tables("/proc/net");
    let rows: Vec<Row<'_>> = tables.iter().flat_map(|table| rows(table)).collect();
    holders(&listening(&rows, address).into_iter().collect())
}

/// Finds the processes that these have TCP connections to, on this machine and in the network namespace of the first one.
/// They themselves and the caller are left out.
pub(crate) fn asked_by(processes: &[u32]) -> Vec<Listener> {
    let Some(first) = processes.first() else { return Vec::new() };
    let open = || processes.iter().flat_map(|process| open_sockets(*process));
    let before: HashSet<String> = open().collect();
    let tables = tables(&format!("/proc/{first}/net"));
    // Connections begin and end meanwhile.
    let own: HashSet<String> = before.into_iter().chain(open()).collect();
    let rows: Vec<Row<'_>> = tables.iter().flat_map(|table| rows(table)).collect();
    let sockets = asked_from(&rows, &own).into_iter().flat_map(|address| listening(&rows, address));
    // A process of theirs that listens is no other's.
    let others: HashSet<String> = sockets.filter(|socket| !own.contains(socket)).collect();
    let mut found = holders(&others);
    found.retain(|listener| listener.process != std::process::id());
    found
}

/// Reads the kernel's tables of TCP sockets of IPv4 and IPv6.
fn tables(folder: &str) -> [String; 2] {
    ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("{folder}/{table}")).unwrap_or_default())
}

/// Finds the processes that have one of these sockets open, without workers of others among them.
fn holders(sockets: &HashSet<String>) -> Vec<Listener> {
    if sockets.is_empty() {
        return Vec::new();
    }
    let is_holder = |process: u32| open_sockets(process).any(|socket| sockets.contains(&socket));
    let all = process::all().into_iter().flatten().filter(|(process, _)| is_program(*process) && is_holder(*process));
    let all: Vec<_> = all.collect();
    let is_worker = |parent: u32| all.iter().any(|(process, _)| *process == parent);
    let roots = all.iter().filter(|(_, stat)| !is_worker(stat.parent));
    roots.map(|(process, stat)| Listener { process: *process, name: stat.name.clone() }).collect()
}

/// Excludes process 1, which has sockets for others and starts all programs.
fn is_program(process: u32) -> bool {
    process > 1
}

/// Finds link texts of sockets that listen on an address, or on its port at any address.
fn listening(rows: &[Row<'_>], address: SocketAddr) -> Vec<String> {
    let names = names(address);
    let is_there = |row: &&Row<'_>| row.state == LISTENS && names.iter().any(|name| name == row.own);
    rows.iter().filter(is_there).map(Row::link).collect()
}

/// Returns the addresses of this machine that these sockets asked to be connected to, opening and closing connections
/// included.
fn asked_from(rows: &[Row<'_>], own: &HashSet<String>) -> HashSet<SocketAddr> {
    let is_own = |row: &&Row<'_>| own.contains(&row.link());
    let served: HashSet<&str> =
        rows.iter().filter(|row| row.state == LISTENS).filter(is_own).filter_map(Row::port).collect();
    // A connection at a port of their own was asked for by others.
    let asked = rows.iter().filter(|row| row.state != LISTENS && row.port().is_some_and(|port| !served.contains(port)));
    let addresses = asked.filter(is_own).filter_map(|row| {
        let (own, other) = (address(row.own)?, address(row.other)?);
        // A connection to another address of this machine begins at that same one.
        (other.ip().is_loopback() || other.ip() == own.ip()).then_some(other)
    });
    addresses.collect()
}

/// State of a listening socket.
const LISTENS: &str = "0A";

/// A row of the kernel's tables: one socket.
struct Row<'t> {
    own: &'t str,
    other: &'t str,
    state: &'t str,
    inode: &'t str,
}

impl<'t> Row<'t> {
    /// Its own port, in hexadecimal.
    fn port(&self) -> Option<&'t str> {
        Some(self.own.rsplit_once(':')?.1)
    }

    /// Link text of the socket in `/proc/PID/fd`.
    fn link(&self) -> String {
        format!("socket:[{}]", self.inode)
    }
}

/// Parses all rows below the heading, but for those of sockets that no process has open any more.
fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    table.lines().skip(1).filter_map(|line| {
        // Number, own address, the other's, state, queues, timer, retransmissions, user, timeout, inode.
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (own, other, state) = (fields.next()?, fields.next()?, fields.next()?);
        let inode = fields.nth(5).filter(|inode| *inode != "0")?;
        Some(Row { own, other, state, inode })
    })
}

/// Parses an address of these tables.
fn address(name: &str) -> Option<SocketAddr> {
    let (host, port) = name.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(host.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip = if host.len() == 8 {
        IpAddr::from(Ipv4Addr::from(word(0)?))
    } else {
        let words = [word(0)?, word(8)?, word(16)?, word(24)?];
        IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(words.concat()).ok()?))
    };
    Some(SocketAddr::new(ip.to_canonical(), u16::from_str_radix(port, 16).ok()?))
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

/// Link texts of the sockets that a process has open; none without permission.
fn open_sockets(process: u32) -> impl Iterator<Item = String> {
    let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|entry| fs::read_link(entry.path()).ok()?.into_os_string().into_string().ok());
    links.filter(|link| link.starts_with("socket:"))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn whoever_listens_is_found() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let found: Vec<u32> =
            listeners(listening.local_addr().unwrap()).into_iter().map(|found| found.process).collect();
        assert_eq!(found, [std::process::id()]);
        drop(listening);
    }

    /// A process that holds a socket and does nothing; dropping it ends it.
    struct Holder(Child);

    impl Holder {
        fn of(socket: impl Into<OwnedFd>) -> Holder {
            Holder(Command::new("sleep").arg("600").stdin(Stdio::from(socket.into())).spawn().unwrap())
        }
    }

    impl Drop for Holder {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn whoever_a_process_asks_is_found() {
        for host in ["127.0.0.1", "127.0.0.2", "[::1]"] {
            let Ok(listening) = TcpListener::bind(format!("{host}:0")) else { continue };
            let connected = TcpStream::connect(listening.local_addr().unwrap()).unwrap();
            let (backend, proxy) = (Holder::of(listening), Holder::of(connected));
            let asked = |processes: &[u32]| -> Vec<u32> {
                asked_by(processes).into_iter().map(|found| found.process).collect()
            };
            let (backend, proxy) = (backend.0.id(), proxy.0.id());
            // Another test may be starting a child, which has all of this process's files for a moment.
            assert!(asked(&[proxy]).contains(&backend), "{host}");
            assert_eq!(asked(&[backend]), [0; 0], "it is asked and asks nobody");
            assert_eq!(asked(&[proxy, backend]), [0; 0], "it is watched as well");
        }
        assert_eq!(asked_by(&[]), []);
    }

    #[test]
    fn the_lab_itself_is_nobody_who_is_asked() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Holder::of(TcpStream::connect(listening.local_addr().unwrap()).unwrap());
        assert_eq!(asked_by(&[proxy.0.id()]), []);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_connection_is_to_this_machine_if_it_leads_to_a_loopback_address_or_to_its_own() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 41 1\n   \
                     1: 0501A8C0:9C41 0501A8C0:0050 08 00000000:00000000 00:00000000 00000000     0        0 42 1\n   \
                     2: 0501A8C0:9C42 0601A8C0:0050 01 00000000:00000000 00:00000000 00000000     0        0 43 1\n   \
                     3: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 44 1\n   \
                     4: 0000000000000000FFFF00000100007F:9C43 0000000000000000FFFF00000200007F:1F92 01 0:0 0:0 0 0 0 45 1\n   \
                     5: 0100007F:9C44 0100007F:1F93 01 00000000:00000000 00:00000000 00000000     0        0 46 1\n   \
                     6: 0100007F:1F91 0100007F:9C45 01 00000000:00000000 00:00000000 00000000     0        0 47 1\n";
        // Others asked for the connection of 47, and 46 is somebody else's.
        let own: HashSet<String> =
            (41..=47).filter(|inode| *inode != 46).map(|inode| format!("socket:[{inode}]")).collect();
        let rows: Vec<Row<'_>> = rows(table).collect();
        let mut asked: Vec<String> = asked_from(&rows, &own).iter().map(SocketAddr::to_string).collect();
        asked.sort();
        assert_eq!(asked, ["127.0.0.1:8080", "127.0.0.2:8082", "192.168.1.5:80"]);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn only_sockets_that_listen_on_the_address_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1\n   \
                     1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 42 1\n   \
                     2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 43 1\n";
        let rows: Vec<Row<'_>> = rows(table).collect();
        let on = |address: &str| listening(&rows, address.parse().unwrap());
        assert_eq!(on("127.0.0.1:8080"), ["socket:[41]"]);
        assert_eq!(on("127.0.0.2:8080"), [""; 0]);
        assert_eq!(on("127.0.0.1:443"), [""; 0]);
        assert_eq!(on("127.0.0.1:80"), ["socket:[43]"]);
    }
}
