//! What the kernel counted of TCP in the network namespace of the calling thread: connections that listeners turned
//! away, and segments that had to be sent again.
//!
//! The kernel keeps one account for all programs of a namespace, so what others do is in it; it deliberately guesses nothing
//! of whose a count is.

use std::fs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts of TCP in one namespace, all programs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TcpCounts {
    /// Connections that were turned away because a listener's queue was full (`ListenOverflows`).
    pub listen_overflows: u64,
    /// Connections that listeners turned away for any reason (`ListenDrops`).
    pub listen_drops: u64,
    /// Segments that were sent again (`RetransSegs`).
    pub segments_retransmitted: u64,
    /// Segments that were sent, without those sent again (`OutSegs`).
    pub segments_sent: u64,
}

impl TcpCounts {
    /// The counts by now; zeros where /proc does not tell.
    pub fn now() -> TcpCounts {
        let read = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
        parse(&read("netstat"), &read("snmp"))
    }

    /// What was counted since `before`.
    pub fn since(self, before: TcpCounts) -> TcpCounts {
        TcpCounts {
            listen_overflows: self.listen_overflows.saturating_sub(before.listen_overflows),
            listen_drops: self.listen_drops.saturating_sub(before.listen_drops),
            segments_retransmitted: self.segments_retransmitted.saturating_sub(before.segments_retransmitted),
            segments_sent: self.segments_sent.saturating_sub(before.segments_sent),
        }
    }

    /// Both added.
    pub fn plus(self, other: TcpCounts) -> TcpCounts {
        TcpCounts {
            listen_overflows: self.listen_overflows + other.listen_overflows,
            listen_drops: self.listen_drops + other.listen_drops,
            segments_retransmitted: self.segments_retransmitted + other.segments_retransmitted,
            segments_sent: self.segments_sent + other.segments_sent,
        }
    }

    /// Connections that listeners turned away.
    pub fn turned_away(self) -> u64 {
        self.listen_drops.max(self.listen_overflows)
    }
}

fn parse(netstat: &str, snmp: &str) -> TcpCounts {
    TcpCounts {
        listen_overflows: count(netstat, "TcpExt:", "ListenOverflows"),
        listen_drops: count(netstat, "TcpExt:", "ListenDrops"),
        segments_retransmitted: count(snmp, "Tcp:", "RetransSegs"),
        segments_sent: count(snmp, "Tcp:", "OutSegs"),
    }
}

/// The count `name` of a group: a line of names is followed by a line of numbers, both begin with the group.
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
        let expected =
            TcpCounts { listen_overflows: 3, listen_drops: 5, segments_retransmitted: 1, segments_sent: 999 };
        assert_eq!(found, expected);
        assert_eq!(found.turned_away(), 5);
        assert_eq!(found.plus(found).since(found), found);
        assert_eq!(parse("", "Tcp: OutSegs\n"), TcpCounts::default());
        let nothing = TcpCounts::default();
        assert_eq!(nothing.turned_away(), 0);
    }

    #[test]
    fn this_machine_tells() {
        let before = TcpCounts::now();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // The three segments that begin a connection.
        assert!(TcpCounts::now().since(before).segments_sent >= 3);
    }
}
