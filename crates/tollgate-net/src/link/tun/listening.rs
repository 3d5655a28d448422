//! Listeners in a network namespace, from the kernel's own table, without connecting to anybody.
//!
//! It reads no more than it is asked for: one port.

use std::io;
use std::net::Ipv4Addr;

use super::Door;

/// Whether somebody listens at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listening {
    /// Nobody.
    Nobody,
    /// Somebody, at this address only, which the other end does not reach.
    Elsewhere(Ipv4Addr),
    /// Somebody, at an address that the other end reaches.
    Reachable,
}

/// State of a listening socket in the kernel's table.
const LISTEN: &str = "0A";

impl Door {
    /// Whether somebody inside listens at this port on `address`.
    ///
    /// # Errors
    /// As [`Door::enter`], or when the kernel's table cannot be read.
    pub fn listening(&self, address: Ipv4Addr, port: u16) -> io::Result<Listening> {
        self.within(|| {
            let table = std::fs::read_to_string("/proc/thread-self/net/tcp")?;
            // Absent without IPv6.
            let table6 = std::fs::read_to_string("/proc/thread-self/net/tcp6").unwrap_or_default();
            Ok(found(&table, &table6, address, port))
        })?
    }
}

fn found(table: &str, table6: &str, address: Ipv4Addr, port: u16) -> Listening {
    // Who listens at any address of IPv6 takes IPv4, too.
    let takes_both = at_port(table6, port).any(|host| host.bytes().all(|byte| byte == b'0'));
    let mut elsewhere = None;
    for host in at_port(table, port) {
        // The address's bytes in memory order, read as a number of this machine.
        let Ok(number) = u32::from_str_radix(host, 16) else { continue };
        let own = Ipv4Addr::from(number.to_ne_bytes());
        if own.is_unspecified() || own == address {
            return Listening::Reachable;
        }
        elsewhere = Some(own);
    }
    match elsewhere {
        _ if takes_both => Listening::Reachable,
        Some(own) => Listening::Elsewhere(own),
        None => Listening::Nobody,
    }
}

/// The hosts, as the table writes them, at which somebody listens with this port.
fn at_port(table: &str, port: u16) -> impl Iterator<Item = &str> {
    table.lines().skip(1).filter_map(move |line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (host, own_port) = fields.next()?.split_once(':')?;
        let is_it = u16::from_str_radix(own_port, 16) == Ok(port) && fields.nth(1) == Some(LISTEN);
        is_it.then_some(host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_stands_in_the_table() {
        let far = Ipv4Addr::new(127, 77, 0, 2);
        let line = |host: [u8; 4], port: u16, state: &str| {
            let number = u32::from_ne_bytes(host);
            format!("  sl  local_address rem_address   st\n   0: {number:08X}:{port:04X} 00000000:0000 {state} 0:0\n")
        };
        let check = |table: &str, table6: &str, expected: Listening| {
            assert_eq!(found(table, table6, far, 8080), expected, "{table}{table6}");
        };
        check("", "", Listening::Nobody);
        check(&line([0; 4], 8080, LISTEN), "", Listening::Reachable);
        check(&line(far.octets(), 8080, LISTEN), "", Listening::Reachable);
        check(&line([127, 0, 0, 1], 8080, LISTEN), "", Listening::Elsewhere(Ipv4Addr::LOCALHOST));
        check(&line([0; 4], 8081, LISTEN), "", Listening::Nobody);
        check(&line([0; 4], 8080, "01"), "", Listening::Nobody);
        let any6 = format!("head\n 0: {}:1F90 {}:0000 0A 0:0\n", "0".repeat(32), "0".repeat(32));
        check("", &any6, Listening::Reachable);
        check(&line([127, 0, 0, 1], 8080, LISTEN), &any6, Listening::Reachable);
    }
}
