//! The stored overhead of a variant over its baseline, the ratio of a peer's costs to tollgate's, and the verdict on
//! each.
//!
//! It computes nothing: [`crate::toll`] does.

use derive_more::Display;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figure::Figure;

/// The overhead of a variant over its baseline in the same run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Toll {
    /// Name of the variant.
    pub variant: String,
    /// Name of its baseline.
    pub baseline: String,
    /// The level.
    pub level: u64,
    /// The compared figure.
    pub figure: Figure,
    /// Variant by baseline: 1.25 is a quarter more.
    pub ratio: f64,
    /// Lower end of the interval of the ratio, at 95 % or at the level of `settings.looks`; over the blocks, or over
    /// the starts where `between_starts` says so.
    pub low: f64,
    /// Upper end of the interval of the ratio.
    pub high: f64,
    /// Variant less baseline, in the figure's unit (`ms`, `us`, `bytes`).
    pub difference: f64,
    /// Lower end of the interval of the difference: that of the ratio, at the baseline's typical figure.
    pub difference_low: f64,
    /// Upper end of the interval of the difference.
    pub difference_high: f64,
    /// Unit of the difference.
    pub unit: String,
    /// Blocks behind it.
    pub blocks: u32,
    /// Probability of a difference as large by chance, by the same test as the interval, adjusted by Holm over the
    /// tolls of the run that make a claim; 1 for those that are joint or refused.
    pub p_adjusted: f64,
    /// The conclusion.
    pub verdict: TollVerdict,
    /// The reason for a verdict that is not plain, in a few words.
    pub note: Option<String>,
    /// The same by ranks; absent where it is refused, and in results that do not have it.
    pub by_ranks: Option<ByRanks>,
    /// Differences between starts of the servers; absent of one.
    pub between_starts: Option<BetweenStarts>,
    /// Change of the ratio during the measurement; absent if there are too few blocks for it, and at equal rate.
    pub drift: Option<Drift>,
    /// Time that the host stole, if ratio, interval and probability exclude it; absent if it stole less than 2 % of the
    /// cores' time, and in results that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theft: Option<Theft>,
}

impl Toll {
    /// Whether Student's t and the signed ranks disagree on whether it is there: the only note of such a verdict.
    pub fn do_ranks_disagree(&self) -> bool {
        let by_statistics = matches!(self.verdict, TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Unclear);
        by_statistics && self.note.is_some()
    }
}

/// Another server that did the same work in the same blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// Name of its subject file.
    pub name: String,
    /// Its name with its versions, in a few words.
    pub title: String,
}

/// A peer's figure divided by tollgate's for the same work, from the same blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the peer's variant.
    pub variant: String,
    /// Name of the peer.
    pub peer: String,
    /// Name of tollgate's variant.
    pub against: String,
    /// The level.
    pub level: u64,
    /// The compared figure.
    pub figure: Figure,
    /// Peer by tollgate: 2 is twice as much.
    pub ratio: f64,
    /// Lower end of the interval of the ratio, which is as that of tolls.
    pub low: f64,
    /// Upper end of the interval of the ratio.
    pub high: f64,
    /// Blocks behind it.
    pub blocks: u32,
    /// Probability of a ratio as far from 1 by chance, adjusted by Holm over the comparisons of the run that make a
    /// claim; 1 for those that are joint or refused.
    pub p_adjusted: f64,
    /// The conclusion; dearer or cheaper means the peer.
    pub verdict: TollVerdict,
    /// The reason for a verdict that is not plain, in a few words.
    pub note: Option<String>,
    /// Differences between starts of the servers; absent of one.
    pub between_starts: Option<BetweenStarts>,
}

/// A ratio by ranks (Hodges and Lehmann, Wilcoxon), beside that by Student; always over the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByRanks {
    /// The ratio.
    pub ratio: f64,
    /// Lower end of its interval, of the same confidence as Student's; absent where so few blocks have none.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Probability of ranks as lopsided by chance, by itself.
    pub p: f64,
}

/// Differences between starts of the servers beyond those that blocks explain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BetweenStarts {
    /// Starts, those left out that have less than half of the blocks of the one in the middle.
    pub starts: u32,
    /// Standard deviation of the starts' ratios, as a share: 0.02 is 2 %.
    pub deviation: f64,
    /// Probability that starts differ this much by chance, unadjusted.
    pub p: f64,
    /// Whether ratio, interval and probability of the toll are those over the starts. In results of earlier versions only
    /// where starts were seen to differ (p < 0.05) and that interval was the wider one.
    #[serde(default)]
    pub is_interval_over_starts: bool,
}

/// Time that the host stole while a toll was measured, and the differences between blocks that go along with it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Theft {
    /// Mean share of the cores' time that it stole.
    pub share: f64,
    /// The ratio including stolen time.
    pub ratio_with: f64,
    /// Variance of the log ratios of a start's blocks.
    pub variance_before: f64,
    /// The variance that remains after the regression on the difference in theft between variant and baseline.
    pub variance_after: f64,
}

/// Change of a ratio from the first block of a start to the last one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// The ratio of the last block by that of the first, less one, by the slope over all blocks: -0.1 is a tenth less.
    pub change: f64,
    /// Probability of a slope as steep by chance, by itself.
    pub p: f64,
}

/// Conclusions about a toll, from shown to refused; itself shown in a word or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "lowercase")]
pub enum TollVerdict {
    /// It costs more, and not by chance.
    Dearer,
    /// It costs less, and not by chance.
    Cheaper,
    /// The whole interval lies inside the stated band around 1.
    #[display("no toll")]
    NoToll,
    /// Its own interval excludes 1, but with so many comparisons in a run that can be chance (Holm).
    Unconfirmed,
    /// Neither could be shown: the interval includes 1.
    Unclear,
    /// Shown, but generator and subject were at the limit together: not the layer's own.
    Joint,
    /// Must not be read: see the validity of its cells.
    #[default]
    Refused,
}
