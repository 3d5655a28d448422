//! What is stored of thresholds: what was asked for, and which numbers decided.

use derive_more::Display;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A threshold and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdResult {
    /// As it was given, such as `p99(https, 20) < 5 ms`.
    pub expect: String,
    /// What it is good for, in the words of the experiment's file.
    pub why: Option<String>,
    /// The worst of the findings.
    pub outcome: Outcome,
    /// What was found, one for each cell, toll or ratio that it asks for.
    pub findings: Vec<ThresholdFinding>,
}

/// What came of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "lowercase")]
pub enum Outcome {
    /// The whole interval is on the right side of the bound; of a figure without an interval, the figure is.
    Holds,
    /// The bound is inside the interval, or there is no figure that may be read. It does not pass.
    #[default]
    #[display("not shown")]
    NotShown,
    /// The whole interval is on the wrong side of the bound.
    Fails,
}

/// What a threshold found in one place.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdFinding {
    /// Number of the run from 1, where several stand side by side.
    pub run: Option<u32>,
    /// Variant; absent where nothing was found that was asked for.
    pub variant: Option<String>,
    /// Level.
    pub level: Option<u64>,
    /// The figure, in `unit`; absent where there is none that may be read.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; absent for figures that have none.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// The end that was held against the bound.
    pub decided: Option<f64>,
    /// The bound in the same unit.
    pub bound: f64,
    /// Unit of the figure; empty for ratios and counts.
    pub unit: String,
    /// What follows.
    pub outcome: Outcome,
    /// Why it is not plain, in one sentence.
    pub reason: Option<String>,
}
