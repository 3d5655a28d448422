//! Stored results of one trial.
//!
//! It deliberately contains nothing of several trials together: that is their cell's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Batched;

/// One variant at one level in one half of a block.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Variant.
    pub variant: String,
    /// Level.
    pub level: u64,
    /// Start of the subjects, from 0; 0 in results that do not have it.
    #[serde(default)]
    pub start: u32,
    /// Block, from 0 within its level.
    pub block: u32,
    /// Place in the mirrored order, from 0.
    pub place: u32,
    /// Start since the run's start.
    pub start_ms: f64,
    /// Wall time; where units are settled in between, that of the units alone.
    pub duration_ms: f64,
    /// Whole units of work.
    pub units: u64,
    /// Time of each unit.
    pub unit_times_ms: Vec<f64>,
    /// Valid answers.
    pub requests: u64,
    /// Records that were inserted in whole units; 0 for other workloads.
    #[serde(default)]
    pub records: u64,
    /// Failed requests.
    pub errors: u64,
    /// Bytes received, those of TLS with them.
    pub bytes_received: u64,
    /// Bytes sent, those of TLS with them.
    pub bytes_sent: u64,
    /// Mean response time.
    pub response_time_mean_ms: f64,
    /// CPU time of the subject, if it could be watched.
    pub subject_cpu_us: Option<f64>,
    /// CPU time of the servers behind it, where there are any of ours.
    pub backend_cpu_us: Option<f64>,
    /// Instructions of the subject, if they could be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_instructions: Option<u64>,
    /// Instructions of the servers behind it, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_instructions: Option<u64>,
    /// A batch's own report; absent for other workloads.
    pub batch: Option<Batched>,
    /// CPU time of all threads of the generator.
    pub generator_cpu_us: f64,
    /// CPU time of its busiest thread.
    pub generator_busiest_cpu_us: f64,
    /// Time for which the one of its threads that waited longest was ready and had no core.
    pub generator_run_queue_us: f64,
    /// Share of the cores' time that the host stole; 0 if unknown to the kernel, and in results that do not have it.
    #[serde(default)]
    pub stolen_share: f64,
}
