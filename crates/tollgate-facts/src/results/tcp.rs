//! What the kernel counted of TCP meanwhile.

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
