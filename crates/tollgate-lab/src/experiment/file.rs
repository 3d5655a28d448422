//! What the TOML file of every experiment says, of whatever kind it is, as a user writes it: what serde reads and
//! `tollgate schema` describes.
//!
//! It deliberately does not judge: [`super::Experiment`] is made of it once every name and number is known to be right.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// A tollgate experiment: the same work done in several ways, each held against its baseline.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ExperimentFile {
    /// Short name: lower-case letters, digits and hyphens.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The question that it answers, in one sentence.
    #[schemars(with = "String")]
    pub(super) question: Spanned<String>,
    /// It is called no toll where the whole interval lies within so much around none, as a share: 0.015 is 1.5 %; absent:
    /// 0.03. `--equivalence` goes before it.
    #[schemars(with = "Option<f64>")]
    pub(super) equivalence: Option<Spanned<f64>>,
    /// How long each extent measures; what is absent has the defaults of `tollgate plan`.
    #[serde(default)]
    pub(super) extent: BTreeMap<ExtentName, ExtentFile>,
    /// What is expected of the figures: a run of which it is not shown exits with 99.
    #[serde(default, rename = "threshold")]
    pub(super) thresholds: Vec<ThresholdFile>,
    /// Figures that others published for the same question.
    #[serde(default)]
    pub(super) published: Vec<PublishedFile>,
    /// A whole table that others published, by the name under which tollgate keeps it.
    pub(super) published_table: Option<PublishedTable>,
}

/// What is swept over levels.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct FactorFile {
    /// Which factor.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// Its levels, ascending; not where the levels are tables, or stages.
    #[schemars(with = "Option<Vec<u64>>", length(min = 1))]
    pub(crate) levels: Option<Spanned<Vec<Spanned<u64>>>>,
}

/// What is done.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct WorkloadFile {
    /// Its kind.
    #[schemars(with = "String")]
    pub(super) kind: Spanned<String>,
}

/// One way of doing the work.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct VariantFile {
    /// Short name, unique in the file.
    #[schemars(with = "String")]
    pub(crate) name: Spanned<String>,
    /// A few words for people.
    pub(crate) title: Option<String>,
    /// The variant without the layer in question; absent for the bottom one.
    #[schemars(with = "Option<String>")]
    pub(super) baseline: Option<Spanned<String>>,
}

/// Published tables that tollgate keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedTable {
    /// Milliseconds per record of a CAP server, local and in the cloud, by mode, connections and records.
    CapMsPerRecord,
}

/// The three extents of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExtentName {
    /// `--quick`.
    Quick,
    /// Neither `--quick` nor `--full`.
    Default,
    /// `--full`.
    Full,
}

/// How long one extent measures.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtentFile {
    /// The levels that it measures; absent: all.
    #[schemars(with = "Option<Vec<u64>>")]
    pub(super) levels: Option<Vec<Spanned<u64>>>,
    /// Blocks for each level: every variant runs twice in each.
    #[schemars(with = "Option<u32>")]
    pub(super) blocks: Option<Spanned<u32>>,
    /// Least length of a trial in milliseconds.
    #[schemars(with = "Option<u32>")]
    pub(super) slice_ms: Option<Spanned<u32>>,
    /// How often each subject is started.
    #[schemars(with = "Option<u32>")]
    pub(super) starts: Option<Spanned<u32>>,
    /// The variants that it measures, their baselines with them; absent: all.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) variants: Option<Vec<Spanned<String>>>,
    /// For `insert`: time for the trials of one cell in milliseconds. A cell gets fewer blocks to fit into it, and one
    /// that would not fit with two is skipped, and labelled so. For `work-processes` the same, but with two none is skipped.
    #[schemars(with = "Option<u32>")]
    pub(super) cell_ms: Option<Spanned<u32>>,
    /// Round trip of the emulated link in milliseconds.
    #[schemars(with = "Option<u32>")]
    pub(super) round_trip_ms: Option<Spanned<u32>>,
    /// Time before a trial in milliseconds in which its users are at it already and nothing counts, for variants that
    /// open connections while they are measured.
    #[schemars(with = "Option<u32>")]
    pub(super) settle_ms: Option<Spanned<u32>>,
    /// Blocks for each level at equal rate; absent: as many as at the closed load.
    #[schemars(with = "Option<u32>")]
    pub(super) rate_blocks: Option<Spanned<u32>>,
    /// Length of a trial at equal rate in milliseconds; absent: as at the closed load.
    #[schemars(with = "Option<u32>")]
    pub(super) rate_slice_ms: Option<Spanned<u32>>,
}

impl ExtentFile {
    /// Where it says how long a trial lasts.
    pub(crate) fn slice_span(&self) -> Option<std::ops::Range<usize>> {
        self.slice_ms.as_ref().map(Spanned::span)
    }
}

/// What is expected of figures.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThresholdFile {
    /// Such as `p99(https, 20) < 5 ms`, `toll(https).cpu < 1.3` or `errors == 0`.
    #[schemars(with = "String")]
    pub(super) expect: Spanned<String>,
    /// What it is good for: it stands beside the result.
    pub(super) why: Option<String>,
}

/// A published figure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedFile {
    /// Who and when.
    pub(super) source: String,
    /// What was measured.
    pub(super) subject: String,
    /// Our variant that corresponds.
    #[schemars(with = "Option<String>")]
    pub(super) variant: Option<Spanned<String>>,
    /// The level.
    pub(super) level: Option<u64>,
    /// Name of the figure, such as `pass time`.
    pub(super) figure: String,
    /// The value.
    pub(super) value: f64,
    /// Its unit.
    pub(super) unit: String,
    /// What a reader must know to compare.
    pub(super) note: Option<String>,
}
