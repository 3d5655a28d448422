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
        self.with(before, u64::saturating_sub)
    }

    /// Both added.
    pub fn plus(self, other: TcpCounts) -> TcpCounts {
        self.with(other, |one, other| one + other)
    }

    fn with(self, other: TcpCounts, of: fn(u64, u64) -> u64) -> TcpCounts {
        TcpCounts {
            listen_overflows: of(self.listen_overflows, other.listen_overflows),
            listen_drops: of(self.listen_drops, other.listen_drops),
            segments_retransmitted: of(self.segments_retransmitted, other.segments_retransmitted),
            segments_sent: of(self.segments_sent, other.segments_sent),
        }
    }

    /// Connections that listeners turned away.
    pub fn turned_away(self) -> u64 {
        self.listen_drops.max(self.listen_overflows)
    }
}
