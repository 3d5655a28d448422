//! Processes that work for a subject and that nobody watches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A process on this machine that the processes of a subject have TCP connections to, and that is none of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Unwatched {
    /// The variant of the subject.
    pub variant: String,
    /// The processes of the subject that are watched with all that they start.
    pub watched: Vec<u32>,
    /// The number of the process.
    pub process: u32,
    /// Its name.
    pub name: String,
    /// Its CPU time by the subject's own, while that was warmed up.
    pub cpu_share: f64,
}
