//! What was asked of the emulated link of remote variants, and what it did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measurement of a link of the run's round trip, with 64-byte messages to an echo.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCheck {
    /// When it was measured.
    pub moment: Moment,
    /// The round trip that was asked.
    pub asked_ms: f64,
    /// The median that it had.
    pub got_ms: f64,
    /// The median of the same without the link.
    pub direct_ms: f64,
    /// By how much the median may differ from what was asked.
    pub tolerance_ms: f64,
    /// Messages.
    pub samples: u64,
}

/// A moment of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "kebab-case")]
pub enum Moment {
    /// Before the first trial.
    Before,
    /// After the last.
    After,
}

impl LinkCheck {
    /// Whether the median is as near to what was asked as it has to be.
    pub fn is_kept(&self) -> bool {
        (self.got_ms - self.asked_ms).abs() <= self.tolerance_ms
    }
}
