//! How many work processes a pool has, as a configuration says it.
//!
//! It deliberately knows no pool: whoever makes one reads this.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::number::optional_within;

/// The bounded pool of work processes. One is a permit and a database connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkProcesses {
    /// How many there are.
    pub limit: u32,
    /// How many requests may wait for one; the next is answered 503.
    pub queue_max: u32,
    /// How long one may wait before it is answered 503.
    pub wait_ms_max: u32,
}

/// The bounded pool of work processes as it stands in a file. One is a permit and a database connection.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "WorkProcesses")]
pub(crate) struct WorkProcessesTable {
    /// How many there are.
    #[serde(deserialize_with = "optional_within::<1, WORK_PROCESSES_MAX, u32, _>")]
    #[schemars(range(min = 1, max = WORK_PROCESSES_MAX))]
    pub(crate) limit: Option<u32>,
    /// How many requests may wait for one; the next is answered 503.
    #[serde(deserialize_with = "optional_within::<0, QUEUE_MAX, u32, _>")]
    #[schemars(range(min = 0, max = QUEUE_MAX))]
    pub(crate) queue_max: Option<u32>,
    /// How long one may wait before it is answered 503.
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
    /// What it means where `common` holds unless it says otherwise.
    pub(crate) fn over(&self, common: &WorkProcesses) -> WorkProcesses {
        WorkProcesses {
            limit: self.limit.unwrap_or(common.limit),
            queue_max: self.queue_max.unwrap_or(common.queue_max),
            wait_ms_max: self.wait_ms_max.unwrap_or(common.wait_ms_max),
        }
    }
}

impl WorkProcesses {
    /// How long a request may wait for a work process.
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
