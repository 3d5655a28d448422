//! Ratios of a peer's figures to tollgate's for the same work, by the rules of tolls, as a family of claims of their
//! own.
//!
//! It deliberately does not compare a peer with another peer, or one mode with another.

use crate::results::{Comparison, RunResult, Toll, Variant};
use crate::toll::{self, Over, Pair};

impl Variant {
    /// The name of tollgate's own variant that does the same as this one of a peer.
    fn own_name(&self) -> Option<&str> {
        self.name.strip_prefix(self.peer.as_deref()?)?.strip_prefix('-')
    }
}

/// Peer by tollgate for every variant of a peer whose like tollgate was measured with, at all levels; empty where none
/// was.
pub fn compute(run: &RunResult) -> Vec<Comparison> {
    let experiment = &run.experiment;
    let own = |variant: &Variant| {
        let own = experiment.variant(variant.own_name()?).filter(|own| own.peer.is_none())?;
        Some((own, Over::Tollgate))
    };
    let comparison = |ratio: Toll| {
        Some(Comparison {
            peer: experiment.variant(&ratio.variant)?.peer.clone()?,
            variant: ratio.variant,
            against: ratio.baseline,
            level: ratio.level,
            figure: ratio.figure,
            ratio: ratio.ratio,
            low: ratio.low,
            high: ratio.high,
            blocks: ratio.blocks,
            p_adjusted: ratio.p_adjusted,
            verdict: ratio.verdict,
            note: ratio.note,
            between_starts: ratio.between_starts,
        })
    };
    toll::family(Pair::all(run, own), run).into_iter().filter_map(comparison).collect()
}

#[cfg(test)]
mod tests;
