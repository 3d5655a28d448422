//! Time that users who wait spent beyond the highest percentile that is printed.
//!
//! Such a load asks nothing while a server stalls, so that a stall of any length is in as many answers as there are
//! users. By requests that is next to nothing, by time it may be most of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Beyond this share of the users' time an open load would have met the tail in one of twenty requests, and its p95 would
/// lie in it.
pub const TAIL_SHARE_MAX: f64 = 0.05;

/// The slowest answers of users who wait: those beyond the highest percentile that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tail {
    /// The percentile, as a share: 0.999 for p99.9.
    pub quantile: f64,
    /// Its response time in milliseconds.
    pub from_ms: f64,
    /// Valid answers beyond it.
    pub answers: u64,
    /// Mean response time of these, in milliseconds.
    pub mean_ms: f64,
    /// Their response times by those of all valid answers: the share of the users' time that no percentile shows.
    pub time_share: f64,
}

impl Tail {
    /// The percentile by its name: `p99.9`.
    pub fn percentile(&self) -> String {
        format!("p{}", (self.quantile * 1e6).round() / 1e4)
    }

    /// The slowest answers in words, if their share of the users' time is one that a reader would miss.
    pub fn told(&self) -> Option<String> {
        let Tail { answers, mean_ms, time_share, .. } = self;
        let share = time_share * 100.0;
        (*time_share > TAIL_SHARE_MAX)
            .then(|| format!("{share:.1} % of the users' time, in {answers} answers of {mean_ms:.3} ms on average"))
    }
}
