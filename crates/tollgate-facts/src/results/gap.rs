//! Planned cells that have no figures, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A planned cell without figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// Variant of the cell.
    pub variant: String,
    /// Level of the cell.
    pub level: u64,
    /// The kind.
    pub kind: GapKind,
    /// The reason, in one sentence; where errors begin, the wording of the first one.
    pub reason: String,
}

/// The reasons why a planned cell has no figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapKind {
    /// Errors begin here.
    ErrorOnset,
    /// Errors began at a lower level.
    AfterOnset,
    /// It would take longer than the limit for a cell.
    TooLong,
    /// The link cannot keep so short a delay.
    TooShort,
    /// The subject does not do the work in this way at all.
    Unsupported,
}
