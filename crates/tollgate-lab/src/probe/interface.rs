//! TCP handling by the kernel in the network namespace of the calling thread: congestion control from /proc, queueing
//! disciplines by rtnetlink, offloads by ethtool's ioctl, so that `tc` and `ethtool` need not be installed.
//!
//! It changes nothing. Values that the kernel does not report are absent. Layouts and numbers are those of
//! linux/rtnetlink.h, linux/pkt_sched.h and linux/ethtool.h.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, sendto, socket_with};

use tollgate_facts::results::{KernelNetwork, PacketHandling};

/// The interface that is always included.
const LOOPBACK: &str = "lo";

const GET_QDISC: u16 = 38;
const NEW_QDISC: u16 = 36;
const IS_DUMP: u16 = 0x301;
const DONE: u16 = 3;
const HEADER_BYTES: usize = 16;
/// Fixed fields: family, interface index, handle, parent, and an info field.
const FIXED_BYTES: usize = 20;
const PARENT_IS_ROOT: u32 = 0xffff_ffff;
const KIND: u16 = 1;
/// Bytes that the kernel sends at once, at most.
const DUMP_BYTES_MAX: usize = 1 << 16;
/// Parts of a dump that are read: thousands of interfaces.
const PARTS_MAX: usize = 64;

/// Commands of ethtool that return one number, and the offload of each.
const OFFLOADS: [(u32, &str); 5] =
    [(0x14, "receive checksums"), (0x16, "transmit checksums"), (0x1e, "TSO"), (0x23, "GSO"), (0x2b, "GRO")];
const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// Reads the kernel's TCP handling towards these addresses.
pub fn kernel_network(towards: &[SocketAddr]) -> KernelNetwork {
    let congestion_control = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok();
    let queues = queues().unwrap_or_default();
    let names = towards.iter().filter_map(interface_towards).chain([LOOPBACK.to_owned()]);
    let of = |name: String| {
        let handling = PacketHandling { qdisc: queue_of(&name, &queues), offloads: offloads(&name) };
        (name, handling)
    };
    KernelNetwork {
        congestion_control: congestion_control.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
        interfaces: names.map(of).collect(),
    }
}

/// Reads the same for loopback and every interface that is up.
pub fn all_of_kernel_network() -> KernelNetwork {
    let mut network = kernel_network(&[]);
    let queues = queues().unwrap_or_default();
    for name in fs::read_dir("/sys/class/net").into_iter().flatten().flatten() {
        let name = name.file_name().to_string_lossy().into_owned();
        let is_up =
            fs::read_to_string(format!("/sys/class/net/{name}/operstate")).is_ok_and(|state| state.trim() == "up");
        if is_up {
            let handling = PacketHandling { qdisc: queue_of(&name, &queues), offloads: offloads(&name) };
            network.interfaces.insert(name, handling);
        }
    }
    network
}

/// Returns the interface for packets to an address: loopback for an address of this machine; absent if none is known.
fn interface_towards(address: &SocketAddr) -> Option<String> {
    let any: IpAddr = match address.ip() {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Of a datagram's socket nothing is sent, and the kernel looks up the way.
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(address).ok()?;
    let own = socket.local_addr().ok()?.ip();
    if own == address.ip() {
        return Some(LOOPBACK.to_owned());
    }
    interface_of(own)
}

/// Returns the interface that has an address.
fn interface_of(own: IpAddr) -> Option<String> {
    let mut first = std::ptr::null_mut();
    #[allow(unsafe_code, reason = "getifaddrs has no safe wrapper")]
    // The list is read before it is freed, and each pointer in it is looked at for null.
    unsafe {
        if libc::getifaddrs(&raw mut first) != 0 {
            return None;
        }
        let (mut at, mut found) = (first, None);
        while let (Some(entry), None) = (at.as_ref(), &found) {
            if let Some(address) = entry.ifa_addr.as_ref() {
                let is_own = match i32::from(address.sa_family) {
                    libc::AF_INET => {
                        let address = &*entry.ifa_addr.cast::<libc::sockaddr_in>();
                        own == IpAddr::V4(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)))
                    }
                    libc::AF_INET6 => {
                        let address = &*entry.ifa_addr.cast::<libc::sockaddr_in6>();
                        own == IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr))
                    }
                    _ => false,
                };
                if is_own {
                    found = Some(std::ffi::CStr::from_ptr(entry.ifa_name).to_string_lossy().into_owned());
                }
            }
            at = entry.ifa_next;
        }
        libc::freeifaddrs(first);
        found
    }
}

/// Returns the enabled offloads of an interface.
fn offloads(name: &str) -> Option<Vec<String>> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    let states: Vec<Option<bool>> = OFFLOADS.iter().map(|(command, _)| offload(&socket, name, *command)).collect();
    if states.iter().all(Option::is_none) {
        return None;
    }
    let on = OFFLOADS.iter().zip(states).filter(|(_, state)| *state == Some(true));
    Some(on.map(|((_, name), _)| (*name).to_owned()).collect())
}

fn offload(socket: &UdpSocket, name: &str, command: u32) -> Option<bool> {
    /// `struct ethtool_value`.
    #[repr(C)]
    struct Value {
        command: u32,
        data: u32,
    }
    let mut value = Value { command, data: 0 };
    let mut own_name: [libc::c_char; libc::IFNAMSIZ] = [0; libc::IFNAMSIZ];
    if name.len() >= own_name.len() {
        return None;
    }
    own_name.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as libc::c_char);
    let data = (&raw mut value).cast::<libc::c_char>();
    let mut request = libc::ifreq { ifr_name: own_name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: data } };
    // The kernel reads the command and writes one number behind it.
    #[allow(unsafe_code, reason = "SIOCETHTOOL has no safe wrapper")]
    let code = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    (code == 0).then_some(value.data != 0)
}

/// Reads the queueing disciplines at the roots of all interfaces, by interface index.
fn queues() -> Option<BTreeMap<u32, Vec<String>>> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None).ok()?;
    let mut ask = vec![0_u8; HEADER_BYTES + FIXED_BYTES];
    let length = ask.len() as u32;
    ask[0..4].copy_from_slice(&length.to_ne_bytes());
    ask[4..6].copy_from_slice(&GET_QDISC.to_ne_bytes());
    ask[6..8].copy_from_slice(&IS_DUMP.to_ne_bytes());
    sendto(&socket, &ask, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).ok()?;
    let mut found = BTreeMap::new();
    let mut part = vec![0; DUMP_BYTES_MAX];
    for _ in 0..PARTS_MAX {
        let (received, _) = recv(&socket, &mut part[..], RecvFlags::empty()).ok()?;
        if read_queues(&part[..received], &mut found)? == Dump::Done {
            return Some(found);
        }
    }
    None
}

/// Whether a dump continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dump {
    GoesOn,
    Done,
}

/// Reads a part of a dump; absent if it is invalid.
fn read_queues(mut part: &[u8], found: &mut BTreeMap<u32, Vec<String>>) -> Option<Dump> {
    let u16_at = |bytes: &[u8], at: usize| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let u32_at = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    while !part.is_empty() {
        let length = u32_at(part, 0)? as usize;
        let message = part.get(..length).filter(|message| message.len() >= HEADER_BYTES)?;
        match u16_at(message, 4)? {
            DONE => return Some(Dump::Done),
            NEW_QDISC => {
                let fixed = message.get(HEADER_BYTES..)?;
                let (index, parent) = (u32_at(fixed, 4)?, u32_at(fixed, 12)?);
                let mut values = fixed.get(FIXED_BYTES..)?;
                while let Some(length) = u16_at(values, 0).map(usize::from).filter(|length| *length >= 4) {
                    if parent == PARENT_IS_ROOT && u16_at(values, 2)? == KIND {
                        let text = values.get(4..length)?;
                        let text = String::from_utf8_lossy(text).trim_end_matches('\0').to_owned();
                        found.entry(index).or_default().push(text);
                    }
                    values = values.get(length.next_multiple_of(4)..).unwrap_or_default();
                }
            }
            // An error, or what was not asked for.
            _ => return None,
        }
        part = part.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(Dump::GoesOn)
}

fn queue_of(name: &str, queues: &BTreeMap<u32, Vec<String>>) -> Option<String> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    let index = netdevice::name_to_index(&socket, name).ok()?;
    Some(queues.get(&index)?.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a message of a dump about interface 2.
    fn message(kind: u16, parent: u32, name: &str) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES + FIXED_BYTES];
        bytes[HEADER_BYTES + 4..][..4].copy_from_slice(&2_u32.to_ne_bytes());
        bytes[HEADER_BYTES + 12..][..4].copy_from_slice(&parent.to_ne_bytes());
        bytes.extend((4 + name.len() as u16 + 1).to_ne_bytes());
        bytes.extend(KIND.to_ne_bytes());
        bytes.extend(name.bytes().chain([0]));
        let length = bytes.len() as u32;
        bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn of_a_dump_only_the_queues_at_roots_are_read() {
        let mut found = BTreeMap::new();
        let of = |parts: &[Vec<u8>]| parts.concat();
        let part = of(&[message(NEW_QDISC, PARENT_IS_ROOT, "mq"), message(NEW_QDISC, 1, "fq_codel")]);
        assert_eq!(read_queues(&part, &mut found), Some(Dump::GoesOn));
        let last = of(&[message(NEW_QDISC, PARENT_IS_ROOT, "netem"), message(DONE, 0, "")]);
        assert_eq!(read_queues(&last, &mut found), Some(Dump::Done));
        assert_eq!(found, BTreeMap::from([(2, vec!["mq".to_owned(), "netem".to_owned()])]));
        for cut in 1..part.len() {
            let mut found = BTreeMap::new();
            // What is cut off is no message; it is never read beyond its end.
            let _ = read_queues(&part[..cut], &mut found);
        }
    }

    #[test]
    fn the_way_to_this_machine_itself_is_the_loopback_interface() {
        let towards: Vec<SocketAddr> = vec!["127.0.0.1:80".parse().unwrap()];
        let network = kernel_network(&towards);
        assert_eq!(network.interfaces.keys().collect::<Vec<_>>(), ["lo"], "{network:?}");
        assert!(network.congestion_control.is_some(), "{network:?}");
        assert_eq!(interface_of(Ipv4Addr::LOCALHOST.into()).as_deref(), Some("lo"));
        assert_eq!(kernel_network(&[]).interfaces, network.interfaces);
    }
}
