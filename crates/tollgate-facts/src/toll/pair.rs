//! Comparison of two variants: the ratio of one figure from the blocks that have both, and the conclusion about it.
//!
//! It knows nothing of the family of claims that a ratio belongs to.

use super::theft::{self, Without};
use super::unwatched;
use super::{Left, unconfirmed};
use crate::results::{
    BetweenStarts, ByRanks, Cell, Drift, Experiment, Figure, Gap, GapKind, RunResult, Settings, Toll, TollVerdict,
    Trial, Validity, Variant,
};
use crate::rules::DIFFERENT_BACKEND;
use crate::stats::between_starts::{self, Between};
use crate::stats::{ALPHA, Interval, by_key, drift, hodges_lehmann, mean, mean_interval, signed_rank};
use std::collections::BTreeMap;

/// Above this probability, by itself, a test sees nothing of a toll that the other one claims.
const UNSEEN_P_MIN: f64 = 0.1;

/// Logarithms by block.
pub(super) type Logs = BTreeMap<u32, f64>;

/// Two variants at one level; the second is the divisor of the first.
pub(crate) struct Pair<'a> {
    pub(super) run: &'a RunResult,
    pub(super) variant: &'a str,
    pub(super) baseline: &'a str,
    pub(super) level: u64,
    pub(super) over: Over,
    /// The trials of either.
    pub(super) trials: [Vec<&'a Trial>; 2],
}

/// The role of the second one of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The variant without the layer: on two systems the ratio would be no layer's toll.
    Baseline,
    /// The same, which is the server behind the layer by itself: CPU time is compared with that of both together.
    Backend,
    /// Tollgate's own variant, compared with another server.
    Tollgate,
}

impl Over {
    /// The role of this baseline.
    pub(super) fn of(baseline: &Variant) -> Over {
        if baseline.backend.is_some() { Over::Backend } else { Over::Baseline }
    }
}

/// Probabilities of a toll as large by chance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probabilities {
    /// The one by Student's t, which decides.
    pub(super) by_t: f64,
    /// The one by the signed ranks.
    pub(super) by_ranks: f64,
}

impl<'a> Pair<'a> {
    pub(super) fn new(run: &'a RunResult, variant: &'a str, baseline: &'a str, level: u64, over: Over) -> Pair<'a> {
        let trials = [variant, baseline].map(|name| run.trials_of(name, level));
        Pair { run, variant, baseline, level, over, trials }
    }

    /// Every variant that has a counterpart, with it, at all levels at which the modes of both are in effect.
    pub(super) fn all(
        run: &'a RunResult,
        counterpart: impl Fn(&Variant) -> Option<(&'a Variant, Over)>,
    ) -> impl Iterator<Item = Pair<'a>> {
        let Experiment { levels, variants, .. } = &run.experiment;
        let cells = levels.iter().flat_map(|level| variants.iter().map(move |variant| (variant, *level)));
        cells.filter_map(move |(variant, level)| {
            let (baseline, over) = counterpart(variant)?;
            let is_whole = variant.is_whole_at(level) && baseline.is_whole_at(level);
            is_whole.then(|| Pair::new(run, &variant.name, &baseline.name, level, over))
        })
    }

    /// Compares one figure in the trials of either, block by block: a toll that is refused or joint already, or one that
    /// is still to be judged, with its own probabilities.
    pub(super) fn compare(&self, figure: Figure) -> Option<(Toll, Option<Probabilities>)> {
        let of_either = self.by_block(figure);
        if of_either.iter().any(Logs::is_empty) {
            return None;
        }
        let refused = |reason: String| self.refused(figure, reason);
        let has_zero = of_either.iter().flat_map(Logs::values).any(|log| !log.is_finite());
        if let Some(reason) = self.refusal(figure, has_zero) {
            return Some((refused(reason), None));
        }
        let ratios = log_ratios(&of_either);
        let (blocks, looking) = (ratios.len(), self.run.settings.looking());
        let alpha = looking.alpha();
        let (ratios, over_blocks, theft) = match theft::without(self, figure, &ratios, alpha) {
            Some(Without { ratios, over_blocks, theft }) => (ratios, Some(over_blocks), Some(theft)),
            None => {
                let over_blocks = mean_interval(&ratios.values().copied().collect::<Vec<f64>>(), alpha);
                (ratios, over_blocks, None)
            }
        };
        let differences: Vec<f64> = ratios.values().copied().collect();
        let Some(over_blocks) = over_blocks else {
            return Some((refused(format!("no interval from {blocks} complete block(s): take more")), None));
        };
        let starts = match figure.is_at_rate() {
            // The load at equal rate follows the closed one, on the processes of the last start.
            true => Vec::new(),
            false => self.by_start(&ratios),
        };
        let (interval, between_starts) = over_starts(over_blocks, &starts, alpha);
        let drift = drift::drift(&starts).map(|drift| Drift { change: drift.change.exp_m1(), p: drift.p });
        let (ratio, low, high) = (interval.mean.exp(), interval.low.exp(), interval.high.exp());
        let typical = mean(&ratios.keys().map(|block| of_either[1][block]).collect::<Vec<f64>>())?.exp();
        let own = Probabilities {
            by_t: looking.probability(interval.p),
            by_ranks: looking.probability(signed_rank::probability(&differences)),
        };
        let by_ranks = hodges_lehmann::centre(&differences, alpha).map(|centre| ByRanks {
            ratio: centre.middle.exp(),
            low: centre.low.map(f64::exp),
            high: centre.high.map(f64::exp),
            p: own.by_ranks,
        });
        let joint = self.joint(figure);
        let toll = Toll {
            ratio,
            low,
            high,
            // From the same geometric means as the ratio, so that the two cannot disagree in sign.
            difference: typical * (ratio - 1.0),
            difference_low: typical * (low - 1.0),
            difference_high: typical * (high - 1.0),
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
            verdict: if joint.is_some() { TollVerdict::Joint } else { TollVerdict::Unclear },
            by_ranks,
            between_starts,
            drift,
            theft,
            ..refused(String::new())
        };
        let own = joint.is_none().then_some(own);
        Some((Toll { note: joint, ..toll }, own))
    }

    /// The first reason why there is no valid ratio of these two.
    fn refusal(&self, figure: Figure, has_zero: bool) -> Option<String> {
        let (variant, baseline) = (self.variant, self.baseline);
        let told = self.left(figure, Left::Refused);
        let elsewhere = || {
            let is_told = self.over != Over::Tollgate && figure != Figure::Bytes;
            let is_it = |doubt: &&Validity| doubt.rule == DIFFERENT_BACKEND.name && doubt.variant == variant;
            Some(self.doubts().filter(|_| is_told).find(is_it)?.reason.clone())
        };
        let unwatched = || {
            let (what, is_half): (&str, fn(&Trial) -> bool) = match figure {
                Figure::SubjectCpu => {
                    ("CPU time is", |trial| trial.subject_cpu_us.is_some() && trial.backend_cpu_us.is_none())
                }
                Figure::Instructions => ("instructions are", |trial| {
                    trial.subject_instructions.is_some() && trial.backend_instructions.is_none()
                }),
                _ => return None,
            };
            (self.over == Over::Backend && self.trials[0].iter().any(|trial| is_half(trial))).then(|| {
                format!(
                    "the server behind {variant} was not watched, and its {what} a part: give --subject-pid \
                     {baseline} as well, another process than that of {variant}"
                )
            })
        };
        let without_cell = || {
            let name = [variant, baseline].into_iter().find(|name| self.run.cell(name, self.level).is_none())?;
            Some(format!("{name} has no result at {}", self.level))
        };
        let nothing = || {
            let what = match figure {
                Figure::SubjectCpu => "a trial used no CPU time that the clock could see",
                Figure::Instructions => "of a trial no instructions were counted",
                Figure::Bytes => "a trial received no bytes",
                _ => "a trial took no time that the clock could see",
            };
            has_zero.then(|| format!("{what}: a ratio to zero says nothing"))
        };
        let is_of_subject = matches!(figure, Figure::SubjectCpu | Figure::Instructions);
        let behind = || is_of_subject.then(|| unwatched::works_for_one(self)).flatten();
        told.or_else(elsewhere).or_else(unwatched).or_else(behind).or_else(without_cell).or_else(nothing)
    }

    /// The reason why a time is that of generator and subject together.
    fn joint(&self, figure: Figure) -> Option<String> {
        let why = self.left(figure, Left::Joint)?;
        let ratio = if self.over == Over::Tollgate { "ratio" } else { "toll" };
        Some(format!("{why}; the time is generator's and subject's together: read the CPU {ratio}"))
    }

    /// The first doubt that leaves just this of a figure, in words.
    fn left(&self, figure: Figure, left: Left) -> Option<String> {
        let doubt = self.doubts().find(|doubt| figure.left_by(doubt) == left)?;
        Some(format!("{} at {}: {}", doubt.variant, doubt.level, doubt.reason))
    }

    /// The figure's logarithms of either by block; at equal rate by group of blocks.
    pub(super) fn by_block(&self, figure: Figure) -> [Logs; 2] {
        match figure.is_at_rate() {
            true => [self.variant, self.baseline].map(|name| groups(figure, self.run.cell(name, self.level))),
            false => self.trials.each_ref().map(|trials| blocks(figure, trials, self.over)),
        }
    }

    /// The log ratios of blocks, in their order, by the start that they belong to.
    pub(super) fn by_start(&self, ratios: &Logs) -> Vec<Vec<f64>> {
        let start_of = |block: u32| Some(self.trials[0].iter().find(|trial| trial.block == block)?.start);
        by_key(ratios.iter().filter_map(|(block, ratio)| Some((start_of(*block)?, *ratio)))).into_values().collect()
    }

    /// Whether errors of either began at a lower level.
    pub(super) fn is_after_onset(&self) -> bool {
        let is_it = |gap: &Gap| gap.kind == GapKind::AfterOnset && self.holds(&gap.variant, gap.level);
        self.run.gaps.iter().any(is_it)
    }

    fn doubts(&self) -> impl Iterator<Item = &'a Validity> {
        self.run.validity.iter().filter(|doubt| self.holds(&doubt.variant, doubt.level))
    }

    /// Whether a cell is one of the two.
    fn holds(&self, variant: &str, level: u64) -> bool {
        level == self.level && [self.variant, self.baseline].contains(&variant)
    }

    fn refused(&self, figure: Figure, reason: String) -> Toll {
        Toll {
            variant: self.variant.to_owned(),
            baseline: self.baseline.to_owned(),
            level: self.level,
            figure,
            unit: figure.unit().to_owned(),
            p_adjusted: 1.0,
            note: Some(reason),
            ..Toll::default()
        }
    }
}

/// Sets the verdict of a toll, from its own probabilities, those adjusted among so many comparisons, and its interval.
pub(super) fn judge(
    toll: &mut Toll,
    own: Probabilities,
    adjusted: Probabilities,
    settings: &Settings,
    comparisons: usize,
) {
    let band = settings.equivalence_share;
    // In percent, without needless digits.
    let percent = (band * 1e4).round() / 1e2;
    toll.p_adjusted = adjusted.by_t;
    toll.verdict = TollVerdict::of((toll.low, toll.high), adjusted.by_t, band);
    toll.note = match toll.verdict {
        TollVerdict::NoToll if adjusted.by_t < ALPHA => {
            Some(format!("a difference is there, but smaller than {percent} %"))
        }
        TollVerdict::NoToll => Some(format!("the whole interval lies inside ± {percent} %")),
        TollVerdict::Unconfirmed => Some(unconfirmed(comparisons, adjusted.by_t)),
        _ => disagreement(toll, own, adjusted, settings.looking().alpha()),
    };
}

/// The log ratios of the blocks that have both.
pub(super) fn log_ratios([of_variant, of_baseline]: &[Logs; 2]) -> Logs {
    of_variant.iter().filter_map(|(block, log)| Some((*block, log - of_baseline.get(block)?))).collect()
}

/// The spread between starts, and the interval of the toll: over the starts if there are two or more, else over the
/// blocks. No test decides: with few starts it would mostly miss their differences.
fn over_starts(over_blocks: Interval, starts: &[Vec<f64>], alpha: f64) -> (Interval, Option<BetweenStarts>) {
    let Some(Between { deviation, p, starts: count }) = between_starts::between(starts) else {
        return (over_blocks, None);
    };
    let over_starts = between_starts::interval(starts, alpha);
    let between = BetweenStarts {
        starts: u32::try_from(count).unwrap_or(u32::MAX),
        deviation: deviation.exp_m1(),
        p,
        is_interval_over_starts: over_starts.is_some(),
    };
    (over_starts.unwrap_or(over_blocks), Some(between))
}

/// A figure's logarithm by group of blocks at equal rate.
fn groups(figure: Figure, cell: Option<&Cell>) -> Logs {
    let groups = cell.and_then(|cell| cell.equal_rate.as_ref()).map_or(&[][..], |rate| &rate.groups);
    groups.iter().filter_map(|group| Some((group.group, figure.of_group(group)?.ln()))).collect()
}

/// The mean logarithm of a figure by block, of blocks in which the variant ran as often as in the fullest one.
fn blocks(figure: Figure, trials: &[&Trial], over: Over) -> Logs {
    let values = by_key(trials.iter().map(|trial| (trial.block, figure.of(trial, over))));
    let whole = values.values().map(Vec::len).max().unwrap_or(0);
    let of_whole = |(block, values): (u32, Vec<Option<f64>>)| {
        let logs: Vec<f64> = values.into_iter().flatten().map(f64::ln).collect();
        mean(&logs).filter(|_| logs.len() == whole).map(|log| (block, log))
    };
    values.into_iter().filter_map(of_whole).collect()
}

/// The disagreement of Student t and the signed ranks on whether there is a toll: the one claims it among all tolls,
/// the other sees nothing of it. Of eight blocks the ranks know 0.039 and 0.055 and nothing between, so that two tests
/// on either side of a bound need not mean different things.
fn disagreement(toll: &Toll, own: Probabilities, adjusted: Probabilities, alpha: f64) -> Option<String> {
    if toll.between_starts.is_some_and(|between| between.is_interval_over_starts) {
        // As blocks of a start are not independent: of starts the ranks know nothing.
        return None;
    }
    let Probabilities { by_t, by_ranks } = own;
    let by_t_only =
        adjusted.by_t < ALPHA && by_ranks > UNSEEN_P_MIN && signed_rank::can_tell(toll.blocks as usize, alpha);
    let by_ranks_only = adjusted.by_ranks < ALPHA && by_t > UNSEEN_P_MIN;
    (by_t_only || by_ranks_only).then(|| {
        format!("Student t (p = {by_t:.3}) and the signed ranks (p = {by_ranks:.3}) disagree: take more blocks")
    })
}
