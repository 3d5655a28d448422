//! How two variants are compared: the ratio of one figure from the blocks that hold both, and what may be said of it.
//!
//! It knows nothing of the family of claims that a ratio belongs to.

use super::{Findings, Left};
use crate::results::{BetweenStarts, ByRanks, Cell, Drift, Figure, Gap, GapKind, Toll, TollVerdict, Trial, Validity};
use crate::rules::DIFFERENT_BACKEND;
use crate::stats::between_starts::{self, Between};
use crate::stats::{ALPHA, Interval, drift, hodges_lehmann, mean, mean_interval, signed_rank};
use std::collections::BTreeMap;

/// Above this probability, by itself, a test sees nothing of a toll that the other one claims.
const UNSEEN_P_MIN: f64 = 0.1;

/// Two variants at one level, the second being what the first is divided by.
pub(crate) struct Pair<'a> {
    pub(crate) variant: &'a str,
    pub(crate) baseline: &'a str,
    pub(crate) level: u64,
    pub(crate) over: Over,
}

/// What the second one of a pair is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The variant without the layer: on two systems the ratio would be no layer's toll.
    Baseline,
    /// The same, which is the server behind the layer by itself: CPU time is held against that of both together.
    Backend,
    /// Tollgate's own variant, which another server stands beside.
    Tollgate,
}

/// A toll before it is judged; without an interval if it is refused already.
pub(super) struct Found {
    pub(super) toll: Toll,
    pub(super) interval: Option<Compared>,
}

/// The interval of the log ratio, with what else the judgement needs.
pub(super) struct Compared {
    pub(super) interval: Interval,
    pub(super) signed_rank_p: f64,
    /// Whether it is over starts of the servers, as blocks of a start are not independent: of them the ranks know nothing.
    pub(super) is_over_starts: bool,
    /// Of the interval; the probabilities are such that they are held against [`ALPHA`] all the same.
    pub(super) alpha: f64,
    pub(super) joint: Option<String>,
    /// Half the width of the band of "no toll", as a share.
    pub(super) equivalence_share: f64,
}

/// What is left of the probabilities of one toll among all of which something is claimed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Adjusted {
    /// By Student's t, which decides.
    pub(super) p: f64,
    /// By the signed ranks.
    pub(super) by_ranks: f64,
}

impl Pair<'_> {
    /// Compares one figure in the trials of either, block by block.
    pub(super) fn compare(&self, figure: Figure, trials: [&[&Trial]; 2], findings: &Findings<'_>) -> Option<Found> {
        let Findings { cells, validity, looking, equivalence_share, .. } = *findings;
        let [of_variant, of_baseline] = self.by_block(figure, trials, cells);
        if of_variant.is_empty() || of_baseline.is_empty() {
            return None;
        }
        if let Some(doubt) = self.doubts(validity).find(|doubt| figure.left_by(doubt) == Left::Refused) {
            return Some(self.refused(figure, format!("{} at {}: {}", doubt.variant, doubt.level, doubt.reason)));
        }
        let elsewhere = self
            .doubts(validity)
            .filter(|_| self.over != Over::Tollgate && figure != Figure::Bytes)
            .find(|doubt| doubt.rule == DIFFERENT_BACKEND.name && doubt.variant == self.variant);
        if let Some(doubt) = elsewhere {
            return Some(self.refused(figure, doubt.reason.clone()));
        }
        let is_half = |trial: &&Trial| trial.subject_cpu_us.is_some() && trial.backend_cpu_us.is_none();
        if self.over == Over::Backend && figure == Figure::SubjectCpu && trials[0].iter().any(is_half) {
            let reason = format!(
                "the server behind {} was not watched, and its CPU time is a part: give --subject-pid {} as well, another \
                 process than that of {}",
                self.variant, self.baseline, self.variant
            );
            return Some(self.refused(figure, reason));
        }
        let without_cell =
            [self.variant, self.baseline].into_iter().find(|name| !cells.iter().any(|cell| self.is_cell(name, cell)));
        if let Some(name) = without_cell {
            return Some(self.refused(figure, format!("{name} has no result at {}", self.level)));
        }
        if of_variant.values().chain(of_baseline.values()).flatten().any(|value| *value <= 0.0) {
            let what = match figure {
                Figure::SubjectCpu => "a trial used no CPU time that the clock could see",
                Figure::UnitTime | Figure::MedianAtRate | Figure::P95AtRate | Figure::P99AtRate => {
                    "a trial took no time that the clock could see"
                }
                Figure::Bytes => "a trial received no bytes",
            };
            return Some(self.refused(figure, format!("{what}: a ratio to zero says nothing")));
        }

        let (differences, baselines) = log_ratios(&of_variant, &of_baseline);
        let Some(over_blocks) = mean_interval(&differences, looking.alpha()) else {
            return Some(
                self.refused(figure, format!("no interval from {} complete block(s): take more", differences.len())),
            );
        };
        let (mut interval, between_starts, drift) = match figure.is_at_rate() {
            // The load at equal rate follows the closed one, on the processes of the last start.
            true => (over_blocks, None, None),
            false => {
                let starts = by_start(&of_variant, &of_baseline, trials[0]);
                let (interval, between_starts) = over_starts(over_blocks, &starts, looking.alpha());
                (interval, between_starts, drift(&starts))
            }
        };
        let (Some(typical), ratio) = (mean(&baselines).map(f64::exp), interval.mean.exp()) else { return None };
        let toll = Toll {
            ratio,
            low: interval.low.exp(),
            high: interval.high.exp(),
            // From the same geometric means as the ratio, so that the two cannot disagree in sign.
            difference: typical * (ratio - 1.0),
            difference_low: typical * (interval.low.exp() - 1.0),
            difference_high: typical * (interval.high.exp() - 1.0),
            blocks: u32::try_from(differences.len()).unwrap_or(u32::MAX),
            verdict: TollVerdict::Unclear,
            note: None,
            ..self.refused(figure, String::new()).toll
        };
        let joint = self.doubts(validity).find(|doubt| figure.left_by(doubt) == Left::Joint).map(|doubt| {
            let ratio = match self.over {
                Over::Baseline | Over::Backend => "toll",
                Over::Tollgate => "ratio",
            };
            let why = format!("{} at {}: {}", doubt.variant, doubt.level, doubt.reason);
            format!("{why}; the time is generator's and subject's together: read the CPU {ratio}")
        });
        interval.p = looking.probability(interval.p);
        let signed_rank_p = looking.probability(signed_rank::probability(&differences));
        let alpha = looking.alpha();
        let by_ranks = hodges_lehmann::centre(&differences, alpha).map(|centre| ByRanks {
            ratio: centre.middle.exp(),
            low: centre.low.map(f64::exp),
            high: centre.high.map(f64::exp),
            p: signed_rank_p,
        });
        let is_over_starts = between_starts.is_some_and(|between| between.is_interval_over_starts);
        let toll = Toll { by_ranks, between_starts, drift, ..toll };
        let compared = Compared { interval, signed_rank_p, is_over_starts, alpha, joint, equivalence_share };
        Some(Found { toll, interval: Some(compared) })
    }

    /// The figure's values of either by block; at equal rate by group of blocks.
    pub(super) fn by_block(
        &self,
        figure: Figure,
        trials: [&[&Trial]; 2],
        cells: &[Cell],
    ) -> [BTreeMap<u32, Vec<f64>>; 2] {
        match figure.is_at_rate() {
            true => [self.variant, self.baseline].map(|name| self.groups(name, figure, cells)),
            false => trials.map(|trials| blocks(figure, trials, self.over)),
        }
    }

    /// Whether errors of either began at a lower level.
    pub(super) fn is_after_onset(&self, gaps: &[Gap]) -> bool {
        gaps.iter().any(|gap| {
            gap.kind == GapKind::AfterOnset
                && gap.level == self.level
                && (gap.variant == self.variant || gap.variant == self.baseline)
        })
    }

    /// The figure's values by group of blocks at equal rate.
    fn groups(&self, name: &str, figure: Figure, cells: &[Cell]) -> BTreeMap<u32, Vec<f64>> {
        let cell = cells.iter().find(|cell| self.is_cell(name, cell));
        let groups = cell.and_then(|cell| cell.equal_rate.as_ref()).map_or(&[][..], |rate| &rate.groups);
        groups.iter().filter_map(|group| Some((group.group, vec![figure.of_group(group)?]))).collect()
    }

    fn is_cell(&self, name: &str, cell: &Cell) -> bool {
        cell.variant == name && cell.level == self.level
    }

    fn doubts<'v>(&self, validity: &'v [Validity]) -> impl Iterator<Item = &'v Validity> {
        validity.iter().filter(|doubt| {
            doubt.level == self.level && (doubt.variant == self.variant || doubt.variant == self.baseline)
        })
    }

    fn refused(&self, figure: Figure, reason: String) -> Found {
        let toll = Toll {
            variant: self.variant.to_owned(),
            baseline: self.baseline.to_owned(),
            level: self.level,
            figure,
            ratio: 0.0,
            low: 0.0,
            high: 0.0,
            difference: 0.0,
            difference_low: 0.0,
            difference_high: 0.0,
            unit: figure.unit().to_owned(),
            blocks: 0,
            p_adjusted: 1.0,
            verdict: TollVerdict::Refused,
            note: Some(reason),
            by_ranks: None,
            between_starts: None,
            drift: None,
        };
        Found { toll, interval: None }
    }
}

/// Says what may be said, from the adjusted probabilities and the interval.
pub(super) fn judge(toll: &mut Toll, compared: &Compared, adjusted: Adjusted) {
    toll.p_adjusted = adjusted.p;
    let shown = adjusted.p < ALPHA;
    let band = compared.equivalence_share;
    let inside_band = toll.low >= 1.0 - band && toll.high <= 1.0 + band;
    if let Some(joint) = &compared.joint {
        toll.verdict = TollVerdict::Joint;
        toll.note = Some(joint.clone());
        return;
    }
    toll.verdict = match (inside_band, shown, toll.ratio > 1.0) {
        (true, _, _) => TollVerdict::NoToll,
        (false, true, true) => TollVerdict::Dearer,
        (false, true, false) => TollVerdict::Cheaper,
        (false, false, _) => TollVerdict::Unclear,
    };
    toll.note = match toll.verdict {
        TollVerdict::NoToll if shown => Some(format!("a difference is there, but smaller than {} %", in_percent(band))),
        TollVerdict::NoToll => Some(format!("the whole interval lies inside ± {} %", in_percent(band))),
        _ => disagreement(compared, adjusted),
    };
}

/// A share in percent, without needless digits.
fn in_percent(share: f64) -> f64 {
    (share * 1e4).round() / 1e2
}

/// The log ratios of the blocks that hold both, in their order, by the start that they belong to.
pub(super) fn by_start(
    of_variant: &BTreeMap<u32, Vec<f64>>,
    of_baseline: &BTreeMap<u32, Vec<f64>>,
    trials: &[&Trial],
) -> Vec<Vec<f64>> {
    let mut starts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, values) in of_variant {
        let ratio = log_mean(values).zip(of_baseline.get(block).and_then(|values| log_mean(values)));
        let start = trials.iter().find(|trial| trial.block == *block).map(|trial| trial.start);
        if let Some(((variant, baseline), start)) = ratio.zip(start) {
            starts.entry(start).or_default().push(variant - baseline);
        }
    }
    starts.into_values().collect()
}

/// What starts differ by, and the interval that the toll has: where they are seen to differ, the wider one of that over
/// blocks and that over starts.
fn over_starts(over_blocks: Interval, starts: &[Vec<f64>], alpha: f64) -> (Interval, Option<BetweenStarts>) {
    let Some(Between { deviation, p, starts: count }) = between_starts::between(starts) else {
        return (over_blocks, None);
    };
    let width = |interval: &Interval| interval.high - interval.low;
    let wider = between_starts::interval(starts, alpha)
        .filter(|over_starts| p < ALPHA && width(over_starts) > width(&over_blocks));
    let between = BetweenStarts {
        starts: u32::try_from(count).unwrap_or(u32::MAX),
        deviation: deviation.exp_m1(),
        p,
        is_interval_over_starts: wider.is_some(),
    };
    (wider.unwrap_or(over_blocks), Some(between))
}

/// By how much the ratio changes while it is measured.
fn drift(starts: &[Vec<f64>]) -> Option<Drift> {
    let found = drift::drift(starts)?;
    Some(Drift { change: found.change.exp_m1(), p: found.p })
}

/// The mean of the logarithms of a block's values.
pub(super) fn log_mean(values: &[f64]) -> Option<f64> {
    mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>())
}

/// Of the blocks that hold both, the log ratio, and beside it the logarithm of the baseline's figure.
pub(super) fn log_ratios(
    of_variant: &BTreeMap<u32, Vec<f64>>,
    of_baseline: &BTreeMap<u32, Vec<f64>>,
) -> (Vec<f64>, Vec<f64>) {
    let beside = of_variant.iter().filter_map(|(block, values)| Some((values, of_baseline.get(block)?)));
    beside
        .filter_map(|(values, beside)| Some((log_mean(values)?, log_mean(beside)?)))
        .map(|(variant, baseline)| (variant - baseline, baseline))
        .unzip()
}

/// A figure's values by block, of blocks in which the variant ran as often as in the fullest one.
fn blocks(figure: Figure, trials: &[&Trial], over: Over) -> BTreeMap<u32, Vec<f64>> {
    let mut runs: BTreeMap<u32, usize> = BTreeMap::new();
    let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in trials {
        *runs.entry(trial.block).or_default() += 1;
        if let Some(value) = figure.of(trial, over) {
            values.entry(trial.block).or_default().push(value);
        }
    }
    let whole = runs.values().copied().max().unwrap_or(0);
    values.retain(|_, of_block| of_block.len() == whole);
    values
}

/// Where Student t and the signed ranks disagree on whether there is a toll: the one claims it among all tolls, the
/// other sees nothing of it. Of eight blocks the ranks know 0.039 and 0.055 and nothing between, so that two tests on
/// either side of a bound need not mean different things.
fn disagreement(compared: &Compared, adjusted: Adjusted) -> Option<String> {
    if compared.is_over_starts {
        return None;
    }
    let (interval, by_ranks_p) = (&compared.interval, compared.signed_rank_p);
    let by_t_only =
        adjusted.p < ALPHA && by_ranks_p > UNSEEN_P_MIN && signed_rank::can_tell(interval.n, compared.alpha);
    let by_ranks_only = adjusted.by_ranks < ALPHA && interval.p > UNSEEN_P_MIN;
    (by_t_only || by_ranks_only).then(|| {
        format!(
            "Student t (p = {:.3}) and the signed ranks (p = {by_ranks_p:.3}) disagree: take more blocks",
            interval.p
        )
    })
}
