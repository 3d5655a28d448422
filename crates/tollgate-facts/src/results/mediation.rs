//! Stored results of mediation: resource use of the servers behind a subject, growth of throughput with the users, and
//! the warm-up of a subject.

use crate::stats::warm_up::Course;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::Estimate;

/// Resource use of the servers behind a subject while it was measured, all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackendUse {
    /// User and system time for one valid answer, in microseconds.
    pub cpu_us_per_request: Estimate,
    /// CPU time by wall time: 1 is one core.
    pub cpu_share: f64,
}

/// Growth of a variant's throughput with its users, by the Universal Scalability Law: X(N) = lambda N / D(N), with D(N)
/// = 1 + alpha (N - 1) + beta N (N - 1). Intervals contain 95 % of the fits to resampled blocks, which of eight blocks
/// or more cover the truth in 90 % or more. Source: N. J. Gunther, Guerrilla Capacity Planning (2007).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// Variant.
    pub variant: String,
    /// Requests per second of one user by himself.
    pub lambda: Option<Estimate>,
    /// Share of the work in which one waits for another (contention).
    pub alpha: Option<Estimate>,
    /// Share of the work for every pair of users (coherency).
    pub beta: Option<Estimate>,
    /// Users at which throughput is largest.
    pub knee: Option<Estimate>,
    /// Typical distance of the levels from the law, as a share.
    pub residual_share: Option<f64>,
    /// Levels behind it: those without errors.
    pub levels: Vec<u64>,
    /// The level with the largest measured throughput.
    pub best_level: Option<u64>,
    /// The reason why the law is not identified; absent if it is. Its numbers must then not be used.
    pub doubt: Option<String>,
}

/// Throughput of a subject while it was warmed up by one variant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// Variant.
    pub variant: String,
    /// Users.
    pub level: u64,
    /// Start of the subject, from 0.
    pub start: u32,
    /// Seconds since its beginning, and the valid answers per second of the half second before.
    pub points: Vec<(f64, f64)>,
    /// Whether response times were steady in the end.
    pub is_steady: bool,
    /// Course of the response times; absent in results that do not have it.
    pub course: Option<Course>,
}
