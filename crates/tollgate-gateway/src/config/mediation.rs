//! `[mediation]`: limits for mediating large messages.
//!
//! The mediators themselves are configured with each route.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{WorkProcesses, WorkProcessesTable};

/// Settings of mediation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mediation {
    /// Permits to mediate messages of more than 64 KiB, each on a thread that may block.
    pub work_processes: WorkProcesses,
}

/// Settings of mediation.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Mediation")]
pub(super) struct MediationTable {
    /// The bounded pool for messages of more than 64 KiB; smaller ones are mediated at once. Absent: one work process for
    /// each core.
    work_processes: WorkProcessesTable,
}

impl MediationTable {
    /// Returns its meaning.
    pub(super) fn meaning(&self) -> Mediation {
        Mediation { work_processes: self.work_processes.over(&Mediation::default().work_processes) }
    }
}

impl Default for Mediation {
    fn default() -> Mediation {
        // There is nothing to wait for in this work: more than the cores would only take turns.
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let limit = u32::try_from(cores).unwrap_or(u32::MAX);
        Mediation { work_processes: WorkProcesses { limit, ..WorkProcesses::default() } }
    }
}
