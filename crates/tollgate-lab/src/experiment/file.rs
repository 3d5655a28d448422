//! The common part of every experiment's TOML file, as a user writes it: serde reads it, and `tollgate schema`
//! describes it.
//!
//! It does not judge: [`super::Experiment`] is made of it once every name and number is known to be right.

use std::collections::BTreeMap;

use derive_more::Display;
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{At, UpTo};
use tollgate_facts::results::Answering;

/// Most blocks: the largest of the planned looks, four times over.
const BLOCKS_MAX: u32 = 256;
/// Longest slice in milliseconds.
const SLICE_MS_MAX: u32 = 60_000;
/// Most starts of a subject.
const STARTS_MAX: u32 = 32;
/// Longest time for the trials of one cell in milliseconds.
pub(crate) const CELL_MS_MAX: u32 = 600_000;
/// Longest round trip of an emulated link in milliseconds.
pub(crate) const ROUND_TRIP_MS_MAX: u32 = 1000;

/// A tollgate experiment: the same work done in several ways, each compared with its baseline.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ExperimentFile {
    /// Short name: lower-case letters, digits and hyphens.
    pub(super) name: At<String>,
    /// The question that it answers, in one sentence.
    pub(super) question: At<String>,
    /// Half the width of the band of "no toll", as a share: there is no toll where the whole interval is within it.
    /// 0.015 is 1.5 %; absent: 0.03. `--equivalence` overrides it.
    pub(super) equivalence: Option<At<f64>>,
    /// The subject of a report's first sentence; absent: its variants in their order.
    pub(super) answer: Option<At<Answering>>,
    /// Settings of each extent; absent ones have the defaults of `tollgate plan`.
    #[serde(default)]
    pub(super) extent: BTreeMap<Extent, ExtentFile>,
    /// Thresholds of the figures: a run that does not show all of them exits with 99.
    #[serde(default, rename = "threshold")]
    pub(super) thresholds: Vec<ThresholdFile>,
    /// Figures that others published for the same question.
    #[serde(default)]
    pub(super) published: Vec<PublishedFile>,
    /// A whole table that others published, by its name in tollgate.
    pub(super) published_table: Option<PublishedTable>,
}

/// The factor swept over levels.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct FactorFile {
    /// The name of the factor.
    pub(super) name: At<String>,
    /// Its levels, ascending; not where the levels are tables, or stages.
    #[schemars(length(min = 1))]
    pub(crate) levels: Option<At<Vec<At<u64>>>>,
}

/// The work.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct WorkloadFile {
    /// Its kind.
    pub(super) kind: At<String>,
}

/// One way of doing the work.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct VariantFile {
    /// Short name, unique in the file.
    pub(crate) name: At<String>,
    /// A few words for people.
    pub(crate) title: Option<String>,
    /// The variant without the layer in question; absent for the bottom one.
    pub(super) baseline: Option<At<String>>,
}

/// Published tables that tollgate keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "kebab-case")]
pub enum PublishedTable {
    /// Milliseconds per record of a CAP server, locally and in the cloud, by mode, connections and records.
    CapMsPerRecord,
}

/// The three extents of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Display, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "kebab-case")]
pub enum Extent {
    /// `--quick`.
    Quick,
    /// Neither `--quick` nor `--full`.
    #[default]
    Default,
    /// `--full`.
    Full,
}

/// Settings of one extent.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtentFile {
    /// The levels that it measures; absent: all.
    pub(crate) levels: Option<Vec<At<u64>>>,
    /// Blocks for each level: every variant runs twice in each.
    pub(crate) blocks: Option<UpTo<BLOCKS_MAX>>,
    /// Least length of a trial in milliseconds.
    pub(crate) slice_ms: Option<At<UpTo<SLICE_MS_MAX>>>,
    /// Number of starts of each subject.
    pub(crate) starts: Option<UpTo<STARTS_MAX>>,
    /// The variants that it measures, including their baselines; absent: all.
    pub(super) variants: Option<Vec<At<String>>>,
    /// For `insert`: time for the trials of one cell in milliseconds. A cell gets fewer blocks to fit, and one that
    /// does not fit with two is skipped and labelled so. For `work-processes` the same, but none is skipped: each gets
    /// at least two.
    pub(crate) cell_ms: Option<UpTo<CELL_MS_MAX>>,
    /// Round trip of the emulated link in milliseconds.
    pub(crate) round_trip_ms: Option<UpTo<ROUND_TRIP_MS_MAX>>,
    /// Time before a trial in milliseconds in which its users already send requests and nothing counts, for variants
    /// that open connections during measurement.
    pub(crate) settle_ms: Option<UpTo<SLICE_MS_MAX>>,
    /// For `request` and `scenario` over users: time in milliseconds over which the users of each trial arrive, evenly,
    /// before anything counts; absent: all at once. Users who think have a lead-in of their own.
    pub(crate) ramp_ms: Option<At<UpTo<SLICE_MS_MAX>>>,
    /// Blocks for each level at equal rate; absent: as many as at the closed load.
    pub(crate) rate_blocks: Option<UpTo<BLOCKS_MAX>>,
    /// Length of a trial at equal rate in milliseconds; absent: as at the closed load.
    pub(crate) rate_slice_ms: Option<UpTo<SLICE_MS_MAX>>,
}

/// A threshold of figures.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThresholdFile {
    /// The expectation, such as `p99(https, 20) < 5 ms`, `toll(https).cpu < 1.3` or `errors == 0`.
    pub(super) expect: At<String>,
    /// Its purpose, shown beside the result.
    pub(super) why: Option<String>,
}

/// A published figure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedFile {
    /// Author and date.
    pub(super) source: String,
    /// The measured system.
    pub(super) subject: String,
    /// Our corresponding variant.
    pub(super) variant: Option<At<String>>,
    /// The level.
    pub(super) level: Option<u64>,
    /// Name of the figure, such as `pass time`.
    pub(super) figure: String,
    /// The value.
    pub(super) value: f64,
    /// Its unit.
    pub(super) unit: String,
    /// A note that a reader needs to compare.
    pub(super) note: Option<String>,
}
