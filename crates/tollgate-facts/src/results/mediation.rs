//! What is stored of mediation: what the servers behind a subject used, how throughput grows with the users, and how a
//! subject became warm.

use crate::stats::warm_up::Course;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::Estimate;

/// What the servers behind a subject used while it was measured, all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackendUse {
    /// User and system time for one valid answer, in microseconds.
    pub cpu_us_per_request: Estimate,
    /// CPU time by wall time: 1 is one core.
    pub cpu_share: f64,
}

/// How a variant's throughput grows with its users, by the Universal Scalability Law: X(N) = lambda N / D(N), with
/// D(N) = 1 + alpha (N - 1) + beta N (N - 1). Intervals hold 95 % of the fits to resampled blocks, which of eight blocks
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
    /// How far the levels typically lie off the law, as a share.
    pub residual_share: Option<f64>,
    /// Levels behind it: those without errors.
    pub levels: Vec<u64>,
    /// The level with the largest measured throughput.
    pub best_level: Option<u64>,
    /// Why the law is not identified; absent where it is. What is said of it then must not be read as numbers.
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
    /// How response times went; absent in results that do not have it.
    pub course: Option<Course>,
}
