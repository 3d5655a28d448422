//! Tolls: what each variant costs over its baseline, from the trials of one run.
//!
//! Per block d = mean log(variant) - mean log(baseline); the ratio is exp(mean d) with Student t's interval. It reads
//! stored trials only and judges no cell: that is `validity`, whose marks it obeys.

use crate::results::{Cell, Experiment, Figure, RateGroup, Toll, TollVerdict, Trial, Validity, Verdict};
use crate::stats::{ALPHA, Interval, holm, mean, mean_interval, signed_rank};
use crate::validity::DIFFERENT_BACKEND;
use std::collections::BTreeMap;

/// Half the width of the band around 1 inside which the whole interval must lie for "no toll": 3 %.
pub const NO_TOLL_BAND: f64 = 0.03;

/// Rules of validity that say that the generator or the machine was at its limit together with the subject: a time
/// then belongs to both, and nothing is claimed of it.
pub const JOINT_RULES: [&str; 3] = ["client-saturation", "run-queue", "joint"];

/// Every figure that is compared, in the order in which tolls are listed.
pub const FIGURES: [Figure; 6] =
    [Figure::UnitTime, Figure::SubjectCpu, Figure::Bytes, Figure::MedianAtRate, Figure::P95AtRate, Figure::P99AtRate];

/// Rules of validity that are about the load at equal rate alone: they say nothing of the closed one.
pub const RATE_RULES: [&str; 2] = ["lateness", "rate"];

impl Figure {
    /// Unit of the figure's difference.
    pub fn unit(self) -> &'static str {
        match self {
            Self::UnitTime | Self::MedianAtRate | Self::P95AtRate | Self::P99AtRate => "ms",
            Self::SubjectCpu => "us",
            Self::Bytes => "bytes",
        }
    }

    /// The figure of one trial; absent where it was not measured or a ratio of it has no meaning.
    fn of(self, trial: &Trial) -> Option<f64> {
        let value = match self {
            Self::UnitTime => match mean(&trial.unit_times_ms) {
                Some(mean) => mean,
                None if trial.units > 0 => trial.duration_ms / trial.units as f64,
                None => return None,
            },
            Self::SubjectCpu if trial.records > 0 => trial.subject_cpu_us? / trial.records as f64,
            Self::SubjectCpu if trial.requests > 0 => trial.subject_cpu_us? / trial.requests as f64,
            Self::Bytes if trial.units > 0 => trial.bytes_received as f64 / trial.units as f64,
            Self::SubjectCpu | Self::Bytes | Self::MedianAtRate | Self::P95AtRate | Self::P99AtRate => return None,
        };
        value.is_finite().then_some(value)
    }

    /// The figure of one group of blocks at equal rate; absent where it is a figure of the closed load.
    fn of_group(self, group: &RateGroup) -> Option<f64> {
        match self {
            Self::MedianAtRate => group.p50_ms,
            Self::P95AtRate => group.p95_ms,
            Self::P99AtRate => group.p99_ms,
            Self::UnitTime | Self::SubjectCpu | Self::Bytes => None,
        }
    }

    /// Whether the figure is of the load at equal rate.
    pub fn is_at_rate(self) -> bool {
        matches!(self, Self::MedianAtRate | Self::P95AtRate | Self::P99AtRate)
    }

    /// Whether a finding of this rule concerns the figure.
    fn is_concerned_by(self, rule: &str) -> bool {
        self.is_at_rate() || !RATE_RULES.contains(&rule)
    }

    /// Whether the figure is a time that generator and subject share when both are at their limit.
    fn is_time(self) -> bool {
        matches!(self, Self::UnitTime)
    }
}

impl Toll {
    /// Whether the ratio may be printed: a refused toll keeps its place, but its numbers say nothing.
    pub fn is_shown(&self) -> bool {
        self.verdict != TollVerdict::Refused
    }
}

/// The tolls of all variants that have a baseline, at all levels, with p adjusted by Holm over all of which something
/// is claimed.
///
/// Blocks that an interruption left incomplete do not count. A figure that was nowhere measured gives no toll; one that
/// was measured but cannot be compared (a refused cell, a zero, a single block) gives a refused one with the reason,
/// whose ratio, interval and difference are zero.
pub fn compute(experiment: &Experiment, trials: &[Trial], cells: &[Cell], validity: &[Validity]) -> Vec<Toll> {
    let mut tolls = Vec::new();
    let mut probabilities = Vec::new();
    for &level in &experiment.levels {
        for variant in &experiment.variants {
            let Some(baseline) = &variant.baseline else { continue };
            let pair = Pair { variant: &variant.name, baseline, level };
            for figure in FIGURES {
                let Some(found) = pair.compare(figure, trials, cells, validity) else { continue };
                probabilities.push((tolls.len(), found.interval));
                tolls.push(found.toll);
            }
        }
    }
    let compared: Vec<(usize, Compared)> =
        probabilities.into_iter().filter_map(|(index, compared)| Some((index, compared?))).collect();
    // Only of these is anything claimed: a joint one must not make the others' claims harder.
    let (claimed, joint): (Vec<_>, Vec<_>) = compared.into_iter().partition(|(_, compared)| compared.joint.is_none());
    let family: Vec<f64> = claimed.iter().map(|(_, compared)| compared.interval.p).collect();
    for ((index, compared), p_adjusted) in claimed.iter().zip(holm::adjust(&family)) {
        judge(&mut tolls[*index], compared, p_adjusted);
    }
    for (index, compared) in &joint {
        judge(&mut tolls[*index], compared, 1.0);
    }
    tolls
}

/// A variant and its baseline at one level.
struct Pair<'a> {
    variant: &'a str,
    baseline: &'a str,
    level: u64,
}

/// A toll before it is judged; without an interval if it is refused already.
struct Found {
    toll: Toll,
    interval: Option<Compared>,
}

/// The interval of the log ratio, with what else the judgement needs.
struct Compared {
    interval: Interval,
    signed_rank_p: f64,
    joint: Option<String>,
}

impl Pair<'_> {
    fn compare(&self, figure: Figure, trials: &[Trial], cells: &[Cell], validity: &[Validity]) -> Option<Found> {
        let (of_variant, of_baseline) = match figure.is_at_rate() {
            true => (self.groups(self.variant, figure, cells), self.groups(self.baseline, figure, cells)),
            false => (self.blocks(self.variant, figure, trials), self.blocks(self.baseline, figure, trials)),
        };
        if of_variant.is_empty() || of_baseline.is_empty() {
            return None;
        }
        let refuses = |doubt: &&Validity| doubt.verdict == Verdict::Refused && figure.is_concerned_by(&doubt.rule);
        if let Some(doubt) = self.doubts(validity).find(refuses) {
            return Some(self.refused(figure, format!("{} at {}: {}", doubt.variant, doubt.level, doubt.reason)));
        }
        let elsewhere = self
            .doubts(validity)
            .find(|doubt| doubt.rule == DIFFERENT_BACKEND && doubt.variant == self.variant && figure != Figure::Bytes);
        if let Some(doubt) = elsewhere {
            return Some(self.refused(figure, doubt.reason.clone()));
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

        let logs = |values: &Vec<f64>| mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>());
        let (mut differences, mut baselines) = (Vec::new(), Vec::new());
        for (block, values) in &of_variant {
            let Some(beside) = of_baseline.get(block) else { continue };
            if let (Some(variant), Some(baseline)) = (logs(values), logs(beside)) {
                differences.push(variant - baseline);
                baselines.push(baseline);
            }
        }
        let Some(interval) = mean_interval(&differences, ALPHA) else {
            return Some(
                self.refused(figure, format!("no interval from {} complete block(s): take more", differences.len())),
            );
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
        let joint = self
            .doubts(validity)
            .find(|doubt| {
                figure.is_time() && JOINT_RULES.contains(&doubt.rule.as_str()) && doubt.verdict != Verdict::Ok
            })
            .map(|doubt| format!("{} at {}: {}", doubt.variant, doubt.level, doubt.reason));
        let signed_rank_p = signed_rank::probability(&differences);
        Some(Found { toll, interval: Some(Compared { interval, signed_rank_p, joint }) })
    }

    /// The figure's values by block, of blocks in which the variant ran as often as in the fullest one.
    fn blocks(&self, name: &str, figure: Figure, trials: &[Trial]) -> BTreeMap<u32, Vec<f64>> {
        let mut runs: BTreeMap<u32, usize> = BTreeMap::new();
        let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for trial in trials.iter().filter(|trial| trial.variant == name && trial.level == self.level) {
            *runs.entry(trial.block).or_default() += 1;
            if let Some(value) = figure.of(trial) {
                values.entry(trial.block).or_default().push(value);
            }
        }
        let whole = runs.values().copied().max().unwrap_or(0);
        values.retain(|_, of_block| of_block.len() == whole);
        values
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
        };
        Found { toll, interval: None }
    }
}

/// Says what may be said, from the adjusted probability and the interval.
fn judge(toll: &mut Toll, compared: &Compared, p_adjusted: f64) {
    toll.p_adjusted = p_adjusted;
    let shown = p_adjusted < ALPHA;
    let inside_band = toll.low >= 1.0 - NO_TOLL_BAND && toll.high <= 1.0 + NO_TOLL_BAND;
    if let Some(joint) = &compared.joint {
        toll.verdict = TollVerdict::Joint;
        toll.note = Some(format!("{joint}; the time is generator's and subject's together: read the CPU toll"));
        return;
    }
    toll.verdict = match (inside_band, shown, toll.ratio > 1.0) {
        (true, _, _) => TollVerdict::NoToll,
        (false, true, true) => TollVerdict::Dearer,
        (false, true, false) => TollVerdict::Cheaper,
        (false, false, _) => TollVerdict::Unclear,
    };
    toll.note = match toll.verdict {
        TollVerdict::NoToll if shown => {
            Some(format!("a difference is there, but smaller than {:.0} %", NO_TOLL_BAND * 100.0))
        }
        TollVerdict::NoToll => Some(format!("the whole interval lies inside ± {:.0} %", NO_TOLL_BAND * 100.0)),
        _ => disagreement(compared),
    };
}

/// Where Student t and the signed ranks disagree on whether there is a toll.
fn disagreement(compared: &Compared) -> Option<String> {
    let interval = &compared.interval;
    let (by_t, by_rank) = (interval.p < ALPHA, compared.signed_rank_p < ALPHA);
    (by_t != by_rank && signed_rank::can_tell(interval.n, ALPHA)).then(|| {
        format!(
            "Student t (p = {:.3}) and the signed ranks (p = {:.3}) disagree: take more blocks",
            interval.p, compared.signed_rank_p
        )
    })
}

#[cfg(test)]
mod tests;
