//! The kernel's TCP counts in the network namespace of the calling thread: connections refused by listeners, and
//! retransmitted segments.
//!
//! The kernel counts for all programs of a namespace together, so others' traffic is included.

use std::fs;

use tollgate_facts::results::TcpCounts;

/// Reads the current counts; zeros if /proc lacks them.
pub fn tcp_counts() -> TcpCounts {
    let read = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
    parse(&read("netstat"), &read("snmp"))
}

fn parse(netstat: &str, snmp: &str) -> TcpCounts {
    TcpCounts {
        listen_overflows: count(netstat, "TcpExt:", "ListenOverflows"),
        listen_drops: count(netstat, "TcpExt:", "ListenDrops"),
        segments_retransmitted: count(snmp, "Tcp:", "RetransSegs"),
        segments_sent: count(snmp, "Tcp:", "OutSegs"),
        own: None,
    }
}

/// Returns the count `name` of a group: a line of names is followed by a line of numbers; both begin with the group.
fn count(text: &str, group: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group));
    let (names, numbers) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let mut pairs = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
    pairs.find(|(known, _)| *known == name).and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_by_their_names() {
        let netstat =
            "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 9 3 5\nIpExt: InNoRoutes\nIpExt: 7\n";
        let snmp = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm MaxConn OutSegs RetransSegs\nTcp: 1 -1 999 1\n";
        let found = parse(netstat, snmp);
        let expected = TcpCounts {
            listen_overflows: 3,
            listen_drops: 5,
            segments_retransmitted: 1,
            segments_sent: 999,
            own: None,
        };
        assert_eq!(found, expected);
        assert_eq!(found.turned_away(), 5);
        let mut twice = found;
        twice += found;
        assert_eq!(twice.since(found), found);
        assert_eq!(parse("", "Tcp: OutSegs\n"), TcpCounts::default());
        let nothing = TcpCounts::default();
        assert_eq!(nothing.turned_away(), 0);
    }

    #[test]
    fn this_machine_tells() {
        let before = tcp_counts();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // The three segments that begin a connection.
        assert!(tcp_counts().since(before).segments_sent >= 3);
    }
}
