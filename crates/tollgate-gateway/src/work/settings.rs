//! Configured limits of a pool of work processes.
//!
//! It knows no pool: the code that makes one reads this.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::number::optional_within;

/// The bounded pool of work processes. One is a permit and a database connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkProcesses {
    /// Number of work processes.
    pub limit: u32,
    /// Number of requests that may wait for one; the next is answered 503.
    pub queue_max: u32,
    /// Longest wait before a request is answered 503.
    pub wait_ms_max: u32,
}

/// The bounded pool of work processes as written in a file. One is a permit and a database connection.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "WorkProcesses")]
pub(crate) struct WorkProcessesTable {
    /// Number of work processes.
    #[serde(deserialize_with = "optional_within::<1, WORK_PROCESSES_MAX, u32, _>")]
    #[schemars(range(min = 1, max = WORK_PROCESSES_MAX))]
    pub(crate) limit: Option<u32>,
    /// Number of requests that may wait for one; the next is answered 503.
    #[serde(deserialize_with = "optional_within::<0, QUEUE_MAX, u32, _>")]
    #[schemars(range(min = 0, max = QUEUE_MAX))]
    pub(crate) queue_max: Option<u32>,
    /// Longest wait before a request is answered 503.
    #[serde(deserialize_with = "optional_within::<1, WAIT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = WAIT_MS_MAX))]
    pub(crate) wait_ms_max: Option<u32>,
}

// The table of limits: what a configuration may ask for at most.
/// Most work processes: a connection each, and 1,000 are about 200 MB of SQLite caches.
pub const WORK_PROCESSES_MAX: i64 = 1_000;
const QUEUE_MAX: i64 = 1_000_000;
/// Longest wait for a work process, in milliseconds.
pub const WAIT_MS_MAX: i64 = 600_000;

impl WorkProcessesTable {
    /// Returns its settings, with those of `common` for missing ones.
    pub(crate) fn over(&self, common: &WorkProcesses) -> WorkProcesses {
        WorkProcesses {
            limit: self.limit.unwrap_or(common.limit),
            queue_max: self.queue_max.unwrap_or(common.queue_max),
            wait_ms_max: self.wait_ms_max.unwrap_or(common.wait_ms_max),
        }
    }
}

impl WorkProcesses {
    /// Longest wait of a request for a work process.
    pub fn wait_max(&self) -> Duration {
        Duration::from_millis(u64::from(self.wait_ms_max))
    }
}

impl Default for WorkProcesses {
    fn default() -> WorkProcesses {
        // 20: the work processes of the tuned SAP Gateway that the flight service was published with.
        WorkProcesses { limit: 20, queue_max: 1_000, wait_ms_max: 10_000 }
    }
}
