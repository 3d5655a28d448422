//! What was asked of the emulated link of remote variants, and what it did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunResult;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
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

/// Lengths that differ by less are one, in milliseconds: they went through whole nanoseconds.
const SAME_MS: f64 = 1e-6;

impl RunResult {
    /// How long the line of a level was, there and back, in milliseconds: what it added to a round trip without it, by all
    /// its measurements; what was asked where there are none. Absent without a line.
    pub fn line_ms(&self, level: u64) -> Option<f64> {
        let asked_ms = self.experiment.named_levels.iter().find(|named| named.level == level)?.round_trip_ms?;
        let own = self.links.iter().filter(|check| (check.asked_ms - asked_ms).abs() < SAME_MS);
        let added_ms: Vec<f64> = own.map(|check| check.got_ms - check.direct_ms).filter(|added| *added > 0.0).collect();
        Some(crate::stats::mean(&added_ms).unwrap_or(asked_ms))
    }
}

impl Moment {
    /// The word in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Moment::Before => "before",
            Moment::After => "after",
        }
    }
}
