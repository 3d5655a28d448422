//! Building blocks of figures: the form of a distribution, resource use of processes, the kernel's counters, and the
//! names of the figures that a toll compares.
//!
//! It knows no run, so that every part of a result may be made of it.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::Estimate;

/// A percentile that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// The median.
    P50,
    /// The 90th.
    P90,
    /// The 95th.
    P95,
    /// The 99th.
    P99,
    /// The 99.9th.
    P999,
}

/// A distribution in milliseconds. A percentile with fewer than 30 samples beyond it is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: f64,
}

impl Percentiles {
    /// Each percentile with its quantile, the highest first.
    pub fn by_quantile(&self) -> [(f64, Option<f64>); 5] {
        [(0.999, self.p999), (0.99, self.p99), (0.95, self.p95), (0.9, self.p90), (0.5, self.p50)]
    }

    /// The percentile of this rank.
    pub fn at(&self, rank: Rank) -> Option<f64> {
        match rank {
            Rank::P50 => self.p50,
            Rank::P90 => self.p90,
            Rank::P95 => self.p95,
            Rank::P99 => self.p99,
            Rank::P999 => self.p999,
        }
    }

    /// Removes percentiles that only a steady load has: the rest is valid for every load.
    #[must_use]
    pub fn unsteady(self) -> Percentiles {
        Percentiles { mean: self.mean, max: self.max, ..Percentiles::default() }
    }
}

/// The 95 % interval of a percentile, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Within {
    /// Its lower end.
    pub low: f64,
    /// Its upper end; absent if too few answers were slower to bound it.
    pub high: Option<f64>,
}

/// The intervals of the percentiles of a distribution, over clusters of answers. A percentile has none if it is not
/// printed, if there are fewer than six clusters, or if they differ so much that it may be anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PercentileIntervals {
    /// Interval of the median.
    pub p50: Option<Within>,
    /// Interval of the 90th percentile.
    pub p90: Option<Within>,
    /// Interval of the 95th percentile.
    pub p95: Option<Within>,
    /// Interval of the 99th percentile.
    pub p99: Option<Within>,
    /// Interval of the 99.9th percentile.
    pub p999: Option<Within>,
    /// Clusters that they are over: starts of the server where there are two or more, blocks of one start, or stretches of a
    /// single load's time.
    pub clusters: u32,
}

impl PercentileIntervals {
    /// The interval of one percentile.
    pub fn at(&self, rank: Rank) -> Option<Within> {
        match rank {
            Rank::P50 => self.p50,
            Rank::P90 => self.p90,
            Rank::P95 => self.p95,
            Rank::P99 => self.p99,
            Rank::P999 => self.p999,
        }
    }

    /// A percentile of this time with its interval, whose upper end may be open: then it is infinite. Without an
    /// interval, an estimate of one cluster, which has none.
    pub fn estimate(&self, rank: Rank, time_ms: f64) -> Estimate {
        let alone = Estimate { mean: time_ms, low: time_ms, high: time_ms, n: 1 };
        self.at(rank).map_or(alone, |Within { low, high }| {
            let high = high.unwrap_or(f64::INFINITY);
            Estimate { mean: time_ms, low, high, n: self.clusters }
        })
    }
}

/// A time that is longer by more than this share than without the generator's own delay is another one: half of the tenth
/// by which no unmarked percentile may be off a server's log, since the way there and back is in both times …
pub const DELAY_SHARE_MAX: f64 = 0.05;
/// … unless the difference is below the time to wake up any program, in milliseconds.
const WAKING_MS: f64 = 0.02;

/// Whether a time clearly exceeds its value without the generator's own delay.
pub fn is_delayed(time_ms: f64, undelayed_ms: f64) -> bool {
    time_ms - undelayed_ms > WAKING_MS.max(DELAY_SHARE_MAX * undelayed_ms)
}

/// Resource use of a subject's process.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SubjectUse {
    /// User and system time for one valid answer, in microseconds.
    pub cpu_us_per_request: Estimate,
    /// Instructions for one valid answer; absent where they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions_per_request: Option<Estimate>,
    /// CPU time by wall time: 1 is one core.
    pub cpu_share: f64,
    /// Largest resident memory seen.
    pub resident_memory_bytes_max: u64,
    /// Mean of the resident memory that was seen; absent in results that do not have it.
    pub resident_memory_bytes_mean: Option<f64>,
    /// Most threads seen.
    pub threads_max: u32,
}

impl SubjectUse {
    /// Largest resident memory in bytes; absent where it is not known.
    pub fn memory_bytes(&self) -> Option<u64> {
        Some(self.resident_memory_bytes_max).filter(|bytes| *bytes > 0)
    }
}

/// Resource use of the generator.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorUse {
    /// CPU time of its busiest thread by wall time: 1 is one core.
    pub cpu_share: f64,
    /// CPU time of all its threads for one answer, in microseconds.
    pub cpu_us_per_request: f64,
    /// Time for which the thread that waited longest was ready and had no core, by wall time.
    pub run_queue_share: f64,
    /// Lateness of its threads at a timer of a millisecond; all absent in results that do not have it, and of inserts.
    #[serde(default)]
    pub stalls_ms: Percentiles,
}

/// Counts of TCP in one namespace, all programs together, and of the load's own sockets.
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
    /// Kernel counters of the load's own sockets; absent if they were not examined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<SocketCounts>,
}

/// Kernel counters of only the client's sockets of a load (TCP_INFO), of each connection from when its first request
/// counted until it was closed or the load was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, derive_more::AddAssign, Serialize, Deserialize, JsonSchema)]
pub struct SocketCounts {
    /// Segments that the client sent, those sent again among them.
    pub segments_sent: u64,
    /// Segments that the client sent again.
    pub segments_retransmitted: u64,
    /// Segments that the client received.
    pub segments_received: u64,
    /// Segments of the server that came before one that it had sent earlier: the earlier one was lost and sent again,
    /// or overtaken. A client sees nothing else of retransmissions by its server.
    pub segments_out_of_order: u64,
}

impl AddAssign for TcpCounts {
    fn add_assign(&mut self, other: TcpCounts) {
        self.listen_overflows += other.listen_overflows;
        self.listen_drops += other.listen_drops;
        self.segments_retransmitted += other.segments_retransmitted;
        self.segments_sent += other.segments_sent;
        if let Some(own) = other.own {
            *self.own.get_or_insert_default() += own;
        }
    }
}

impl TcpCounts {
    /// The counts since `before`.
    pub fn since(self, before: TcpCounts) -> TcpCounts {
        TcpCounts {
            listen_overflows: self.listen_overflows.saturating_sub(before.listen_overflows),
            listen_drops: self.listen_drops.saturating_sub(before.listen_drops),
            segments_retransmitted: self.segments_retransmitted.saturating_sub(before.segments_retransmitted),
            segments_sent: self.segments_sent.saturating_sub(before.segments_sent),
            own: self.own,
        }
    }

    /// Connections that listeners turned away.
    pub fn turned_away(self) -> u64 {
        self.listen_drops.max(self.listen_overflows)
    }
}

/// The figure that a toll compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Time of one unit of work: the toll on throughput at equal concurrency.
    #[default]
    UnitTime,
    /// CPU time of the subject for one [`super::Piece`] of work: a valid answer, or a record.
    SubjectCpu,
    /// Instructions of the subject for one such piece.
    Instructions,
    /// Bytes received for one unit of work.
    Bytes,
    /// Median of the response time at equal offered rate.
    MedianAtRate,
    /// 95th percentile of the response time at equal offered rate.
    P95AtRate,
    /// 99th percentile of the response time at equal offered rate.
    P99AtRate,
}
