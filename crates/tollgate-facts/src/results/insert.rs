//! Stored results of inserts: the way records were sent, the records in the table, and the law fitted to the times.

use derive_more::AddAssign;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::Estimate;

/// The way in which a variant inserts records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inserting {
    /// Name of the mode, such as `batch-100`.
    pub mode: String,
    /// Most connections that it uses at the same time.
    pub connections: u32,
    /// Records in one request; absent where one request has them all.
    pub records_per_request: Option<u64>,
}

/// The records inserted by the transfers of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Inserted {
    /// Records that were acknowledged in whole transfers.
    pub records: u64,
    /// Time of a transfer by its records.
    pub ms_per_record: Estimate,
    /// Records per second.
    pub records_per_second: Estimate,
    /// User and system time of the subject for one record, in microseconds; absent where it could not be watched.
    pub subject_cpu_us_per_record: Option<Estimate>,
    /// Instructions of the subject for one record; absent where they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_instructions_per_record: Option<Estimate>,
    /// The way in which the table was compared with the acknowledgements.
    pub settlement: Settlement,
    /// Most work processes of the subject that were seen busy; absent if it does not report them.
    pub work_processes_busy_max: Option<f64>,
    /// Most requests that were seen waiting for one.
    pub work_processes_waiting_max: Option<f64>,
}

/// The records in the table after the transfers, compared with those acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, AddAssign, Serialize, Deserialize, JsonSchema)]
pub struct Settlement {
    /// Transfers whose rows were counted.
    pub counted: u64,
    /// Transfers whose records were read back and compared one by one.
    pub compared: u64,
    /// Records that were acknowledged but are not in the table.
    pub lost: u64,
    /// Rows that were not acknowledged, or that are in the table twice.
    pub surplus: u64,
    /// Rows that differ from those sent.
    pub wrong: u64,
}

impl Settlement {
    /// Whether everything examined agreed.
    pub fn agrees(self) -> bool {
        self.lost == 0 && self.surplus == 0 && self.wrong == 0
    }
}

/// T(n) = fixed + per record x n, fitted to a variant's times of a unit over the levels with relative errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// Name of the variant.
    pub variant: String,
    /// The fixed part in milliseconds, with its 95 % interval over the levels.
    pub fixed_ms: Estimate,
    /// The part for each record in milliseconds, with its 95 % interval over the levels.
    pub per_record_ms: Estimate,
    /// Root of the mean squared relative residual: 0.1 is 10 % off, typically.
    pub residual_share: f64,
    /// Least level behind it.
    pub level_min: u64,
    /// Greatest level behind it.
    pub level_max: u64,
    /// Rules of validity that marked cells behind it.
    #[serde(default)]
    pub marks: Vec<String>,
    /// The reason why it is no law; absent for a good fit.
    pub doubt: Option<String>,
}
