//! Stored results of a batch behind a network: its trials, its cells, the line through its times, and the distances
//! that were computed from it.
//!
//! Times of a document are in microseconds; so is the delay of a link: the extra time of a round trip over it, compared
//! with the same link without delay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::Estimate;

/// A batch's own report on one trial; sums over its documents unless stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Batched {
    /// Documents that waited.
    pub documents: u64,
    /// Documents that were stored.
    pub stored: u64,
    /// Documents that were set aside with an error.
    pub set_aside: u64,
    /// Time to open all its connections, which is in no other time.
    pub connect_ms: f64,
    /// Round trips to the database.
    pub round_trips: u64,
    /// Time in which documents were transformed.
    pub compute_us: f64,
    /// Time in which the database was waited for, the network before it included.
    pub database_us: f64,
    /// Time of its processes that is neither.
    pub waiting_us: f64,
    /// Median round trip over the link, asked of an echo before and behind the trial; absent without a link.
    pub link_us: Option<f64>,
}

/// Results of a batch in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct BatchFound {
    /// Documents in all trials.
    pub documents: u64,
    /// Round trips to the database for each document, as the batch counted them.
    pub round_trips: Estimate,
    /// Time for which a document was transformed.
    pub compute_us: Estimate,
    /// Time for which a document waited for the database, the network before it included.
    pub database_us: Estimate,
    /// Time of a process for each document that is neither.
    pub waiting_us: Estimate,
    /// Delay that was requested of the link; absent without one.
    pub asked_us: Option<f64>,
    /// Delay that it added, as measured; absent without one.
    pub added_us: Option<Estimate>,
    /// The same in the median block.
    pub added_median_us: Option<f64>,
}

/// Results of a run about distance, beyond its cells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Distances {
    /// The kind of link: `proxy`, `tun`, or `none` without one.
    pub link: String,
    /// The same in a few words.
    pub link_words: String,
    /// The shortest delay that this kind of link keeps within a tenth on this machine; absent where none was kept, or
    /// there is no link.
    pub accurate_from_us: Option<f64>,
    /// The database, without secrets.
    pub database: String,
    /// Cores that the batch may use.
    pub batch_cores: u32,
    /// Cores that the database shares with the link; 0 where it is the user's.
    pub database_cores: u32,
    /// The line through the times of one process; absent where there are too few links.
    pub slope: Option<Slope>,
    /// Expected times with more processes, one for each cell.
    pub hinges: Vec<Hinge>,
    /// Distances with names, computed from the line.
    pub presets: Vec<PresetFound>,
}

/// Half an interval of round trips beyond this share of the counted ones shows nothing.
const TOO_WIDE_SHARE: f64 = 0.2;

/// Time of a document = at rest + round trips x the delay that the link adds, by one process. Intervals are 95 % by
/// Student t over the blocks; each block has its own line, by least squares on relative errors.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Slope {
    /// Processes: the least level.
    pub level: u64,
    /// Time of a document over the link without delay.
    pub at_rest_us: Estimate,
    /// Sequential round trips of a document, by the line.
    pub round_trips: Estimate,
    /// A document's overhead for each microsecond that the link adds, by the line, as a share.
    pub share_per_us: Estimate,
    /// Round trips of a document as the batch counted them.
    pub counted: f64,
    /// Typical distance of the times from the line, as a share.
    pub residual_share: f64,
    /// The variants behind it.
    pub variants: Vec<String>,
    /// The reason why it is no law; absent for a good one.
    pub doubt: Option<String>,
}

impl Slope {
    /// Whether the interval of the round trips is so wide that it would include nearly any number.
    pub fn is_too_wide(&self) -> bool {
        (self.round_trips.high - self.round_trips.low) / 2.0 > TOO_WIDE_SHARE * self.counted
    }

    /// Whether the counted round trips lie in the interval of the line's round trips.
    pub fn agrees(&self) -> bool {
        (self.round_trips.low..=self.round_trips.high).contains(&self.counted)
    }

    /// Time of a document if the link adds `added_us`.
    pub fn at_us(&self, added_us: f64) -> f64 {
        self.at_rest_us.mean + self.round_trips.mean * added_us
    }
}

/// Expected time with this many processes: the longest of three times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hinge {
    /// Variant.
    pub variant: String,
    /// Processes.
    pub level: u64,
    /// Delay that the link adds.
    pub added_us: f64,
    /// Expected time of a document.
    pub expected_us: f64,
    /// The one of the three that it is.
    pub bound: Bound,
}

/// The limit on the speed of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The batch's CPU time by its cores.
    #[display("cores of the batch")]
    Cores,
    /// The database's CPU time by its cores.
    #[display("cores of the database")]
    Database,
    /// The time of one process, waiting included, by the processes.
    #[display("waiting")]
    Processes,
}

/// A distance with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PresetFound {
    /// Its name, which is also that of its variant.
    pub name: String,
    /// The overhead that it is to have, as a share.
    pub share: f64,
    /// Delay that the link has to add for that, by the line; absent without one.
    pub asked_us: Option<f64>,
    /// The overhead that the line predicts for the delay actually added, as a share; absent where it was not run.
    pub predicted: Option<Estimate>,
    /// The overhead that was found on blocks that the line has not seen, as a share; absent where it was not run.
    pub found: Option<Estimate>,
    /// The conclusion about it.
    pub verdict: PresetVerdict,
    /// The same in a sentence.
    pub reason: String,
}

/// Conclusions about a distance with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, derive_more::Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "lowercase")]
pub enum PresetVerdict {
    /// The found overhead differs from the predicted one by no more than both intervals allow.
    Confirmed,
    /// It differs by more.
    #[display("not confirmed")]
    Off,
    /// The intervals are too wide, or the line too doubtful, for a conclusion.
    Unclear,
    /// The link cannot keep so short a delay, or there is no line.
    Refused,
    /// Its run is incomplete.
    #[display("not run")]
    Open,
}
