//! Whether the machine has the ports that a load needs: every connection to one server takes one of our own.
//!
//! Connections that end with their last request leave the waiting (TIME_WAIT) to the server, which closes first; so
//! what is needed is those that are open at once, and those that are being closed. Descriptors are looked at by whoever
//! starts the process.

use std::fs;

use super::closing::CLOSING_MAX;
use super::target::Connection;

/// Ports that are left to everybody else on the machine.
const SPARE: u64 = 256;

/// Holds what users who connect like this need against what the network namespace of the calling thread has.
///
/// # Errors
/// Both numbers, and what helps.
pub(super) fn check(users: usize, connection: Connection) -> Result<(), String> {
    let waiting =
        fs::read_to_string("/proc/thread-self/net/sockstat").ok().and_then(|text| waiting(&text)).unwrap_or(0);
    check_range(users, connection, waiting)
}

/// The same for a run, which goes on for long: what waits to be used again now, does so for a minute at most.
///
/// # Errors
/// Both numbers, and what helps.
pub(crate) fn check_for_long(users: usize, connection: Connection) -> Result<(), String> {
    check_range(users, connection, 0)
}

fn check_range(users: usize, connection: Connection, waiting: u64) -> Result<(), String> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok().and_then(|text| range(&text));
    // A kernel that does not say is asked no further: a port that is missing is an error of its own class.
    range.map_or(Ok(()), |range| hold(needed(users, connection), range, waiting))
}

fn needed(users: usize, connection: Connection) -> u64 {
    let closing = if connection == Connection::KeepAlive { 0 } else { users.min(CLOSING_MAX) };
    (users + closing) as u64
}

/// Waiting ports may be taken again on loopback after a second, so only those that wait now are counted as taken.
fn hold(needed: u64, (first, last): (u64, u64), waiting: u64) -> Result<(), String> {
    let all = (last + 1).saturating_sub(first);
    let free = all.saturating_sub(waiting + SPARE);
    if needed <= free {
        return Ok(());
    }
    Err(format!(
        "{needed} ports are needed and {free} are free ({first} to {last}, {waiting} of them wait to be used again): use \
         fewer users, wait a minute, or widen net.ipv4.ip_local_port_range"
    ))
}

fn range(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Connections in TIME_WAIT, of the line `TCP: inuse 5 orphan 0 tw 12 …`.
fn waiting(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_enough_up_to_the_last_free_one() {
        let check = |needed: u64, waiting: u64, expected: bool| {
            assert_eq!(hold(needed, (32_768, 60_999), waiting).is_ok(), expected, "{needed} {waiting}");
        };
        check(28_232 - SPARE, 0, true);
        check(28_232 - SPARE + 1, 0, false);
        check(1, 28_232 - SPARE - 1, true);
        check(1, 28_232, false);
        let refused = hold(30_000, (32_768, 60_999), 5).unwrap_err();
        assert!(
            refused.starts_with("30000 ports are needed and 27971 are free (32768 to 60999, 5 of them"),
            "{refused}"
        );
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
        let text = "sockets: used 192\nTCP: inuse 5 orphan 0 tw 12 alloc 7 mem 1\nUDP: inuse 1 mem 0\n";
        assert_eq!((waiting(text), waiting("sockets: used 1\n")), (Some(12), None));
    }
}
