//! The compared figures: each figure's unit, and its value in one trial.

use super::Over;
use crate::results::{Figure, RateGroup, Trial};
use crate::stats::mean;

impl Figure {
    /// Unit of the figure's difference.
    pub fn unit(self) -> &'static str {
        match self {
            Self::UnitTime | Self::MedianAtRate | Self::P95AtRate | Self::P99AtRate => "ms",
            Self::SubjectCpu => "µs",
            Self::Instructions => "instructions",
            Self::Bytes => "bytes",
        }
    }

    /// The figure of one trial; absent where it was not measured or a ratio of it has no meaning.
    ///
    /// Over the server behind the subject by itself, CPU time and instructions are those of both; else the subject's own.
    pub(super) fn of(self, trial: &Trial, over: Over) -> Option<f64> {
        let behind = |of: Option<f64>| of.filter(|_| over == Over::Backend).unwrap_or(0.0);
        let counted = |count: Option<u64>| count.map(|count| count as f64);
        let value = match self {
            Self::UnitTime => match mean(&trial.unit_times_ms) {
                Some(mean) => mean,
                None if trial.units > 0 => trial.duration_ms / trial.units as f64,
                None => return None,
            },
            Self::SubjectCpu if trial.records > 0 => trial.subject_cpu_us? / trial.records as f64,
            Self::SubjectCpu if trial.requests > 0 => {
                (trial.subject_cpu_us? + behind(trial.backend_cpu_us)) / trial.requests as f64
            }
            Self::Instructions if trial.records > 0 => counted(trial.subject_instructions)? / trial.records as f64,
            Self::Instructions if trial.requests > 0 => {
                let both = counted(trial.subject_instructions)? + behind(counted(trial.backend_instructions));
                both / trial.requests as f64
            }
            // What goes over the wire between batch and database is not counted, and a command has no wire.
            Self::Bytes if trial.units > 0 && trial.bytes_sent + trial.bytes_received > 0 && trial.batch.is_none() => {
                trial.bytes_received as f64 / trial.units as f64
            }
            Self::SubjectCpu | Self::Instructions | Self::Bytes => return None,
            Self::MedianAtRate | Self::P95AtRate | Self::P99AtRate => return None,
        };
        value.is_finite().then_some(value)
    }

    /// The figure of one group of blocks at equal rate; absent where it is a figure of the closed load.
    pub(super) fn of_group(self, group: &RateGroup) -> Option<f64> {
        match self {
            Self::MedianAtRate => group.p50_ms,
            Self::P95AtRate => group.p95_ms,
            Self::P99AtRate => group.p99_ms,
            Self::UnitTime | Self::SubjectCpu | Self::Instructions | Self::Bytes => None,
        }
    }

    /// Whether the figure is of the load at equal rate.
    pub fn is_at_rate(self) -> bool {
        matches!(self, Self::MedianAtRate | Self::P95AtRate | Self::P99AtRate)
    }
}
