//! Check for enough local ports: every connection to one server takes one.
//!
//! Connections that end with their last request leave TIME_WAIT to the server, which closes first; so ports are needed
//! only for open and closing connections. Descriptors are checked elsewhere, at process start.

use std::fs;

use super::pace::closing::CLOSING_MAX;
use super::target::Connection;

/// Ports left for other programs.
const SPARE: u64 = 256;

/// Compares the ports that users need with those of the calling thread's network namespace.
///
/// Connections in TIME_WAIT are not counted: the kernel reports how many there are, but not their side and peer, and
/// only ours to the same server could be in the way. If they are, requests fail with a class of their own, which
/// refuses the figures.
///
/// # Errors
/// Both numbers, and the remedy.
pub(crate) fn check(users: usize, connection: Connection) -> Result<(), String> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok().and_then(|text| range(&text));
    // A kernel that does not say is asked no further.
    range.map_or(Ok(()), |range| hold(needed(users, connection), range))
}

fn needed(users: usize, connection: Connection) -> u64 {
    let closing = if connection == Connection::KeepAlive { 0 } else { users.min(CLOSING_MAX) };
    (users + closing) as u64
}

fn hold(needed: u64, (first, last): (u64, u64)) -> Result<(), String> {
    let free = (last + 1).saturating_sub(first + SPARE);
    if needed <= free {
        return Ok(());
    }
    Err(format!(
        "{needed} ports are needed and {free} are free ({first} to {last}, without {SPARE} for others): use fewer users, or \
         widen net.ipv4.ip_local_port_range"
    ))
}

fn range(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_enough_up_to_the_last_one_that_is_not_left_to_others() {
        let check = |needed: u64, expected: bool| {
            assert_eq!(hold(needed, (32_768, 60_999)).is_ok(), expected, "{needed}");
        };
        check(28_232 - SPARE, true);
        check(28_232 - SPARE + 1, false);
        let refused = hold(30_000, (32_768, 60_999)).unwrap_err();
        assert!(refused.starts_with("30000 ports are needed and 27976 are free (32768 to 60999, "), "{refused}");
        assert!(hold(1, (60_999, 60_999)).unwrap_err().contains(" 0 are free "));
    }

    #[test]
    fn connections_that_end_need_a_port_while_they_are_closed() {
        assert_eq!(needed(10, Connection::KeepAlive), 10);
        assert_eq!(needed(10, Connection::New), 20);
        assert_eq!(needed(5000, Connection::New), 5000 + CLOSING_MAX as u64);
    }

    #[test]
    fn the_kernel_is_read() {
        assert_eq!(range("32768\t60999\n"), Some((32_768, 60_999)));
        assert_eq!(range("32768\n"), None);
    }
}
