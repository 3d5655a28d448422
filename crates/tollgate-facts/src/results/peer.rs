//! What a result says of peers: who was measured beside tollgate, and what it took by what tollgate took.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::toll::{BetweenStarts, TollVerdict};

/// Another server that did the same work in the same blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// Name of its subject file.
    pub name: String,
    /// What it is, with its versions, in a few words.
    pub title: String,
}

/// What a peer took by what tollgate took for the same work, from the same blocks.
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
    /// What is compared.
    pub figure: Figure,
    /// Peer by tollgate: 2 is twice as much.
    pub ratio: f64,
    /// Lower end of the interval of the ratio, which is as that of tolls.
    pub low: f64,
    /// Upper end of the interval of the ratio.
    pub high: f64,
    /// Blocks behind it.
    pub blocks: u32,
    /// Probability of a ratio as far from 1 by chance, adjusted by Holm over the comparisons of the run of which
    /// something is claimed; 1 for those that are joint or refused.
    pub p_adjusted: f64,
    /// What may be said: dearer is the peer, cheaper too.
    pub verdict: TollVerdict,
    /// Why the verdict is not plain, in a few words.
    pub note: Option<String>,
    /// What starts of the servers differ by; absent below three of them.
    pub between_starts: Option<BetweenStarts>,
}
