//! Judges thresholds from stored results: the end of the interval that is nearer to the bound decides.
//!
//! | outcome | a figure with an interval | one without (counts, percentiles of older results) |
//! |---|---|---|
//! | holds | the whole interval is on the right side | it is on the right side |
//! | fails | the whole interval is on the wrong side | it is on the wrong side |
//! | not shown | the bound is inside | there is none |
//!
//! A threshold on a refused figure never holds. Nothing is adjusted for several thresholds: each is judged by itself.

use super::{Asked, Comparison, Selection, Threshold};
use crate::across::{Across, Beside, RatioOf};
use crate::quantity::Quantity;
use crate::results::load::QuickResult;
use crate::results::{
    Estimate, Figure, Outcome, RunResult, ThresholdFinding, ThresholdResult, TollVerdict, Validity, Variant, Verdict,
};
use crate::rules;

/// The outcome of all of them together; nothing is worse than a failure.
pub fn worst(results: &[ThresholdResult]) -> Outcome {
    results.iter().map(|result| result.outcome).max().unwrap_or(Outcome::Holds)
}

/// Judges thresholds by one run.
pub fn judge(thresholds: &[Threshold], run: &RunResult) -> Vec<ThresholdResult> {
    thresholds.iter().map(|threshold| threshold.result(threshold.in_run(run, None))).collect()
}

/// Judges thresholds by a single load, which is one cell. The reasons why it is refused refuse all but counts of
/// failures.
pub fn judge_load(thresholds: &[Threshold], load: &QuickResult) -> Vec<ThresholdResult> {
    let refusal = load.validity.iter().find(|mark| mark.verdict == Verdict::Refused);
    let finding = |threshold: &Threshold| {
        let at = ThresholdFinding::default();
        let Asked::Of(quantity) = threshold.asked else {
            return threshold.nothing(at, "a single load has no tolls and no ratios".to_owned());
        };
        match (quantity.of_load(load), refusal) {
            (_, Some(mark)) if !quantity.is_of_errors() => threshold.nothing(at, format!("refused: {}", mark.reason)),
            (None, _) => threshold.nothing(at, quantity.missing.to_owned()),
            (Some(found), _) => threshold.held(at, found),
        }
    };
    let of_load = |threshold: &Threshold| {
        let found = finding(threshold);
        // A load has no blocks.
        let words = [
            ("too few blocks or starts, or they differ too much", "load for longer"),
            ("take more blocks", "load for longer"),
        ];
        let reason =
            found.reason.map(|reason| words.iter().fold(reason, |text, (of_run, own)| text.replace(of_run, own)));
        threshold.result(vec![ThresholdFinding { reason, ..found }])
    };
    thresholds.iter().map(of_load).collect()
}

/// Judges thresholds by runs side by side: figures and tolls in each of them, ratios of each by the first one.
pub fn judge_across(thresholds: &[Threshold], across: &Across, runs: &[&RunResult]) -> Vec<ThresholdResult> {
    let findings = |threshold: &Threshold| match threshold.asked {
        Asked::Of(_) | Asked::Toll(_) => {
            (1..).zip(runs).flat_map(|(number, run)| threshold.in_each_run(run, number)).collect()
        }
        Asked::Ratio(figure) => threshold.of_ratios(&across.cells, figure, runs),
        Asked::TollRatio(figure) => threshold.of_ratios(&across.tolls, figure, runs),
    };
    thresholds.iter().map(|threshold| threshold.result(findings(threshold))).collect()
}

/// A finding with only its place; the run has a number if several are side by side.
fn at(run: Option<u32>, variant: &str, level: u64) -> ThresholdFinding {
    ThresholdFinding { run, variant: Some(variant.to_owned()), level: Some(level), ..ThresholdFinding::default() }
}

impl Threshold {
    fn result(&self, mut findings: Vec<ThresholdFinding>) -> ThresholdResult {
        if findings.is_empty() {
            findings
                .push(self.nothing(ThresholdFinding::default(), "nothing that it asks for was measured".to_owned()));
        }
        ThresholdResult {
            expect: self.text.clone(),
            why: self.why.clone(),
            outcome: findings.iter().map(|finding| finding.outcome).max().unwrap_or(Outcome::NotShown),
            findings,
        }
    }

    /// The findings of one of several runs: one that has nothing of the requested figure is reported.
    fn in_each_run(&self, run: &RunResult, number: u32) -> Vec<ThresholdFinding> {
        let mut found = self.in_run(run, Some(number));
        if found.is_empty() {
            let Selection { variant, level, .. } = self.selection.clone();
            let at = ThresholdFinding { run: Some(number), variant, level, ..ThresholdFinding::default() };
            found.push(self.nothing(at, "this run does not have it".to_owned()));
        }
        found
    }

    fn in_run(&self, run: &RunResult, number: Option<u32>) -> Vec<ThresholdFinding> {
        match self.asked {
            Asked::Of(quantity) => self.of_cells(run, number, quantity),
            Asked::Toll(figure) => self.of_tolls(run, number, figure),
            Asked::Ratio(_) | Asked::TollRatio(_) => {
                let at = ThresholdFinding { run: number, ..ThresholdFinding::default() };
                vec![self.nothing(at, "a ratio of runs takes two runs".to_owned())]
            }
        }
    }

    /// One finding for each planned cell: a missing one is reported.
    fn of_cells(&self, run: &RunResult, number: Option<u32>, quantity: Quantity) -> Vec<ThresholdFinding> {
        let of = |(variant, level): (&Variant, u64)| {
            let (name, at) = (&variant.name, at(number, &variant.name, level));
            let Some(cell) = run.cell(name, level) else { return self.nothing(at, unmeasured(run, name, level)) };
            let Some(found) = quantity.of(cell) else { return self.nothing(at, quantity.missing.to_owned()) };
            let is_refusal = |doubt: &&Validity| {
                doubt.verdict == Verdict::Refused && (quantity.is_at_rate() || !rules::is_at_rate(&doubt.rule))
            };
            let refusal = run.findings(name, level).find(is_refusal);
            let Some(refusal) = refusal.map(|refusal| format!("refused: {}", refusal.reason)) else {
                return self.held(at, found);
            };
            // A figure of a refused cell does not hold, and does not fail either: it says nothing. Only failures that
            // are counted may be what the cell is refused for.
            if !quantity.is_of_errors() {
                return self.nothing(at, refusal);
            }
            match self.held(at, found) {
                held if held.outcome == Outcome::Fails => held,
                held => ThresholdFinding { outcome: Outcome::NotShown, reason: Some(refusal), ..held },
            }
        };
        self.planned(run).map(of).collect()
    }

    /// One finding for each toll that was planned, by the same rule.
    fn of_tolls(&self, run: &RunResult, number: Option<u32>, figure: Figure) -> Vec<ThresholdFinding> {
        let with_baseline = self.planned(run).filter(|(variant, _)| variant.baseline.is_some());
        let of = |(variant, level): (&Variant, u64)| {
            let at = at(number, &variant.name, level);
            let Some(toll) = run.toll(&variant.name, level, figure) else {
                return self.nothing(at, unmeasured(run, &variant.name, level));
            };
            self.of_claim(at, toll.verdict, toll.note.as_deref(), toll.estimate())
        };
        with_baseline.map(of).collect()
    }

    /// The planned cells that it selects, without those whose mode is not in effect at their level.
    fn planned<'r>(&self, run: &'r RunResult) -> impl Iterator<Item = (&'r Variant, u64)> {
        let experiment = &run.experiment;
        let all =
            experiment.levels.iter().flat_map(|level| experiment.variants.iter().map(|variant| (variant, *level)));
        all.filter(|(variant, level)| variant.is_whole_at(*level) && self.selects(&variant.name, *level))
    }

    /// One finding per cell or toll planned by the first run, in each further run; then those of only later runs.
    fn of_ratios(&self, beside: &[Beside], figure: Figure, runs: &[&RunResult]) -> Vec<ThresholdFinding> {
        let Some((first, further)) = runs.split_first() else { return Vec::new() };
        let of_ratio = |found: &RatioOf, variant: &str, level: u64| {
            let ratio = Estimate { mean: found.ratio, low: found.low, high: found.high, n: found.blocks };
            self.of_claim(at(Some(found.run), variant, level), found.verdict, found.note.as_deref(), ratio)
        };
        let mut rows: Vec<&Beside> =
            beside.iter().filter(|row| row.figure == figure && self.selects(&row.variant, row.level)).collect();
        let mut findings = Vec::new();
        for (variant, level) in self.planned(first) {
            if matches!(self.asked, Asked::TollRatio(_)) && variant.baseline.is_none() {
                continue;
            }
            let title = first.experiment.level_title(level);
            let row = rows.iter().position(|row| row.variant == variant.name && row.level_title == title);
            let ratios = row.map_or(&[][..], |row| &rows.remove(row).ratios);
            for (number, run) in (2..).zip(further) {
                findings.push(match ratios.iter().find(|found| found.run == number) {
                    Some(found) => of_ratio(found, &variant.name, level),
                    None => {
                        let at = at(Some(number), &variant.name, level);
                        self.nothing(at, without_ratio(first, run, number, variant, level))
                    }
                });
            }
        }
        for row in rows {
            findings.extend(row.ratios.iter().map(|found| of_ratio(found, &row.variant, row.level)));
        }
        findings
    }

    fn selects(&self, variant: &str, level: u64) -> bool {
        self.selection.variant.as_deref().is_none_or(|wanted| wanted == variant)
            && self.selection.level.is_none_or(|wanted| wanted == level)
    }

    /// Compares a ratio with the bound, if it makes a claim.
    fn of_claim(
        &self,
        at: ThresholdFinding,
        verdict: TollVerdict,
        note: Option<&str>,
        ratio: Estimate,
    ) -> ThresholdFinding {
        let note = note.unwrap_or_default();
        match verdict {
            TollVerdict::Refused => self.nothing(at, format!("refused: {note}")),
            TollVerdict::Joint => self.nothing(at, format!("joint: {note}")),
            _ => self.held(at, ratio),
        }
    }

    /// Compares a figure with the bound.
    fn held(&self, at: ThresholdFinding, found: Estimate) -> ThresholdFinding {
        let interval = found.interval();
        let (outcome, decided) = decide(self.comparison, interval.unwrap_or((found.mean, found.mean)), self.bound);
        // Of what has an interval, one block says nothing of it.
        let (outcome, reason) = match outcome {
            _ if found.n == 1 => {
                (Outcome::NotShown, Some("there is no interval: too few blocks or starts, or they differ too much"))
            }
            Outcome::NotShown => (outcome, Some("the bound is inside the interval: take more blocks")),
            Outcome::Holds | Outcome::Fails => (outcome, None),
        };
        ThresholdFinding {
            value: Some(found.mean),
            low: interval.map(|(low, _)| low),
            // That of a percentile may be open.
            high: interval.map(|(_, high)| high).filter(|high| high.is_finite()),
            decided: Some(decided).filter(|decided| decided.is_finite()),
            outcome,
            reason: reason.map(str::to_owned),
            ..self.nothing(at, String::new())
        }
    }

    /// A finding without a trusted figure.
    fn nothing(&self, at: ThresholdFinding, reason: String) -> ThresholdFinding {
        ThresholdFinding { bound: self.bound, unit: self.asked.unit().to_owned(), reason: Some(reason), ..at }
    }
}

/// The outcome, and the end of the interval that decided.
fn decide(comparison: Comparison, (low, high): (f64, f64), bound: f64) -> (Outcome, f64) {
    let (bad_end, good_end) = if comparison.wants_little() { (high, low) } else { (low, high) };
    match (comparison.accepts(bad_end, bound), comparison.accepts(good_end, bound)) {
        (true, true) => (Outcome::Holds, bad_end),
        (false, false) => (Outcome::Fails, good_end),
        _ => (Outcome::NotShown, bad_end),
    }
}

/// The reason why a cell has no figures.
fn unmeasured(run: &RunResult, variant: &str, level: u64) -> String {
    let gap = run.gaps.iter().find(|gap| gap.variant == variant && gap.level == level);
    gap.map_or_else(|| "it was not measured".to_owned(), |gap| gap.reason.clone())
}

/// The reason why the first run and a further one have no ratio of a cell.
fn without_ratio(first: &RunResult, run: &RunResult, number: u32, variant: &Variant, level: u64) -> String {
    let experiment = &run.experiment;
    // The number of a level that has a name may mean another one in another run.
    let title = first.experiment.level_title(level);
    let own_level = experiment.levels.iter().copied().find(|level| experiment.level_title(*level) == title);
    match own_level.filter(|_| experiment.variant(&variant.name).is_some()) {
        None => format!("run {number} does not have it"),
        Some(_) if first.cell(&variant.name, level).is_none() => {
            format!("run 1: {}", unmeasured(first, &variant.name, level))
        }
        Some(level) => format!("run {number}: {}", unmeasured(run, &variant.name, level)),
    }
}
