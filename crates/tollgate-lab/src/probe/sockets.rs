//! The kernel's TCP sockets in this network namespace: listening ones, and connections that a process has open.
//!
//! The kernel is asked for these alone (`sock_diag`), which takes some 0.1 ms. Its tables in /proc also have connections that
//! are over, tens of thousands on a busy machine: they are read only where it does not answer.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

/// One socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Socket {
    pub(super) own: SocketAddr,
    /// The other end of a connection.
    pub(super) other: SocketAddr,
    pub(super) listens: bool,
    /// Its number, which files of its processes link to.
    pub(super) inode: u64,
}

/// States of the kernel that are asked for: established, being opened, closed by the other end, listening.
const STATES: u32 = 1 << ESTABLISHED | 1 << 2 | 1 << 8 | 1 << LISTEN;
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const TCP: u8 = 6;

/// Lengths of the kernel's structures: the head of a message, a request, and a socket in an answer.
const HEAD_BYTES: usize = 16;
const REQUEST_BYTES: usize = 56;
const SOCKET_BYTES: usize = 72;
/// Types of messages.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// Flags of a request for all that match.
const REQUEST_DUMP: u16 = 0x301;

/// Lists them.
pub(super) fn sockets() -> Vec<Socket> {
    let asked = [AF_INET, AF_INET6].map(asked);
    let of_tables = |table: &str| fs::read_to_string(table).iter().flat_map(|text| of_table(text)).collect();
    let [v4, v6] = asked;
    let all = [v4.unwrap_or_else(|| of_tables("/proc/net/tcp")), v6.unwrap_or_else(|| of_tables("/proc/net/tcp6"))];
    all.concat()
}

/// Asks the kernel for the sockets of one family; `None` where it does not answer.
fn asked(family: u8) -> Option<Vec<Socket>> {
    let (kind, flags) = (SocketType::DGRAM, SocketFlags::CLOEXEC);
    let kernel = socket_with(AddressFamily::NETLINK, kind, flags, Some(netlink::SOCK_DIAG)).ok()?;
    let mut request = Vec::with_capacity(HEAD_BYTES + REQUEST_BYTES);
    request.extend(((HEAD_BYTES + REQUEST_BYTES) as u32).to_ne_bytes());
    request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend(REQUEST_DUMP.to_ne_bytes());
    request.extend([0; 8]);
    request.extend([family, TCP, 0, 0]);
    request.extend(STATES.to_ne_bytes());
    request.resize(HEAD_BYTES + REQUEST_BYTES, 0);
    send(&kernel, &request, SendFlags::empty()).ok()?;
    let (mut found, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let (read, _) = recv(&kernel, &mut *buffer, RecvFlags::empty()).ok()?;
        let mut messages = buffer.get(..read)?;
        while messages.len() >= HEAD_BYTES {
            let length = u32::from_ne_bytes(messages[..4].try_into().ok()?) as usize;
            let message = messages.get(..length).filter(|_| length >= HEAD_BYTES)?;
            match u16::from_ne_bytes(message[4..6].try_into().ok()?) {
                DONE => return Some(found),
                ERROR => return None,
                _ => found.extend(of_message(&message[HEAD_BYTES..])),
            }
            messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

/// Reads a socket of an answer (`inet_diag_msg`).
fn of_message(message: &[u8]) -> Option<Socket> {
    let message = message.get(..SOCKET_BYTES)?;
    let address = |ip: &[u8], port: &[u8]| {
        let ip = match message[0] {
            AF_INET => IpAddr::from(<[u8; 4]>::try_from(&ip[..4]).ok()?),
            _ => IpAddr::from(<[u8; 16]>::try_from(ip).ok()?),
        };
        Some(SocketAddr::new(ip.to_canonical(), u16::from_be_bytes(port.try_into().ok()?)))
    };
    Some(Socket {
        own: address(&message[8..24], &message[4..6])?,
        other: address(&message[24..40], &message[6..8])?,
        listens: message[1] == LISTEN,
        inode: u32::from_ne_bytes(message[68..72].try_into().ok()?).into(),
    })
}

/// Reads a table of /proc, without sockets that no process has open any more.
fn of_table(table: &str) -> impl Iterator<Item = Socket> {
    table.lines().skip(1).filter_map(|line| {
        // Number, own address, the other's, state, queues, timer, retransmissions, user, timeout, inode.
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (own, other, state) = (fields.next()?, fields.next()?, fields.next()?);
        let inode = fields.nth(5)?.parse().ok().filter(|inode| *inode != 0)?;
        let listens = u8::from_str_radix(state, 16).ok()? == LISTEN;
        Some(Socket { own: address(own)?, other: address(other)?, listens, inode })
    })
}

/// Parses an address of these tables: words of four bytes in hexadecimal, each in this machine's byte order.
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

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_kernel_and_its_tables_tell_the_same_of_a_listener_and_its_connection() {
        for (host, family, table) in [("127.0.0.1", AF_INET, "/proc/net/tcp"), ("[::1]", AF_INET6, "/proc/net/tcp6")] {
            let Ok(listening) = TcpListener::bind(format!("{host}:0")) else { continue };
            let connected = TcpStream::connect(listening.local_addr().unwrap()).unwrap();
            let table = fs::read_to_string(table).unwrap();
            let told: Vec<Vec<Socket>> = asked(family).into_iter().chain([of_table(&table).collect()]).collect();
            let (server, client) = (listening.local_addr().unwrap(), connected.local_addr().unwrap());
            for all in &told {
                assert_eq!(all.iter().filter(|socket| socket.listens && socket.own == server).count(), 1, "{all:?}");
                let is_it = |socket: &&Socket| (socket.own, socket.other, socket.listens) == (client, server, false);
                assert_eq!(all.iter().filter(is_it).count(), 1, "{all:?}");
            }
            let of_client = |all: &Vec<Socket>| all.iter().find(|socket| socket.own == client).copied();
            assert!(told.iter().all(|all| of_client(all) == of_client(&told[0])), "{told:?}");
        }
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_table_has_addresses_of_both_families() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1\n   \
                     1: 0000000000000000FFFF00000100007F:9C43 0000000000000000FFFF00000200007F:1F92 01 0:0 0:0 0 0 0 42 1\n   \
                     2: 0100007F:9C44 0100007F:1F93 06 00000000:00000000 00:00000000 00000000     0        0 0 1\n";
        let told: Vec<String> = of_table(table)
            .map(|Socket { own, other, listens, inode }| format!("{own} {other} {listens} {inode}"))
            .collect();
        assert_eq!(told, ["127.0.0.1:8080 0.0.0.0:0 true 41", "127.0.0.1:40003 127.0.0.2:8082 false 42"]);
    }
}
