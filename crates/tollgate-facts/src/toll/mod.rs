//! Tolls: what each variant costs over its baseline, from the trials of one run.
//!
//! Per block d = mean log(variant) - mean log(baseline); the ratio is exp(mean d) with Student t's interval, over the
//! blocks or, where there are two starts of the servers or more, over the starts. It reads stored trials only and
//! judges no cell: that is `validity`, whose marks it follows. The comparison of two variants is in `pair`; ratios of
//! peers to tollgate are computed by the same rules in [`crate::toll::comparison`].

pub mod comparison;
mod doubted;
pub mod drifting;
mod figure;
pub mod fit;
pub mod occupancy;
mod pair;
pub mod ranks;
pub mod round_trips;
mod ruler;
pub mod scaling;
mod theft;
mod unwatched;
pub mod variance;
mod verdict;

use crate::results::{Estimate, Figure, RunResult, Toll, TollVerdict, Validity, Variant};
use crate::rules::ALL;
use crate::stats::{self, between_starts, holm};
pub(crate) use doubted::Left;
use pair::Probabilities;
pub(crate) use pair::{Over, Pair};
pub(crate) use ruler::by_ruler;
pub(crate) use verdict::unconfirmed;

/// Fewest groups for a toll: fewer have no interval worth printing.
pub const GROUPS_MIN: u32 = 3;

/// Every figure that is compared, in the order in which tolls are listed.
pub const FIGURES: [Figure; 7] = [
    Figure::UnitTime,
    Figure::SubjectCpu,
    Figure::Instructions,
    Figure::Bytes,
    Figure::MedianAtRate,
    Figure::P95AtRate,
    Figure::P99AtRate,
];

impl Toll {
    /// Whether the ratio may be printed: a refused toll keeps its place, but its numbers are meaningless.
    pub fn is_shown(&self) -> bool {
        self.verdict != TollVerdict::Refused
    }

    /// The ratio with its interval.
    pub(crate) fn estimate(&self) -> Estimate {
        Estimate { mean: self.ratio, low: self.low, high: self.high, n: self.blocks }
    }
}

/// The tolls of all variants that have a baseline, at all levels, with p adjusted by Holm over all claims that could
/// arise by chance, instructions by themselves.
///
/// Blocks that an interruption left incomplete do not count. A figure without any measurement gives no toll; one that
/// was measured but cannot be compared (a refused cell, a zero, a single block) gives a refused one with the reason,
/// whose ratio, interval and difference are zero. Where a variant's mode is not in effect, since there are fewer
/// records than its batch takes, there is no toll, and Holm's family does not count it.
pub fn compute(run: &RunResult) -> Vec<Toll> {
    let experiment = &run.experiment;
    let baseline = |variant: &Variant| {
        let baseline = experiment.variant(variant.baseline.as_deref()?)?;
        Some((baseline, Over::of(baseline)))
    };
    family(Pair::all(run, baseline), run)
}

/// The ratios of these pairs as one family of claims.
pub(crate) fn family<'a>(pairs: impl Iterator<Item = Pair<'a>>, run: &RunResult) -> Vec<Toll> {
    let mut tolls = Vec::new();
    // Only of these is anything claimed: a joint one must not make the others' claims harder.
    let mut claims: Vec<(usize, Probabilities)> = Vec::new();
    for pair in pairs.filter(|pair| !pair.is_after_onset()) {
        for (mut toll, own) in FIGURES.into_iter().filter_map(|figure| pair.compare(figure)) {
            match own {
                // What is the same in every block is no matter of chance.
                Some(own) if stats::is_exact(toll.low, toll.high) => pair::judge(&mut toll, own, own, &run.settings, 1),
                own => claims.extend(own.map(|own| (tolls.len(), own))),
            }
            tolls.push(toll);
        }
    }
    for claims in by_ruler(claims, |(index, _)| tolls[*index].figure) {
        let adjusted = |of: fn(&Probabilities) -> f64| {
            holm::adjust(&claims.iter().map(|(_, own)| of(own)).collect::<Vec<f64>>()).into_iter()
        };
        for ((index, own), (by_t, by_ranks)) in claims.iter().zip(adjusted(|p| p.by_t).zip(adjusted(|p| p.by_ranks))) {
            pair::judge(&mut tolls[*index], *own, Probabilities { by_t, by_ranks }, &run.settings, claims.len());
        }
    }
    tolls
}

/// The logarithms of a figure's block means, of one variant at one level; of several starts the means of theirs, since
/// blocks of a start are not independent.
pub(crate) fn block_logs(run: &RunResult, variant: &str, level: u64, figure: Figure) -> Vec<f64> {
    let pair = Pair::new(run, variant, variant, level, Over::Baseline);
    let [logs, _] = pair.by_block(figure);
    let starts = if figure.is_at_rate() { Vec::new() } else { pair.by_start(&logs) };
    match starts.len() < between_starts::STARTS_MIN {
        true => logs.into_values().collect(),
        false => between_starts::means(&starts),
    }
}

/// The log ratios under a toll's interval: one for each block that has both, or for each start.
pub fn block_log_ratios(run: &RunResult, toll: &Toll) -> Vec<f64> {
    let over = run.experiment.variant(&toll.baseline).map_or(Over::Baseline, Over::of);
    let pair = Pair::new(run, &toll.variant, &toll.baseline, toll.level, over);
    let ratios = pair::log_ratios(&pair.by_block(toll.figure));
    match toll.between_starts.is_some_and(|between| between.is_interval_over_starts) {
        true => between_starts::means(&pair.by_start(&ratios)),
        false => ratios.into_values().collect(),
    }
}

/// Adds the findings about a run's tolls to those about its cells.
pub fn add_doubts(validity: &mut Vec<Validity>, tolls: &[Toll]) {
    for doubt in ranks::disagreements(tolls).into_iter().chain(drifting::drifts(tolls)) {
        // That nothing was found is then no longer true.
        validity.retain(|of| of.rule != ALL || (&of.variant, of.level) != (&doubt.variant, doubt.level));
        validity.push(doubt);
    }
}

#[cfg(test)]
mod tests;
