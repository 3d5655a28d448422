//! Removes the effect of time that the host stole from the log ratios of times and CPU times by regression.
//!
//! It takes from the time that passes, from a layer and from its baseline alike, so that the ratio at equal theft is
//! the layer's. The theft alone decides on its removal, before any ratio is examined: if ratios decided, equals would
//! differ too often. Parts of the time itself, such as waits of threads for a core, are not removed.

use super::pair::{Logs, Over, Pair};
use crate::results::{Figure, Theft, Trial};
use crate::stats::covariance::{self, Slope};
use crate::stats::{Interval, by_key, mean};

/// A host that steals less of the cores' time explains nothing, and its slope costs a degree of freedom.
const SHARE_MIN: f64 = 0.02;

/// Log ratios without the effect of theft.
pub(super) struct Without {
    pub(super) ratios: Logs,
    pub(super) over_blocks: Interval,
    pub(super) theft: Theft,
}

/// The log ratios of a pair without theft. Absent where there is too little of it or where it was not watched, of too few
/// blocks, and of figures that it does not touch.
pub(super) fn without(pair: &Pair<'_>, figure: Figure, ratios: &Logs, alpha: f64) -> Option<Without> {
    // A peer is no layer. Over several starts the error of the slope moves all alike, and shows in no difference between them.
    let is_one_start = pair.over != Over::Tollgate && pair.by_start(ratios).len() < 2;
    if !is_one_start || !matches!(figure, Figure::UnitTime | Figure::SubjectCpu) {
        return None;
    }
    let [variant, baseline] = pair.trials.each_ref().map(|trials| shares(trials));
    let of_blocks = |of: fn(f64, f64) -> f64| -> Logs {
        ratios.keys().map(|block| (*block, of(variant[block], baseline[block]))).collect()
    };
    let share = mean(&of_blocks(|variant, baseline| (variant + baseline) / 2.0).into_values().collect::<Vec<f64>>())?;
    if share < SHARE_MIN {
        return None;
    }
    let more = of_blocks(|variant, baseline| variant - baseline);
    let of = |logs: &Logs| logs.values().copied().collect::<Vec<f64>>();
    let found = covariance::slope(&of(ratios), &of(&more))?;
    let Slope { slope, before, after, .. } = found;
    let largest = ratios.values().fold(0.0_f64, |largest, ratio| largest.max(ratio.abs()));
    let ratio_with = mean(&of(ratios))?.exp();
    let ratios: Logs = ratios.iter().map(|(block, ratio)| (*block, ratio - slope * more[block])).collect();
    let middle = mean(&of(&ratios))?;
    let over_blocks = Interval { n: ratios.len(), ..found.interval(middle, largest, alpha) };
    let theft = Theft { share, ratio_with, variance_before: before, variance_after: after };
    Some(Without { ratios, over_blocks, theft })
}

/// The mean share that was stolen by block.
fn shares(trials: &[&Trial]) -> Logs {
    let told = by_key(trials.iter().map(|trial| (trial.block, trial.stolen_share)));
    told.into_iter().filter_map(|(block, shares)| Some((block, mean(&shares)?))).collect()
}
