//! Whether thresholds hold, from stored results: the end of the interval that is nearer to the bound decides.
//!
//! | outcome | a figure with an interval | one without (counts, percentiles) |
//! |---|---|---|
//! | holds | the whole interval is on the right side | it is on the right side |
//! | fails | the whole interval is on the wrong side | it is on the wrong side |
//! | not shown | the bound is inside | there is none |
//!
//! What is refused never holds. It deliberately adjusts nothing for several thresholds: each stands by itself.

use super::{Asked, Comparison, Threshold};
use crate::across::{Across, Beside, RatioOf};
use crate::quantity::{Found, Quantity};
use crate::results::{
    Figure, Outcome, RunResult, ThresholdFinding, ThresholdResult, Toll, TollVerdict, Validity, Variant, Verdict,
};
use crate::rules;

/// What came of all of them together; nothing is worse than a failure.
pub fn worst(results: &[ThresholdResult]) -> Outcome {
    results.iter().map(|result| result.outcome).max().unwrap_or(Outcome::Holds)
}

/// Holds thresholds against one run.
pub fn judge(thresholds: &[Threshold], run: &RunResult) -> Vec<ThresholdResult> {
    thresholds.iter().map(|threshold| threshold.result(threshold.in_run(run, None))).collect()
}

/// Holds thresholds against runs side by side: figures and tolls in each of them, ratios of each by the first one.
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

impl Threshold {
    fn result(&self, mut findings: Vec<ThresholdFinding>) -> ThresholdResult {
        if findings.is_empty() {
            let reason = "nothing that it asks for was measured".to_owned();
            findings.push(self.nothing(None, None, None, reason));
        }
        ThresholdResult {
            expect: self.text.clone(),
            why: self.why.clone(),
            outcome: findings.iter().map(|finding| finding.outcome).max().unwrap_or(Outcome::NotShown),
            findings,
        }
    }

    /// One of several runs: one that has nothing of what is asked does not pass unseen.
    fn in_each_run(&self, run: &RunResult, number: u32) -> Vec<ThresholdFinding> {
        let found = self.in_run(run, Some(number));
        if found.is_empty() { vec![self.nothing_in(number, "this run does not have it".to_owned())] } else { found }
    }

    fn in_run(&self, run: &RunResult, number: Option<u32>) -> Vec<ThresholdFinding> {
        match self.asked {
            Asked::Of(quantity) => self.of_cells(run, number, quantity),
            Asked::Toll(figure) => self.of_tolls(run, number, figure),
            Asked::Ratio(_) | Asked::TollRatio(_) => {
                vec![self.nothing(number, None, None, "a ratio of runs takes two runs".to_owned())]
            }
        }
    }

    /// One finding for each planned cell: one that is missing does not pass unseen.
    fn of_cells(&self, run: &RunResult, number: Option<u32>, quantity: Quantity) -> Vec<ThresholdFinding> {
        let mut findings = Vec::new();
        for (variant, level) in self.planned(run) {
            let name = variant.name.as_str();
            let is_own = |other: &str, at: u64| other == name && at == level;
            let found = run.cells.iter().find(|cell| is_own(&cell.variant, cell.level)).map(|cell| quantity.of(cell));
            let nothing = |reason: String| self.nothing(number, Some(name), Some(level), reason);
            findings.push(match found {
                None => nothing(unmeasured(run, name, level)),
                Some(None) => nothing(missing(quantity).to_owned()),
                Some(Some(found)) => {
                    let finding = self.held(number, name, level, found);
                    let refusal = run.validity.iter().find(|doubt| {
                        is_own(&doubt.variant, doubt.level)
                            && doubt.verdict == Verdict::Refused
                            && (quantity.is_at_rate() || !rules::is_at_rate(&doubt.rule))
                    });
                    without_refused(finding, refusal, quantity)
                }
            });
        }
        findings
    }

    /// One finding for each toll that was planned, by the same rule.
    fn of_tolls(&self, run: &RunResult, number: Option<u32>, figure: Figure) -> Vec<ThresholdFinding> {
        let with_baseline = self.planned(run).filter(|(variant, _)| variant.baseline.is_some());
        let of = |(variant, level): (&Variant, u64)| {
            let is_own = |toll: &&Toll| toll.figure == figure && toll.variant == variant.name && toll.level == level;
            match run.tolls.iter().find(is_own) {
                Some(toll) => self.of_toll(toll, number),
                None => self.nothing(number, Some(&variant.name), Some(level), unmeasured(run, &variant.name, level)),
            }
        };
        with_baseline.map(of).collect()
    }

    /// The planned cells that it selects; where a variant is not what its name says there is none.
    fn planned<'r>(&self, run: &'r RunResult) -> impl Iterator<Item = (&'r Variant, u64)> {
        let experiment = &run.experiment;
        let all =
            experiment.levels.iter().flat_map(|level| experiment.variants.iter().map(|variant| (variant, *level)));
        all.filter(|(variant, level)| variant.is_whole_at(*level) && self.selects(&variant.name, *level))
    }

    fn of_toll(&self, toll: &Toll, number: Option<u32>) -> ThresholdFinding {
        let (name, level) = (toll.variant.as_str(), toll.level);
        let note = || toll.note.clone().unwrap_or_default();
        match toll.verdict {
            TollVerdict::Refused => self.nothing(number, Some(name), Some(level), format!("refused: {}", note())),
            TollVerdict::Joint => self.nothing(number, Some(name), Some(level), format!("joint: {}", note())),
            _ => self.held(number, name, level, ratio(toll.ratio, toll.low, toll.high, toll.blocks)),
        }
    }

    /// One finding for each cell, or toll, that the first run planned, in each further run; then what only later runs have.
    fn of_ratios(&self, beside: &[Beside], figure: Figure, runs: &[&RunResult]) -> Vec<ThresholdFinding> {
        let Some((first, further)) = runs.split_first() else { return Vec::new() };
        let rows: Vec<&Beside> =
            beside.iter().filter(|row| row.figure == figure && self.selects(&row.variant, row.level)).collect();
        let mut findings = Vec::new();
        let mut planned: Vec<(&str, String)> = Vec::new();
        for (variant, level) in self.planned(first) {
            if matches!(self.asked, Asked::TollRatio(_)) && variant.baseline.is_none() {
                continue;
            }
            let title = first.experiment.level_title(level);
            let row = rows.iter().find(|row| row.variant == variant.name && row.level_title == title);
            for (number, run) in (2..).zip(further) {
                let found = row.and_then(|row| row.ratios.iter().find(|found| found.run == number));
                findings.push(match found {
                    Some(found) => self.of_ratio(found, &variant.name, level),
                    None => {
                        let reason = without_ratio(first, run, number, variant, level);
                        self.nothing(Some(number), Some(&variant.name), Some(level), reason)
                    }
                });
            }
            planned.push((&variant.name, title));
        }
        let is_planned =
            |row: &Beside| planned.iter().any(|(name, title)| (*name, title) == (&row.variant, &row.level_title));
        for row in rows.iter().filter(|row| !is_planned(row)) {
            findings.extend(row.ratios.iter().map(|found| self.of_ratio(found, &row.variant, row.level)));
        }
        findings
    }

    fn of_ratio(&self, found: &RatioOf, variant: &str, level: u64) -> ThresholdFinding {
        let number = Some(found.run);
        let note = || found.note.clone().unwrap_or_default();
        match found.verdict {
            TollVerdict::Refused => self.nothing(number, Some(variant), Some(level), format!("refused: {}", note())),
            TollVerdict::Joint => self.nothing(number, Some(variant), Some(level), format!("joint: {}", note())),
            _ => self.held(number, variant, level, ratio(found.ratio, found.low, found.high, found.blocks)),
        }
    }

    fn selects(&self, variant: &str, level: u64) -> bool {
        self.selection.variant.as_deref().is_none_or(|wanted| wanted == variant)
            && self.selection.level.is_none_or(|wanted| wanted == level)
    }

    /// A figure held against the bound.
    fn held(&self, run: Option<u32>, variant: &str, level: u64, found: Found) -> ThresholdFinding {
        let (low, high) = found.interval.unwrap_or((found.value, found.value));
        let (mut outcome, decided) = decide(self.comparison, (low, high), self.bound);
        let mut reason =
            (outcome == Outcome::NotShown).then(|| "the bound is inside the interval: take more blocks".to_owned());
        // Of what has an interval, one block says nothing of it.
        if found.interval.is_none() && found.blocks == 1 {
            outcome = Outcome::NotShown;
            reason = Some("one block has no interval: take more".to_owned());
        }
        ThresholdFinding {
            run,
            variant: Some(variant.to_owned()),
            level: Some(level),
            value: Some(found.value),
            low: found.interval.map(|interval| interval.0),
            high: found.interval.map(|interval| interval.1),
            decided: Some(decided),
            bound: self.bound,
            unit: self.unit().to_owned(),
            outcome,
            reason,
        }
    }

    /// No figure of a whole run, where the selection says which one it was to be.
    fn nothing_in(&self, run: u32, reason: String) -> ThresholdFinding {
        self.nothing(Some(run), self.selection.variant.as_deref(), self.selection.level, reason)
    }

    /// No figure that may be read.
    fn nothing(&self, run: Option<u32>, variant: Option<&str>, level: Option<u64>, reason: String) -> ThresholdFinding {
        ThresholdFinding {
            run,
            variant: variant.map(str::to_owned),
            level,
            value: None,
            low: None,
            high: None,
            decided: None,
            bound: self.bound,
            unit: self.unit().to_owned(),
            outcome: Outcome::NotShown,
            reason: Some(reason),
        }
    }

    fn unit(&self) -> &'static str {
        match self.asked {
            Asked::Of(quantity) => quantity.unit(),
            Asked::Toll(_) | Asked::Ratio(_) | Asked::TollRatio(_) => "",
        }
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

fn ratio(value: f64, low: f64, high: f64, blocks: u32) -> Found {
    Found { value, interval: Some((low, high)), blocks }
}

/// A figure of a refused cell does not hold, and does not fail either: it says nothing. Only failures that are counted may
/// be what the cell is refused for.
fn without_refused(finding: ThresholdFinding, refusal: Option<&Validity>, quantity: Quantity) -> ThresholdFinding {
    let Some(refusal) = refusal else { return finding };
    let reason = Some(format!("refused: {}", refusal.reason));
    match finding.outcome {
        Outcome::Fails if quantity.is_of_errors() => finding,
        _ if quantity.is_of_errors() => ThresholdFinding { outcome: Outcome::NotShown, reason, ..finding },
        _ => {
            let nothing = ThresholdFinding { value: None, low: None, high: None, decided: None, ..finding };
            ThresholdFinding { outcome: Outcome::NotShown, reason, ..nothing }
        }
    }
}

/// Why a cell has no figures.
fn unmeasured(run: &RunResult, variant: &str, level: u64) -> String {
    let gap = run.gaps.iter().find(|gap| gap.variant == variant && gap.level == level);
    gap.map_or_else(|| "it was not measured".to_owned(), |gap| gap.reason.clone())
}

/// Why the first run and a further one have no ratio of a cell.
fn without_ratio(first: &RunResult, run: &RunResult, number: u32, variant: &Variant, level: u64) -> String {
    let experiment = &run.experiment;
    // The number of a level that has a name may mean another one in another run.
    let title = first.experiment.level_title(level);
    let own_level = experiment.levels.iter().copied().find(|level| experiment.level_title(*level) == title);
    let has =
        |run: &RunResult, level: u64| run.cells.iter().any(|cell| cell.variant == variant.name && cell.level == level);
    match own_level.filter(|_| experiment.variants.iter().any(|known| known.name == variant.name)) {
        None => format!("run {number} does not have it"),
        Some(_) if !has(first, level) => format!("run 1: {}", unmeasured(first, &variant.name, level)),
        Some(level) => format!("run {number}: {}", unmeasured(run, &variant.name, level)),
    }
}

/// Why a cell does not hold a quantity.
fn missing(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Cpu | Quantity::Memory => "the subject's process was not watched",
        Quantity::P50 | Quantity::P90 | Quantity::P95 | Quantity::P99 | Quantity::P999 => {
            "fewer than 30 requests were slower: take more blocks"
        }
        Quantity::P50AtRate | Quantity::P95AtRate | Quantity::P99AtRate => {
            "it was not measured at equal rate, or by too few requests"
        }
        Quantity::RecordsPerSecond => "nothing was inserted",
        _ => "nothing was measured",
    }
}
