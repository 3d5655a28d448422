//! Ratios of runs: Welch's interval on the logarithms of block means, Holm over the family, and the words of tolls.
//!
//! It deliberately takes no pair of blocks for a pair: those of two runs were measured at different times.

use super::{Beside, Lone, RatioOf, TimesBeside, TimesOf, ValueOf, offered};
use crate::results::{Cell, EqualRate, Estimate, Figure, RunResult, TollVerdict, Validity, Verdict};
use crate::stats::{holm, welch};
use crate::toll::{self, FIGURES, Left};

/// A cell by what it is called, and the level by which each run knows it; absent where a run does not have it.
pub(super) struct Place {
    variant: String,
    title: String,
    levels: Vec<Option<u64>>,
}

/// All cells of all runs, in the order of the first run, then of those that the later ones add.
///
/// A level that has a name is known by it: its number may mean another way of encrypting in another run.
pub(super) fn places(runs: &[&RunResult]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let mut cells: Vec<&Cell> = run.cells.iter().collect();
        let position = |cell: &Cell| {
            let level = run.experiment.levels.iter().position(|level| *level == cell.level);
            (level, run.experiment.variants.iter().position(|variant| variant.name == cell.variant))
        };
        cells.sort_by_key(|cell| position(cell));
        for cell in cells {
            let title = run.experiment.level_title(cell.level);
            let known = places.iter_mut().find(|place| place.variant == cell.variant && place.title == title);
            match known {
                Some(place) => place.levels[index] = Some(cell.level),
                None => {
                    let mut levels = vec![None; runs.len()];
                    levels[index] = Some(cell.level);
                    places.push(Place { variant: cell.variant.clone(), title, levels });
                }
            }
        }
    }
    places
}

impl Place {
    /// One of its figures in each run that has it.
    fn held_by<'r>(&'r self, runs: &[&'r RunResult], figure: Figure) -> Vec<FigureAt<'r>> {
        let each = (1..).zip(runs).zip(&self.levels);
        let at = |((number, run), level): ((u32, &&'r RunResult), &Option<u64>)| {
            Some(FigureAt { number, run, variant: &self.variant, level: (*level)?, figure })
        };
        each.filter_map(at).collect()
    }
}

/// One figure of one cell in one run.
#[derive(Clone, Copy)]
struct FigureAt<'r> {
    number: u32,
    run: &'r RunResult,
    variant: &'r str,
    level: u64,
    figure: Figure,
}

/// What one run found, and what else its ratio is made of.
struct InRun<'r> {
    at: FigureAt<'r>,
    /// Of a toll.
    baseline: Option<&'r str>,
    value: ValueOf,
    /// Logarithms of the means of its blocks.
    logs: Vec<f64>,
    refused: Option<String>,
    joint: Option<String>,
}

/// Figures of cells.
pub(super) fn cells(runs: &[&RunResult], places: &[Place]) -> Vec<Beside> {
    rows(runs, places, |held| held.iter().filter_map(|at| at.of_cell()).collect())
}

/// Tolls, as each run has them.
pub(super) fn tolls(runs: &[&RunResult], places: &[Place]) -> Vec<Beside> {
    rows(runs, places, |held| {
        let mut found: Vec<InRun<'_>> = held.iter().filter_map(|at| at.of_toll()).collect();
        // Over another baseline it is another toll.
        let baseline = found.first().and_then(|first| first.baseline);
        found.retain(|found| found.baseline == baseline);
        found
    })
}

/// The rows in which at least two runs found something, with their ratios judged as one family of claims.
fn rows<'r>(
    runs: &[&'r RunResult],
    places: &'r [Place],
    found: impl Fn(&[FigureAt<'r>]) -> Vec<InRun<'r>>,
) -> Vec<Beside> {
    let of = |place: &'r Place, figure: Figure| {
        let found = found(&place.held_by(runs, figure));
        let (first, further) = found.split_first().filter(|(_, further)| !further.is_empty())?;
        // Nothing is divided by the first run where that does not have it.
        let divided = further.iter().filter(|_| first.at.number == 1);
        Some(Beside {
            variant: place.variant.clone(),
            baseline: first.baseline.map(str::to_owned),
            level: first.at.level,
            level_title: place.title.clone(),
            figure,
            unit: if first.baseline.is_some() { "" } else { figure.unit() }.to_owned(),
            ratios: divided.map(|found| ratio(found, first)).collect(),
            values: found.into_iter().map(|found| found.value).collect(),
        })
    };
    let mut rows: Vec<Beside> =
        places.iter().flat_map(|place| FIGURES.into_iter().filter_map(|figure| of(place, figure))).collect();
    judge(&mut rows);
    rows
}

/// Response times and throughput of the cells that at least two runs have.
pub(super) fn times(runs: &[&RunResult], places: &[Place]) -> Vec<TimesBeside> {
    let in_run = |at: &FigureAt<'_>| {
        let cell = at.run.cell(at.variant, at.level)?;
        let times = cell.response_time_ms;
        Some(TimesOf {
            run: at.number,
            standing: at.concerning().map(|doubt| doubt.verdict).max().unwrap_or(Verdict::Ok),
            requests_per_second: cell.requests_per_second.mean,
            p50_ms: times.p50,
            p95_ms: times.p95,
            p99_ms: times.p99,
        })
    };
    let of = |place: &Place| {
        let held = place.held_by(runs, Figure::UnitTime);
        let (variant, level_title) = (place.variant.clone(), place.title.clone());
        let level = held.first().map_or(0, |first| first.level);
        TimesBeside { variant, level, level_title, values: held.iter().filter_map(in_run).collect() }
    };
    places.iter().map(of).filter(|row| row.values.len() > 1).collect()
}

/// Cells that only one run has.
pub(super) fn lone(runs: &[&RunResult], places: &[Place]) -> Vec<Lone> {
    let of = |place: &Place| match place.held_by(runs, Figure::UnitTime)[..] {
        [at] => Some(Lone { run: at.number, variant: place.variant.clone(), level_title: place.title.clone() }),
        _ => None,
    };
    places.iter().filter_map(of).collect()
}

/// One run by the first one: refused or joint already, or with a probability of its own.
fn ratio(found: &InRun<'_>, first: &InRun<'_>) -> RatioOf {
    let of_either = |of: for<'r> fn(&'r InRun<'_>) -> &'r Option<String>| {
        [first, found].into_iter().find_map(|found| Some(format!("run {}: {}", found.value.run, of(found).as_ref()?)))
    };
    let apart = || offered::apart((first.value.run, first.at.offered()?), (found.value.run, found.at.offered()?));
    let (settings, of_first) = (&found.at.run.settings, &first.at.run.settings);
    // Looking often if either did, as what one of them stopped at is in the ratio of both.
    let looking = settings.looking().max(of_first.looking());
    let refused = |note: String| RatioOf {
        run: found.value.run,
        confidence_share: 1.0 - looking.alpha(),
        equivalence_share: settings.equivalence_share.min(of_first.equivalence_share),
        p_adjusted: 1.0,
        note: Some(note),
        ..RatioOf::default()
    };
    if let Some(reason) = of_either(|found| &found.refused).or_else(apart) {
        return refused(reason);
    }
    let Some(interval) = welch::difference(&found.logs, &first.logs, looking.alpha()) else {
        let counts = format!("{} and {}", first.logs.len(), found.logs.len());
        return refused(format!("no interval from {counts} complete blocks: take more"));
    };
    let joint = of_either(|found| &found.joint);
    let (verdict, p_adjusted) = match joint {
        Some(_) => (TollVerdict::Joint, 1.0),
        None => (TollVerdict::Unclear, looking.probability(interval.p)),
    };
    RatioOf {
        ratio: interval.mean.exp(),
        low: interval.low.exp(),
        high: interval.high.exp(),
        blocks: u32::try_from(interval.n).unwrap_or(u32::MAX),
        p_adjusted,
        verdict,
        note: joint,
        ..refused(String::new())
    }
}

/// Judges the ratios of which something is claimed, with p adjusted over all of them.
fn judge(rows: &mut [Beside]) {
    let ratios = rows.iter_mut().flat_map(|row| &mut row.ratios);
    let claims: Vec<&mut RatioOf> = ratios.filter(|ratio| ratio.verdict == TollVerdict::Unclear).collect();
    let adjusted = holm::adjust(&claims.iter().map(|claim| claim.p_adjusted).collect::<Vec<f64>>());
    for (claim, p) in claims.into_iter().zip(adjusted) {
        claim.p_adjusted = p;
        claim.verdict = TollVerdict::of(claim.ratio, (claim.low, claim.high), p, claim.equivalence_share);
    }
}

impl<'r> FigureAt<'r> {
    /// What is doubted of it.
    fn concerning(self) -> impl Iterator<Item = &'r Validity> {
        let FigureAt { run, variant, level, figure, .. } = self;
        run.findings(variant, level).filter(move |doubt| figure.left_by(doubt) != Left::Whole)
    }

    /// What was offered for it; nothing for figures of users who wait.
    fn offered(self) -> Option<&'r EqualRate> {
        self.run.cell(self.variant, self.level)?.equal_rate.as_ref().filter(|_| self.figure.is_at_rate())
    }

    fn of_cell(self) -> Option<InRun<'r>> {
        let found = self.figure.of_cell(self.run.cell(self.variant, self.level)?)?;
        let logs = toll::block_logs(self.run, self.variant, self.level, self.figure);
        let concerned: Vec<&Validity> = self.concerning().collect();
        let left = |left: Left| Some(concerned.iter().find(|doubt| self.figure.left_by(doubt) == left)?.reason.clone());
        let is_zero = || logs.iter().any(|log| !log.is_finite());
        let refused = left(Left::Refused)
            .or_else(|| is_zero().then(|| "a block is zero: a ratio to zero says nothing".to_owned()));
        let joint = left(Left::Joint)
            .map(|why| format!("{why}; the time is generator's and subject's together: read the CPU time"));
        let doubts = concerned.iter().map(|doubt| format!("{}: {}", doubt.rule, doubt.reason)).collect();
        let value = self.value(found, doubts, refused.is_some());
        Some(InRun { at: self, baseline: None, value, logs, refused, joint })
    }

    fn of_toll(self) -> Option<InRun<'r>> {
        let toll = self.run.toll(self.variant, self.level, self.figure)?;
        let mut doubts = toll.doubts(&self.run.validity);
        let because = |verdict| (toll.verdict == verdict).then(|| toll.note.clone().unwrap_or_default());
        let [refused, joint] = [TollVerdict::Refused, TollVerdict::Joint].map(because);
        let is_told =
            |note: &str| doubts.iter().filter_map(|doubt| doubt.split_once(": ")).any(|(_, told)| note.contains(told));
        let is_barred = refused.is_some() || joint.is_some();
        let note = toll.note.as_ref().filter(|note| is_barred && !is_told(note));
        // Such as two systems, or one block: no rule of a cell says it.
        doubts.extend(note.map(|note| format!("toll: {note}")));
        let value = self.value(toll.estimate(), doubts, refused.is_some());
        let logs = toll::block_log_ratios(self.run, toll);
        Some(InRun { at: self, baseline: Some(&toll.baseline), value, logs, refused, joint })
    }

    fn value(self, found: Estimate, doubts: Vec<String>, is_refused: bool) -> ValueOf {
        ValueOf {
            run: self.number,
            value: if is_refused { 0.0 } else { found.mean },
            interval: found.interval().filter(|_| !is_refused),
            standing: match (is_refused, doubts.is_empty()) {
                (true, _) => Verdict::Refused,
                (false, true) => Verdict::Ok,
                (false, false) => Verdict::Marked,
            },
            doubts,
            rate_per_second: self.offered().map(|rate| rate.rate_per_second),
        }
    }
}
