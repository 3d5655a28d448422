//! Stored results of a ladder: activity of the gateway's work processes and connections while a cell was measured, and
//! the limit that binds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limit binds that is used up, with somebody waiting, at this share of all looks at least.
pub const FULL_SHARE_MIN: f64 = 0.5;

/// A gateway's reports on itself while one cell was measured, look by look.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Occupancy {
    /// Number of looks.
    pub looks: u64,
    /// Users who walked.
    pub users: u64,
    /// Work processes that it had.
    pub work_processes: f64,
    /// Connections that it let in at once.
    pub connections_max: f64,
    /// Share of looks at which all work processes were busy and a request waited for one.
    pub work_processes_full_share: f64,
    /// Share of looks at which all connections were open and another waited to be let in.
    pub connections_full_share: f64,
    /// Share of looks at which there was no wait for either.
    pub nobody_waited_share: f64,
    /// Work processes that were busy, on average.
    pub busy_mean: f64,
    /// Requests that waited for one, on average.
    pub waiting_mean: f64,
    /// Connections that were open, on average.
    pub connections_mean: f64,
    /// Connections that waited to be let in, on average.
    pub connections_waiting_mean: f64,
    /// Time for which a request occupied a work process: busy ones by answers per second.
    pub held_ms: f64,
    /// Share of their time for which all cores of the machine were busy, with any program.
    pub cores_busy_share: f64,
    /// CPU time that one look cost the otherwise idle gateway; absent if it is unknown.
    pub look_cpu_us: Option<f64>,
    /// The limit that binds.
    pub binding: Binding,
    /// The number that decided, a share.
    pub value: f64,
    /// The bound that it was compared with.
    pub bound: f64,
}

/// The limit on the speed of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, derive_more::Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// All work processes are busy, and requests wait for one.
    #[display("work processes")]
    WorkProcesses,
    /// All connections are open, and others wait to be let in.
    #[display("connection limit")]
    Connections,
    /// All users are being served: more users would get more done.
    #[display("users")]
    Users,
    /// All cores are busy, with the gateway, the database, the generator or somebody else.
    #[display("CPU")]
    Processor,
    /// Now the one, now the other, or none of them.
    #[display("unclear")]
    #[default]
    Unclear,
}

impl Occupancy {
    /// Whether nobody waited, neither for a work process nor to be let in, for as long as a limit takes to bind.
    pub fn is_without_queue(&self) -> bool {
        self.nobody_waited_share >= FULL_SHARE_MIN
    }
}
