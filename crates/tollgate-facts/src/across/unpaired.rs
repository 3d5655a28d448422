//! Ratios of runs: Welch's interval on the logarithms of block means, Holm over the family, and the words of tolls.
//!
//! It deliberately takes no pair of blocks for a pair: those of two runs were measured at different times.

use super::offered::Offered;
use super::{Beside, Lone, RatioOf, TimesBeside, TimesOf, ValueOf};
use crate::quantity::Quantity;
use crate::results::{Cell, Figure, RunResult, Toll, TollVerdict, Validity, Verdict};
use crate::stats::sequential::Looking;
use crate::stats::{ALPHA, Interval, holm, welch};
use crate::toll::{self, FIGURES, Findings, Left};

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
    /// The runs that have it, with the level by which each knows it.
    fn held_by<'r>(&self, runs: &[&'r RunResult]) -> Vec<(u32, &'r RunResult, u64)> {
        let each = (1..).zip(runs).zip(&self.levels);
        each.filter_map(|((number, run), level)| Some((number, *run, (*level)?))).collect()
    }

    fn row(&self, figure: Figure, unit: &str, level: u64) -> Beside {
        Beside {
            variant: self.variant.clone(),
            baseline: None,
            level,
            level_title: self.title.clone(),
            figure,
            unit: unit.to_owned(),
            values: Vec::new(),
            ratios: Vec::new(),
        }
    }
}

/// Figures of cells.
pub(super) fn cells(runs: &[&RunResult], places: &[Place]) -> Vec<Beside> {
    let mut rows = Vec::new();
    let mut family = Family::default();
    for place in places {
        let held = place.held_by(runs);
        for figure in FIGURES {
            let mut row = place.row(figure, figure.unit(), held.first().map_or(0, |first| first.2));
            let mut logs: Vec<Logs> = Vec::new();
            for (number, run, level) in &held {
                let Some(value) = value_of(run, &place.variant, *level, figure, *number) else { continue };
                logs.push(Logs {
                    run: *number,
                    values: toll::block_logs(run, &place.variant, *level, figure),
                    refused: refusal(run, &place.variant, *level, figure),
                    joint: joint(run, &place.variant, *level, figure),
                    offered: Offered::of(run, &place.variant, *level, figure),
                    strictness: Strictness::of(run),
                });
                row.values.push(value);
            }
            if row.values.len() > 1 {
                family.add(rows.len(), &logs);
                rows.push(row);
            }
        }
    }
    family.judge(&mut rows);
    rows
}

/// Tolls, as each run has them.
pub(super) fn tolls(runs: &[&RunResult], places: &[Place]) -> Vec<Beside> {
    let mut rows = Vec::new();
    let mut family = Family::default();
    for place in places {
        let held = place.held_by(runs);
        for figure in FIGURES {
            let find = |run: &RunResult, level: u64| {
                let is_own =
                    |toll: &&Toll| toll.variant == place.variant && toll.level == level && toll.figure == figure;
                run.tolls.iter().find(is_own).cloned()
            };
            let found: Vec<(u32, &RunResult, Toll)> =
                held.iter().filter_map(|(number, run, level)| Some((*number, *run, find(run, *level)?))).collect();
            let Some((_, _, first)) = found.first() else { continue };
            // Over another baseline it is another toll.
            let found: Vec<_> = found.iter().filter(|(_, _, toll)| toll.baseline == first.baseline).collect();
            if found.len() < 2 {
                continue;
            }
            let mut row = Beside { baseline: Some(first.baseline.clone()), ..place.row(figure, "", first.level) };
            let mut logs = Vec::new();
            for (number, run, toll) in found {
                row.values.push(value_of_toll(run, toll, *number));
                let because = |verdict| (toll.verdict == verdict).then(|| toll.note.clone().unwrap_or_default());
                logs.push(Logs {
                    run: *number,
                    values: toll::block_log_ratios(run, toll),
                    refused: because(TollVerdict::Refused),
                    joint: because(TollVerdict::Joint),
                    offered: Offered::of(run, &toll.variant, toll.level, figure),
                    strictness: Strictness::of(run),
                });
            }
            family.add(rows.len(), &logs);
            rows.push(row);
        }
    }
    family.judge(&mut rows);
    rows
}

/// Response times and throughput of the cells that at least two runs have.
pub(super) fn times(runs: &[&RunResult], places: &[Place]) -> Vec<TimesBeside> {
    let of = |place: &Place| {
        let held = place.held_by(runs);
        let values = held.iter().filter_map(|(number, run, level)| {
            let cell = cell(run, &place.variant, *level)?;
            let verdicts = concerning(run, &place.variant, *level, Figure::UnitTime).map(|doubt| doubt.verdict);
            let times = cell.response_time_ms;
            Some(TimesOf {
                run: *number,
                standing: worst(verdicts),
                requests_per_second: cell.requests_per_second.mean,
                p50_ms: times.p50,
                p95_ms: times.p95,
                p99_ms: times.p99,
            })
        });
        let (variant, level_title) = (place.variant.clone(), place.title.clone());
        TimesBeside { variant, level: held.first().map_or(0, |first| first.2), level_title, values: values.collect() }
    };
    places.iter().map(of).filter(|row| row.values.len() > 1).collect()
}

/// Cells that only one run has.
pub(super) fn lone(runs: &[&RunResult], places: &[Place]) -> Vec<Lone> {
    let of = |place: &Place| match place.held_by(runs)[..] {
        [(run, ..)] => Some(Lone { run, variant: place.variant.clone(), level_title: place.title.clone() }),
        _ => None,
    };
    places.iter().filter_map(of).collect()
}

/// One run's logarithms of block means.
struct Logs {
    run: u32,
    values: Vec<f64>,
    refused: Option<String>,
    joint: Option<String>,
    /// What its requests came at, of a figure at equal rate.
    offered: Option<Offered>,
    strictness: Strictness,
}

/// How hard a run makes its claims.
#[derive(Debug, Clone, Copy)]
struct Strictness {
    /// Half the width of its band of "no toll", as a share.
    equivalence_share: f64,
    looking: Looking,
}

impl Strictness {
    fn of(run: &RunResult) -> Strictness {
        let Findings { equivalence_share, looking, .. } = Findings::of(run);
        Strictness { equivalence_share, looking }
    }

    /// That of two runs together: the narrower band, and looking often if either did, as what one of them stopped at is
    /// in the ratio of both.
    fn with(self, other: Strictness) -> Strictness {
        let looking = match (self.looking, other.looking) {
            (Looking::Once, Looking::Once) => Looking::Once,
            (Looking::Often, _) | (_, Looking::Often) => Looking::Often,
        };
        Strictness { equivalence_share: self.equivalence_share.min(other.equivalence_share), looking }
    }
}

/// Claims that are adjusted together.
#[derive(Default)]
struct Family {
    claims: Vec<Claim>,
}

/// One ratio before it is judged.
struct Claim {
    row: usize,
    run: u32,
    strictness: Strictness,
    kind: Kind,
}

enum Kind {
    Refused(String),
    Joint(Interval, String),
    Plain(Interval),
}

impl Family {
    /// Each further run by the first one; nothing where the first one does not have it.
    fn add(&mut self, row: usize, logs: &[Logs]) {
        let Some((first, further)) = logs.split_first().filter(|(first, _)| first.run == 1) else { return };
        for logs in further {
            let of_either = |of: fn(&Logs) -> &Option<String>| {
                [first, logs].into_iter().find_map(|logs| Some(format!("run {}: {}", logs.run, of(logs).as_ref()?)))
            };
            let both = first.offered.zip(logs.offered);
            let apart = || both.and_then(|(one, other)| Offered::apart((first.run, one), (logs.run, other)));
            let strictness = first.strictness.with(logs.strictness);
            let looking = strictness.looking;
            let interval = welch::difference(&logs.values, &first.values, looking.alpha());
            let interval = interval.map(|found| Interval { p: looking.probability(found.p), ..found });
            let kind = match (of_either(|logs| &logs.refused).or_else(apart), interval, of_either(|logs| &logs.joint)) {
                (Some(reason), ..) => Kind::Refused(reason),
                (None, None, _) => {
                    let counts = format!("{} and {}", first.values.len(), logs.values.len());
                    Kind::Refused(format!("no interval from {counts} complete blocks: take more"))
                }
                (None, Some(interval), Some(reason)) => Kind::Joint(interval, reason),
                (None, Some(interval), None) => Kind::Plain(interval),
            };
            self.claims.push(Claim { row, run: logs.run, strictness, kind });
        }
    }

    /// Writes the ratios into their rows, with p adjusted over all of which something is claimed.
    fn judge(self, rows: &mut [Beside]) {
        let p = |claim: &Claim| match &claim.kind {
            Kind::Plain(interval) => Some(interval.p),
            Kind::Refused(_) | Kind::Joint(..) => None,
        };
        let family: Vec<f64> = self.claims.iter().filter_map(p).collect();
        let mut adjusted = holm::adjust(&family).into_iter();
        for claim in self.claims {
            let found = match &claim.kind {
                Kind::Plain(interval) => claim.plain(interval, adjusted.next().unwrap_or(1.0)),
                Kind::Joint(interval, note) => {
                    RatioOf { verdict: TollVerdict::Joint, note: Some(note.clone()), ..claim.plain(interval, 1.0) }
                }
                Kind::Refused(note) => claim.refused(note),
            };
            rows[claim.row].ratios.push(found);
        }
    }
}

impl Claim {
    fn plain(&self, interval: &Interval, p_adjusted: f64) -> RatioOf {
        let (ratio, low, high) = (interval.mean.exp(), interval.low.exp(), interval.high.exp());
        let band = self.strictness.equivalence_share;
        let is_inside = low >= 1.0 - band && high <= 1.0 + band;
        let verdict = match (is_inside, p_adjusted < ALPHA, ratio > 1.0) {
            (true, ..) => TollVerdict::NoToll,
            (false, true, true) => TollVerdict::Dearer,
            (false, true, false) => TollVerdict::Cheaper,
            (false, false, _) => TollVerdict::Unclear,
        };
        let blocks = u32::try_from(interval.n).unwrap_or(u32::MAX);
        RatioOf { ratio, low, high, blocks, p_adjusted, verdict, note: None, ..self.refused("") }
    }

    fn refused(&self, note: &str) -> RatioOf {
        RatioOf {
            run: self.run,
            ratio: 0.0,
            low: 0.0,
            high: 0.0,
            confidence_share: 1.0 - self.strictness.looking.alpha(),
            equivalence_share: self.strictness.equivalence_share,
            blocks: 0,
            p_adjusted: 1.0,
            verdict: TollVerdict::Refused,
            note: Some(note.to_owned()),
        }
    }
}

fn cell<'r>(run: &'r RunResult, variant: &str, level: u64) -> Option<&'r Cell> {
    run.cells.iter().find(|cell| cell.variant == variant && cell.level == level)
}

/// What is doubted of one figure of a cell.
fn concerning<'r>(run: &'r RunResult, variant: &str, level: u64, figure: Figure) -> impl Iterator<Item = &'r Validity> {
    let is_own = move |doubt: &&Validity| doubt.variant == variant && doubt.level == level;
    run.validity.iter().filter(is_own).filter(move |doubt| figure.left_by(doubt) != Left::Whole)
}

/// The worst of what was found; without findings all is well.
fn worst(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.fold(Verdict::Ok, |worst, verdict| match (worst, verdict) {
        (Verdict::Refused, _) | (_, Verdict::Refused) => Verdict::Refused,
        (Verdict::Marked, _) | (_, Verdict::Marked) => Verdict::Marked,
        (Verdict::Ok, Verdict::Ok) => Verdict::Ok,
    })
}

/// Why a figure must not be read.
fn refusal(run: &RunResult, variant: &str, level: u64, figure: Figure) -> Option<String> {
    let doubted = concerning(run, variant, level, figure).find(|doubt| figure.left_by(doubt) == Left::Refused);
    let nothing = "a block is zero: a ratio to zero says nothing";
    let is_zero = || toll::block_logs(run, variant, level, figure).iter().any(|log| !log.is_finite());
    doubted.map(|doubt| doubt.reason.clone()).or_else(|| is_zero().then(|| nothing.to_owned()))
}

/// Why a time is not the subject's own.
fn joint(run: &RunResult, variant: &str, level: u64, figure: Figure) -> Option<String> {
    let doubt = concerning(run, variant, level, figure).find(|doubt| figure.left_by(doubt) == Left::Joint)?;
    Some(format!("{}; the time is generator's and subject's together: read the CPU time", doubt.reason))
}

fn value_of(run: &RunResult, variant: &str, level: u64, figure: Figure, number: u32) -> Option<ValueOf> {
    let found = Quantity::from(figure).of(cell(run, variant, level)?)?;
    let concerned: Vec<&Validity> = concerning(run, variant, level, figure).collect();
    let is_refused = refusal(run, variant, level, figure).is_some();
    let standing = match concerned.is_empty() {
        _ if is_refused => Verdict::Refused,
        true => Verdict::Ok,
        false => Verdict::Marked,
    };
    Some(ValueOf {
        run: number,
        value: if is_refused { 0.0 } else { found.value },
        interval: found.interval.filter(|_| !is_refused),
        standing,
        doubts: concerned.iter().map(|doubt| format!("{}: {}", doubt.rule, doubt.reason)).collect(),
        rate_per_second: Offered::of(run, variant, level, figure).map(|offered| offered.rate_per_second),
    })
}

fn value_of_toll(run: &RunResult, toll: &Toll, number: u32) -> ValueOf {
    let mut doubts = toll.doubts(&run.validity);
    let note = toll.note.as_deref().filter(|_| matches!(toll.verdict, TollVerdict::Refused | TollVerdict::Joint));
    let is_told =
        |note: &str| doubts.iter().filter_map(|doubt| doubt.split_once(": ")).any(|(_, reason)| note.contains(reason));
    // Such as two systems, or one block: no rule of a cell says it.
    doubts.extend(note.filter(|note| !is_told(note)).map(|note| format!("toll: {note}")));
    let standing = match (toll.verdict, doubts.is_empty()) {
        (TollVerdict::Refused, _) => Verdict::Refused,
        (_, false) => Verdict::Marked,
        (_, true) => Verdict::Ok,
    };
    let offered = Offered::of(run, &toll.variant, toll.level, toll.figure);
    ValueOf {
        run: number,
        value: toll.ratio,
        interval: (standing != Verdict::Refused).then_some((toll.low, toll.high)),
        standing,
        doubts,
        rate_per_second: offered.map(|offered| offered.rate_per_second),
    }
}
