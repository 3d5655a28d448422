//! Asking the kernel to set up a network interface: the few messages of rtnetlink that a line needs, written by hand,
//! so that a machine without iproute2 will do. They concern the network namespace of the calling thread.
//!
//! It deliberately reads only whether a request succeeded. Layouts and numbers are those of linux/rtnetlink.h,
//! linux/if_link.h and linux/ip.h.

use std::io;
use std::net::Ipv4Addr;

use rustix::fd::OwnedFd;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, sendto, socket_with};

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const DELETE_ADDRESS: u16 = 21;

const IS_REQUEST: u16 = 0x001;
const WANTS_ACKNOWLEDGEMENT: u16 = 0x004;
const REPLACES: u16 = 0x100;
const CREATES: u16 = 0x400;

const HEADER_BYTES: usize = 16;
const ANSWER_IS_ERROR: u16 = 2;

const INET: u8 = 2;
const INET6: u8 = 10;
/// The interface is up.
const UP: u32 = 1;

const LINK_MTU: u16 = 4;
const LINK_QUEUE_LENGTH: u16 = 13;
const LINK_FAMILIES: u16 = 26;
const NESTED: u16 = 0x8000;
const INET_SETTINGS: u16 = 1;
const INET_ROUTE_LOCALNET: u16 = 26;
const INET6_ADDRESS_GENERATION: u16 = 8;
const GENERATE_NO_ADDRESS: u8 = 1;
const ADDRESS_PEER: u16 = 1;
const ADDRESS_OWN: u16 = 2;

/// A conversation with the kernel about the interfaces of one network namespace.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// About the namespace of the calling thread.
    pub(super) fn open() -> io::Result<Netlink> {
        // No protocol is protocol 0, which is rtnetlink.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// The number of an interface.
    pub(super) fn index_of(&self, name: &str) -> io::Result<u32> {
        Ok(netdevice::name_to_index(&self.socket, name)?)
    }

    /// Takes the loopback interface up.
    pub(super) fn loopback_up(&mut self, index: u32) -> io::Result<()> {
        let message = Message::new(NEW_LINK).interface(index, UP);
        self.ask(message)
    }

    /// Takes an interface up, for packets of at most `mtu` bytes; the kernel keeps `queue_packets` until they are read.
    /// Addresses of 127.0.0.0/8 may leave by it and come in: nothing else may use them in a namespace of its own.
    pub(super) fn device_up(&mut self, index: u32, mtu: u32, queue_packets: u32) -> io::Result<()> {
        // Before it is up, or it speaks of itself. A kernel without IPv6 has nothing to say and refuses this.
        let silent = Message::new(NEW_LINK).interface(index, 0).nested(LINK_FAMILIES, |families| {
            families.nested(u16::from(INET6), |family| family.value(INET6_ADDRESS_GENERATION, &[GENERATE_NO_ADDRESS]))
        });
        // Without it, a few packets more go over the line; nothing else changes.
        let _ = self.ask(silent);
        let message = Message::new(NEW_LINK)
            .interface(index, UP)
            .value(LINK_MTU, &mtu.to_ne_bytes())
            .value(LINK_QUEUE_LENGTH, &queue_packets.to_ne_bytes())
            .nested(LINK_FAMILIES, |families| {
                families.nested(u16::from(INET), |family| {
                    family.nested(INET_SETTINGS, |settings| settings.value(INET_ROUTE_LOCALNET, &1_u32.to_ne_bytes()))
                })
            });
        self.ask(message)
    }

    /// Gives an interface an address of its own and says which one lies behind it: `prefix` bits of `peer`.
    pub(super) fn add_address(&mut self, index: u32, own: Ipv4Addr, peer: Ipv4Addr, prefix: u8) -> io::Result<()> {
        self.ask(Message::new(NEW_ADDRESS).address(index, own, peer, prefix))
    }

    /// Takes an address away.
    pub(super) fn delete_address(&mut self, index: u32, own: Ipv4Addr, prefix: u8) -> io::Result<()> {
        self.ask(Message::new(DELETE_ADDRESS).address(index, own, own, prefix))
    }

    fn ask(&mut self, message: Message) -> io::Result<()> {
        self.sequence += 1;
        let bytes = message.finish(self.sequence);
        sendto(&self.socket, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let mut answer = [0; 4096];
        let (received, _) = recv(&self.socket, &mut answer, RecvFlags::empty())?;
        read_answer(&answer[..received])
    }
}

/// The kernel's answer to a message: the error's number, or none.
fn read_answer(answer: &[u8]) -> io::Result<()> {
    let unexpected = || io::Error::new(io::ErrorKind::InvalidData, "netlink answers with what is no answer");
    let kind = answer.get(4..6).ok_or_else(unexpected)?;
    let code = answer.get(HEADER_BYTES..HEADER_BYTES + 4).ok_or_else(unexpected)?;
    if u16::from_ne_bytes([kind[0], kind[1]]) != ANSWER_IS_ERROR {
        return Err(unexpected());
    }
    match i32::from_ne_bytes([code[0], code[1], code[2], code[3]]) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code.saturating_neg())),
    }
}

/// A message that is written: a header, a fixed part, and values with their lengths.
#[derive(Debug)]
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn new(kind: u16) -> Message {
        let creates = if kind == NEW_ADDRESS { REPLACES | CREATES } else { 0 };
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(IS_REQUEST | WANTS_ACKNOWLEDGEMENT | creates).to_ne_bytes());
        Message { bytes }
    }

    /// The fixed part about an interface, whose `flags` are set.
    fn interface(mut self, index: u32, flags: u32) -> Message {
        // Family and type: any.
        self.bytes.extend([0; 4]);
        self.bytes.extend(index.to_ne_bytes());
        self.bytes.extend(flags.to_ne_bytes());
        // Only these change.
        self.bytes.extend(flags.to_ne_bytes());
        self
    }

    /// The fixed part about an address, and the address.
    fn address(mut self, index: u32, own: Ipv4Addr, peer: Ipv4Addr, prefix: u8) -> Message {
        // No flags; it holds everywhere.
        self.bytes.extend([INET, prefix, 0, 0]);
        self.bytes.extend(index.to_ne_bytes());
        self.value(ADDRESS_OWN, &own.octets()).value(ADDRESS_PEER, &peer.octets())
    }

    fn value(mut self, kind: u16, value: &[u8]) -> Message {
        let length = u16::try_from(4 + value.len()).expect("a value of ours is short");
        self.bytes.extend(length.to_ne_bytes());
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    fn nested(mut self, kind: u16, fill: impl FnOnce(Message) -> Message) -> Message {
        let inner = fill(Message { bytes: Vec::new() });
        // Values inside are padded already, and their padding counts.
        let length = u16::try_from(4 + inner.bytes.len()).expect("a value of ours is short");
        self.bytes.extend(length.to_ne_bytes());
        self.bytes.extend((kind | NESTED).to_ne_bytes());
        self.bytes.extend(inner.bytes);
        self
    }

    fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = u32::try_from(self.bytes.len()).expect("a message of ours is short");
        self.bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_padded_and_nested_ones_count_what_is_in_them() {
        let message = Message::new(NEW_LINK)
            .interface(3, UP)
            .nested(LINK_FAMILIES, |families| families.nested(10, |family| family.value(8, &[1])));
        let bytes = message.finish(7);
        assert_eq!(bytes.len(), HEADER_BYTES + 16 + 4 + 4 + 8);
        assert_eq!(bytes[0..4], 48_u32.to_ne_bytes());
        assert_eq!(bytes[8..12], 7_u32.to_ne_bytes());
        assert_eq!(bytes[20..24], 3_u32.to_ne_bytes());
        assert_eq!(bytes[32..36], [16_u16.to_ne_bytes(), (26 | NESTED).to_ne_bytes()].concat());
        assert_eq!(bytes[40..48], [5_u16.to_ne_bytes(), 8_u16.to_ne_bytes(), [1, 0], [0, 0]].concat());
    }

    #[test]
    fn an_answer_is_nothing_but_an_error_or_none() {
        let check = |kind: u16, code: i32, expected: Option<io::ErrorKind>| {
            let mut answer = vec![0; HEADER_BYTES];
            answer[4..6].copy_from_slice(&kind.to_ne_bytes());
            answer.extend(code.to_ne_bytes());
            assert_eq!(read_answer(&answer).err().map(|error| error.kind()), expected, "{kind} {code}");
        };
        check(ANSWER_IS_ERROR, 0, None);
        check(ANSWER_IS_ERROR, -1, Some(io::ErrorKind::PermissionDenied));
        check(3, 0, Some(io::ErrorKind::InvalidData));
        assert!(read_answer(&[0; 7]).is_err());
    }
}
