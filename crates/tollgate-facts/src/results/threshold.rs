//! Stored results of thresholds: the requirement, and the numbers that decided.

use derive_more::Display;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A threshold and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdResult {
    /// The text as given, such as `p99(https, 20) < 5 ms`.
    pub expect: String,
    /// Its purpose, in the words of the experiment's file.
    pub why: Option<String>,
    /// The worst of the findings.
    pub outcome: Outcome,
    /// The findings, one for each cell, toll or ratio that it covers.
    pub findings: Vec<ThresholdFinding>,
}

/// The outcome of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "lowercase")]
pub enum Outcome {
    /// The whole interval is on the right side of the bound; of a figure without an interval, the figure is.
    Holds,
    /// The bound is inside the interval, or there is no trusted figure. It does not pass.
    #[default]
    #[display("not shown")]
    NotShown,
    /// The whole interval is on the wrong side of the bound.
    Fails,
}

/// The finding of a threshold in one place.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdFinding {
    /// Number of the run from 1, if several are side by side.
    pub run: Option<u32>,
    /// Variant; absent if no requested cell was found.
    pub variant: Option<String>,
    /// Level.
    pub level: Option<u64>,
    /// The figure, in `unit`; absent if there is no trusted one.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; absent for figures that have none.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// The end that was compared with the bound.
    pub decided: Option<f64>,
    /// The bound in the same unit.
    pub bound: f64,
    /// Unit of the figure; empty for ratios and counts.
    pub unit: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason for an outcome that is not plain, in one sentence.
    pub reason: Option<String>,
}
