//! Requested and measured properties of the emulated link of remote variants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cell, RunResult};
use crate::stats::mean;

/// Lengths that differ by less are one, in milliseconds: they went through whole nanoseconds.
const SAME_MS: f64 = 1e-6;

/// A measurement of a link of the run's round trip, with 64-byte messages to an echo.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCheck {
    /// The moment of the measurement.
    pub moment: Moment,
    /// The requested round trip.
    pub asked_ms: f64,
    /// The median that it had.
    pub got_ms: f64,
    /// The median of the same without the link.
    pub direct_ms: f64,
    /// Largest allowed difference between the median and the requested round trip.
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
    /// Whether the median is within the tolerance of the requested value.
    pub fn is_kept(&self) -> bool {
        (self.got_ms - self.asked_ms).abs() <= self.tolerance_ms
    }
}

impl RunResult {
    /// Round-trip time of the line for a variant at a level, in milliseconds: as its trials measured it, else by the
    /// measurements before and after the trials, else as requested. Absent without a line.
    pub fn line_ms(&self, variant: &str, level: u64) -> Option<f64> {
        let asked_ms = self.experiment.named_level(level)?.round_trip_ms?;
        let added_ms =
            self.checks_of(asked_ms).map(|check| check.got_ms - check.direct_ms).filter(|added| *added > 0.0);
        let in_trials = self.line_in_trials_ms(variant, level);
        Some(in_trials.or_else(|| mean(&added_ms.collect::<Vec<f64>>())).unwrap_or(asked_ms))
    }

    /// The same as found in the trials: the time to open its connections, or those of the level's other variants where
    /// it opened none, less a round trip without the line. Absent where no trial opened a connection.
    pub fn line_in_trials_ms(&self, variant: &str, level: u64) -> Option<f64> {
        let asked_ms = self.experiment.named_level(level)?.round_trip_ms?;
        let at_level = || self.cells.iter().filter(move |cell| cell.level == level);
        let own_ms = connecting_ms(at_level().filter(|cell| cell.variant == variant));
        let direct_ms = mean(&self.checks_of(asked_ms).map(|check| check.direct_ms).collect::<Vec<f64>>());
        let line_ms = own_ms.or_else(|| connecting_ms(at_level()))? - direct_ms.unwrap_or(0.0);
        (line_ms > 0.0).then_some(line_ms)
    }

    fn checks_of(&self, asked_ms: f64) -> impl Iterator<Item = &LinkCheck> {
        self.links.iter().filter(move |check| (check.asked_ms - asked_ms).abs() < SAME_MS)
    }
}

/// Mean time to open a TCP connection in the trials of these cells: a round trip.
fn connecting_ms<'r>(cells: impl Iterator<Item = &'r Cell>) -> Option<f64> {
    let opened = cells.filter_map(|cell| cell.connected);
    let of =
        |(count, sum_ms): (u64, f64), (opened, mean_ms): (u64, f64)| (count + opened, sum_ms + opened as f64 * mean_ms);
    let opened = opened.map(|connected| (connected.opened, connected.phases.connect_ms.mean));
    let (count, sum_ms) = opened.filter(|(_, mean_ms)| *mean_ms > 0.0).fold((0, 0.0), of);
    (count > 0).then(|| sum_ms / count as f64)
}
