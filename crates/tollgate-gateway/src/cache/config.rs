//! `[cache]`: size limits of the response cache, and the longest wait for an answer that another request fetches.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::number::within;

/// The response cache.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cache {
    /// Whether answers are stored at all.
    pub enabled: bool,
    /// Bytes of all stored answers, with their heads and keys; when full, one without recent hits is evicted.
    #[serde(deserialize_with = "within::<0, BYTES_MAX, usize, _>")]
    #[schemars(range(min = 0, max = BYTES_MAX))]
    pub bytes_max: usize,
    /// Largest number of stored answers.
    #[serde(deserialize_with = "within::<0, ENTRIES_MAX, usize, _>")]
    #[schemars(range(min = 0, max = ENTRIES_MAX))]
    pub entries_max: usize,
    /// Bytes of the largest stored body; a larger one is sent as it comes.
    #[serde(deserialize_with = "within::<0, ENTRY_BYTES_MAX, usize, _>")]
    #[schemars(range(min = 0, max = ENTRY_BYTES_MAX))]
    pub entry_bytes_max: usize,
    /// Longest wait of a request for another's fetch, before it fetches an answer for itself.
    #[serde(deserialize_with = "within::<0, WAIT_MS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = WAIT_MS_MAX))]
    pub wait_ms_max: u32,
}

// What a configuration may ask for at most.
const BYTES_MAX: i64 = 1 << 40;
const ENTRIES_MAX: i64 = 100_000_000;
const ENTRY_BYTES_MAX: i64 = 1 << 30;
const WAIT_MS_MAX: i64 = 600_000;

impl Cache {
    /// Longest wait for an answer that another request fetches.
    pub fn wait_max(&self) -> Duration {
        Duration::from_millis(u64::from(self.wait_ms_max))
    }
}

impl Default for Cache {
    fn default() -> Cache {
        Cache {
            enabled: true,
            bytes_max: 64 << 20,
            entries_max: 10_000,
            entry_bytes_max: 1 << 20,
            // As long as one may wait for a work process.
            wait_ms_max: 10_000,
        }
    }
}
