//! A `[[service]]` of kind `fibonacci`: how many may compute at once, and how long a number stays good.
//!
//! It is apart from the other services: it has no database.

use crate::config::WorkProcesses;

/// The Fibonacci service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fibonacci {
    /// Permits to compute.
    pub work_processes: WorkProcesses,
    /// How long an answer stays good, and is kept by the response cache.
    pub lifetime_seconds: u32,
}

/// As long as the resource of the published measurement stayed in the server's cache.
const LIFETIME_SECONDS: u32 = 300;

/// Longest lifetime: a year.
pub(crate) const LIFETIME_SECONDS_MAX: i64 = 365 * 24 * 3600;

impl Default for Fibonacci {
    fn default() -> Fibonacci {
        Fibonacci { work_processes: WorkProcesses::default(), lifetime_seconds: LIFETIME_SECONDS }
    }
}
