//! A run in the order of every report: rows by level and variant, each with its tolls and the numbers of the doubts
//! that concern it.
//!
//! It borrows from the result and formats nothing.

use crate::blocks::{self, Tone};
use crate::gather::by_key;
use crate::number;
use tollgate_facts::results::{
    Cell, Comparison, Distance, EqualRate, Estimate, Figure, PercentileIntervals, Percentiles, Piece, Rank, RunResult,
    Toll, Validity, Variant, Verdict, is_delayed,
};
use tollgate_facts::rules::{self, OWN_DELAY};

/// A run, ordered for reading.
pub struct View<'r> {
    /// The result.
    pub run: &'r RunResult,
    /// Its cells by level and variant.
    pub rows: Vec<Row<'r>>,
    /// Marks of all cells, or of all cells of some levels: they are stated once and appear in no row.
    pub shared: Vec<Shared<'r>>,
    /// Further findings of its rules; the first has the number 1.
    pub doubts: Vec<Doubt<'r>>,
}

/// A mark of all cells, or of all cells of these levels.
pub struct Shared<'r> {
    /// The doubt.
    pub doubt: Doubt<'r>,
    /// The levels; empty for all of them.
    pub levels: Vec<u64>,
}

/// One variant at one level.
pub struct Row<'r> {
    /// The cell of the result.
    pub cell: &'r Cell,
    /// Whether the variant has no baseline.
    pub is_bottom: bool,
    /// Its tolls.
    pub tolls: Tolls<'r>,
    /// The costs of a peer divided by tollgate's, for time and for CPU time; absent for tollgate's own variants.
    pub by_tollgate: [Option<&'r Comparison>; 2],
    /// Numbers of the [`Doubt`]s about the cell as a whole, from 1.
    pub marks: Vec<usize>,
    /// Whether the figures of the closed load are refused.
    pub is_closed_refused: bool,
}

/// The tolls of one variant at one level.
#[derive(Clone, Copy, Default)]
pub struct Tolls<'r> {
    /// The toll on the time of a unit of work.
    pub time: Option<&'r Toll>,
    /// The toll on the subject's CPU time.
    pub cpu: Option<&'r Toll>,
    /// The toll on the subject's instructions.
    pub instructions: Option<&'r Toll>,
    /// The toll on the bytes received.
    pub bytes: Option<&'r Toll>,
}

/// The findings of one rule in all cells; a footnote.
pub struct Doubt<'r> {
    /// Name of the rule.
    pub rule: &'r str,
    /// Its verdict.
    pub verdict: Verdict,
    /// The remedy.
    pub remedy: &'r str,
    /// The findings, a cell each.
    pub findings: Vec<&'r Validity>,
}

impl<'r> View<'r> {
    /// A run in order.
    pub fn of(run: &'r RunResult) -> Self {
        let mut cells: Vec<&Cell> = run.cells.iter().collect();
        let place = |cell: &Cell| {
            let level = run.experiment.levels.iter().position(|level| *level == cell.level);
            (level.unwrap_or(usize::MAX), key(run, &cell.variant).unwrap_or(usize::MAX))
        };
        cells.sort_by_key(|cell| place(cell));
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        for doubt in doubts(run, &cells) {
            match doubt.levels(&cells) {
                // Which percentiles it is about differs from cell to cell.
                Some(_) if rules::is_own_delay(doubt.rule) => own.push(doubt),
                Some(levels) => shared.push(Shared { doubt, levels }),
                None => own.push(doubt),
            }
        }
        let row = |cell: &'r Cell| {
            let here = own.iter().zip(1..).filter(|(doubt, _)| doubt.of(cell).is_some());
            let mut refusals = here.clone().filter(|(doubt, _)| doubt.verdict == Verdict::Refused);
            let is_the_cells = |doubt: &Doubt<'_>| doubt.of(cell).is_some_and(|found| is_of_all(run, found));
            Row {
                cell,
                is_bottom: run.experiment.variant(&cell.variant).is_some_and(|variant| variant.baseline.is_none()),
                tolls: tolls(run, &cell.variant, cell.level),
                by_tollgate: by_tollgate(run, &cell.variant, cell.level),
                is_closed_refused: refusals.any(|(doubt, _)| !rules::is_at_rate(doubt.rule)),
                marks: here.filter(|(doubt, _)| is_the_cells(doubt)).map(|(_, number)| number).collect(),
            }
        };
        let rows = cells.into_iter().map(row).collect();
        Self { run, rows, shared, doubts: own }
    }

    /// Whether any request failed anywhere.
    pub fn any_errors(&self) -> bool {
        self.rows.iter().flat_map(|row| failures(row.cell)).next().is_some()
    }
}

/// The classes of a cell's failed requests, including those at equal rate: their number, and the text of the first one.
pub fn failures(cell: &Cell) -> impl Iterator<Item = (&str, (u64, Option<&str>))> {
    let rate = cell.equal_rate.iter().map(|rate| (&rate.errors, &rate.error_examples));
    std::iter::once((&cell.errors, &cell.error_examples)).chain(rate).flat_map(|(errors, examples)| {
        errors.iter().map(|(class, count)| (class.as_str(), (*count, examples.get(class).map(String::as_str))))
    })
}

impl<'r> Doubt<'r> {
    /// Its finding in a cell.
    fn of(&self, cell: &Cell) -> Option<&'r Validity> {
        let is_here = |found: &&&Validity| found.variant == cell.variant && found.level == cell.level;
        self.findings.iter().find(is_here).copied()
    }

    /// The levels at which it marks each of several cells, empty where it marks them all; absent where it marks only
    /// some cells of a level, or refuses.
    fn levels(&self, cells: &[&Cell]) -> Option<Vec<u64>> {
        let is_whole = |level: u64| {
            let mut here = cells.iter().filter(|cell| cell.level == level);
            here.all(|cell| self.of(cell).is_some())
        };
        let mut levels: Vec<u64> = cells.iter().map(|cell| cell.level).collect();
        levels.dedup();
        let is_of_one = |level: u64| cells.iter().filter(|cell| cell.level == level).count() < 2;
        let all = levels.len();
        levels.retain(|level| cells.iter().any(|cell| cell.level == *level && self.of(cell).is_some()));
        let is_of_all = levels.len() == all;
        let is_shared = self.verdict == Verdict::Marked
            && cells.len() > 1
            && levels.iter().all(|level| is_whole(*level))
            && (is_of_all || !levels.iter().any(|level| is_of_one(*level)));
        is_shared.then(|| if is_of_all { Vec::new() } else { levels })
    }
}

impl Row<'_> {
    /// Number of its failed requests.
    pub fn error_count(&self) -> u64 {
        self.cell.errors.values().sum()
    }

    /// The emphasis of its figures of the closed load.
    pub fn tone(&self) -> Tone {
        if self.is_closed_refused { Tone::Refused } else { Tone::Plain }
    }
}

impl<'r> Tolls<'r> {
    /// The tolls in the order in which they are shown.
    pub fn each(self) -> impl Iterator<Item = &'r Toll> + Clone {
        [self.time, self.cpu, self.instructions, self.bytes].into_iter().flatten()
    }
}

/// Index of a variant's colour.
pub fn key(run: &RunResult, name: &str) -> Option<usize> {
    run.experiment.variants.iter().position(|variant| variant.name == name)
}

/// The tolls of `variant` at `level`; none where the level is too low for the variant's mode.
pub fn tolls<'r>(run: &'r RunResult, variant: &str, level: u64) -> Tolls<'r> {
    if !is_whole(run, variant, level) {
        return Tolls::default();
    }
    let find = |figure| run.toll(variant, level, figure);
    Tolls {
        time: find(Figure::UnitTime),
        cpu: find(Figure::SubjectCpu),
        instructions: find(Figure::Instructions),
        bytes: find(Figure::Bytes),
    }
}

fn by_tollgate<'r>(run: &'r RunResult, variant: &str, level: u64) -> [Option<&'r Comparison>; 2] {
    let own = || run.comparisons.iter().filter(|found| found.variant == variant && found.level == level);
    [Figure::UnitTime, Figure::SubjectCpu].map(|figure| own().find(|found| found.figure == figure))
}

/// The percentiles of a load with their intervals and delays.
#[derive(Clone, Copy)]
pub struct Timed {
    times: Percentiles,
    intervals: Option<PercentileIntervals>,
    /// The same without the generator's own delay, with the rule that reports it.
    undelayed: Option<(Percentiles, &'static str)>,
}

impl Timed {
    /// The percentiles of single requests of users who wait.
    pub fn of_requests(cell: &Cell) -> Self {
        let undelayed = cell.undelayed_ms.map(|times| (times, OWN_DELAY.name));
        Self { times: cell.response_time_ms, intervals: cell.response_interval_ms, undelayed }
    }

    /// The percentiles at equal rate.
    pub fn at_rate(rate: &EqualRate) -> Self {
        let undelayed = rate.undelayed_ms.map(|times| (times, OWN_DELAY.name_at_rate()));
        Self { times: rate.response_time_ms, intervals: rate.response_interval_ms, undelayed }
    }

    /// The percentiles beside the time of a unit of work: for a scenario those of whole iterations, for other work
    /// those of single requests.
    pub fn of_units(cell: &Cell) -> Self {
        match &cell.played {
            Some(played) => {
                Self { times: played.iteration_time_ms, intervals: played.iteration_interval_ms, undelayed: None }
            }
            None => Self::of_requests(cell),
        }
    }

    /// A percentile.
    pub fn at(&self, rank: Rank) -> Option<f64> {
        self.times.at(rank)
    }

    /// The ends of its interval; the upper one may be infinite.
    pub fn interval(&self, rank: Rank) -> Option<(f64, f64)> {
        self.intervals?.estimate(rank, self.at(rank)?).interval()
    }

    /// A percentile with its interval, if it has one; `one` formats each number.
    pub fn written(&self, rank: Rank, one: impl Fn(f64) -> String) -> String {
        let Some(time_ms) = self.at(rank) else { return number::NOTHING.to_owned() };
        let spread = self.intervals.map(|all| number::spread(all.estimate(rank, time_ms), &one, &one));
        one(time_ms) + &spread.unwrap_or_default()
    }

    /// The rule of the generator's own delay, where it applies to this percentile.
    fn delayed(&self, rank: Rank) -> Option<&'static str> {
        let (undelayed, rule) = self.undelayed?;
        is_delayed(self.at(rank)?, undelayed.at(rank)?).then_some(rule)
    }

    fn is_mean_delayed(&self) -> bool {
        self.undelayed.is_some_and(|(undelayed, _)| is_delayed(self.times.mean, undelayed.mean))
    }
}

/// Percentiles in tables.
const PRINTED: [Rank; 5] = [Rank::P50, Rank::P90, Rank::P95, Rank::P99, Rank::P999];

/// The percentiles that a finding of the generator's own delay concerns; absent for other findings.
fn delayed(run: &RunResult, found: &Validity) -> Option<Timed> {
    let cell = run.cell(&found.variant, found.level).filter(|_| rules::is_own_delay(&found.rule))?;
    match &cell.equal_rate {
        Some(rate) if rules::is_at_rate(&found.rule) => Some(Timed::at_rate(rate)),
        _ => Some(Timed::of_requests(cell)),
    }
}

/// Whether a finding concerns its whole cell, and not only single percentiles.
pub fn is_of_all(run: &RunResult, found: &Validity) -> bool {
    delayed(run, found).is_none_or(|timed| timed.is_mean_delayed())
}

/// Whether it concerns any printed figure.
fn is_printed(run: &RunResult, found: &Validity) -> bool {
    let is_one = |timed: Timed| PRINTED.iter().any(|rank| timed.delayed(*rank).is_some());
    is_of_all(run, found) || delayed(run, found).is_some_and(is_one)
}

impl View<'_> {
    /// A percentile of a row with its interval and, where it includes the generator's own delay, the number of that
    /// doubt.
    pub fn percentile(&self, row: &Row<'_>, timed: Timed, rank: Rank, one: impl Fn(f64) -> String) -> blocks::Cell {
        let rule = timed.delayed(rank);
        let is_it = |doubt: &Doubt<'_>| rule == Some(doubt.rule) && doubt.of(row.cell).is_some();
        let number = self.doubts.iter().position(is_it).map(|place| place + 1);
        blocks::Cell::marked(timed.written(rank, one), number.into_iter().collect())
    }
}

/// The subject's CPU time for one piece of work: a request, or a record.
pub fn cpu(cell: &Cell) -> Option<Estimate> {
    match cell.inserted {
        Some(inserted) => inserted.subject_cpu_us_per_record,
        None => cell.subject.map(|subject| subject.cpu_us_per_request),
    }
}

/// The subject's instructions for the same.
pub fn instructions(cell: &Cell) -> Option<Estimate> {
    match cell.inserted {
        Some(inserted) => inserted.subject_instructions_per_record,
        None => cell.subject?.instructions_per_request,
    }
}

/// Whether a variant has enough records at a level for its batch or its connections.
pub fn is_whole(run: &RunResult, variant: &str, level: u64) -> bool {
    run.experiment.variant(variant).is_none_or(|known| known.is_whole_at(level))
}

/// The variants of one subject at one distance, which one sentence can describe.
#[derive(Clone, Copy, PartialEq)]
pub struct Group<'r> {
    /// The peer; absent for tollgate itself.
    pub peer: Option<&'r str>,
    /// The distance of the subject.
    pub distance: Distance,
}

impl<'r> Group<'r> {
    /// The group of a variant.
    pub fn of(variant: &'r Variant) -> Self {
        Self { peer: variant.peer.as_deref(), distance: variant.distance }
    }

    /// The level that represents it: where most variants have a plain toll on time, else on CPU; of those the highest.
    /// For inserts, where two thirds of that number have.
    pub fn answer_level(self, run: &RunResult) -> Option<u64> {
        let is_own =
            |toll: &Toll| run.experiment.variant(&toll.variant).is_some_and(|variant| Group::of(variant) == self);
        let clear = match run.experiment.piece {
            Piece::Request | Piece::Document | Piece::Unit => None,
            // Of inserts the levels differ widely: one at which nothing is clear answers nothing.
            Piece::Record => level_of_most(run, &|toll| toll.verdict.is_clear() && is_own(toll)),
        };
        clear.or_else(|| level_of_most(run, &|toll| toll.verdict.is_plain() && is_own(toll)))
    }
}

/// The level that represents the run.
pub fn answer_level(run: &RunResult) -> Option<u64> {
    level_of_most(run, &|toll| toll.verdict.is_plain())
}

fn level_of_most(run: &RunResult, accepts: &dyn Fn(&Toll) -> bool) -> Option<u64> {
    highest_of_most(run, &|level, figure| {
        let here = run.tolls.iter().filter(|toll| toll.level == level && toll.figure == figure);
        here.filter(|toll| is_whole(run, &toll.variant, level) && accepts(toll)).count()
    })
}

/// The highest level with the most valid times, else CPU times, according to `count`.
pub fn highest_of_most(run: &RunResult, count: &dyn Fn(u64, Figure) -> usize) -> Option<u64> {
    let levels = &run.experiment.levels;
    let best = |figure: Figure| {
        let most = levels.iter().map(|level| count(*level, figure)).max().filter(|most| *most > 0)?;
        // Of inserts, the more records the clearer what each costs: a few variants that do not get that far are let go.
        let enough = match run.experiment.piece {
            Piece::Request | Piece::Document | Piece::Unit => most,
            Piece::Record => (most * 2).div_ceil(3),
        };
        levels.iter().copied().rev().find(|level| count(*level, figure) >= enough)
    };
    best(Figure::UnitTime).or_else(|| best(Figure::SubjectCpu))
}

/// The level whose tolls represent a variant: that of its group, if its time is its own there; else the highest at
/// which it is, else at which its CPU is.
pub fn headline_level(run: &RunResult, variant: &str) -> Option<u64> {
    let answer = run.experiment.variant(variant).and_then(|known| Group::of(known).answer_level(run));
    let levels = || run.experiment.levels.iter().rev().copied();
    let at = |level: &u64| tolls(run, variant, *level);
    let is_plain = |toll: &Toll| toll.verdict.is_plain();
    let by_time = |level: &u64| at(level).time.is_some_and(is_plain);
    let highest = || levels().find(by_time).or_else(|| levels().find(|level| at(level).cpu.is_some_and(is_plain)));
    let any = || levels().find(|level| at(level).each().next().is_some());
    answer.filter(by_time).or_else(highest).or_else(any)
}

/// Doubts by rule, verdict and remedy, in the order of the rows.
fn doubts<'r>(run: &'r RunResult, cells: &[&Cell]) -> Vec<Doubt<'r>> {
    let found = run.validity.iter().filter(|found| found.verdict != Verdict::Ok && is_printed(run, found));
    let by_rule = by_key(found.map(|found| ((found.rule.as_str(), found.verdict, found.remedy.as_str()), found)));
    let doubt = |((rule, verdict, remedy), findings)| Doubt { rule, verdict, remedy, findings };
    let mut doubts: Vec<Doubt<'_>> = by_rule.into_iter().map(doubt).collect();
    let place = |found: &Validity| {
        cells.iter().position(|cell| cell.variant == found.variant && cell.level == found.level).unwrap_or(usize::MAX)
    };
    for doubt in &mut doubts {
        doubt.findings.sort_by_key(|found| place(found));
    }
    doubts.sort_by_key(|doubt| doubt.findings.first().map(|found| place(found)));
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;
    use tollgate_facts::results::Within;

    #[test]
    fn the_percentile_that_is_the_generators_own_has_the_number_of_that_doubt_and_no_other_has() {
        let mut run = fixture::protocol();
        run.validity.clear();
        let cell = &mut run.cells[0];
        let (variant, level) = (cell.variant.clone(), cell.level);
        cell.response_time_ms = Percentiles { p50: Some(1.0), p99: Some(12.3), ..Percentiles::default() };
        cell.undelayed_ms = Some(Percentiles { p50: Some(0.97), p99: Some(4.0), ..Percentiles::default() });
        let within = |low, high| Some(Within { low, high });
        let (p50, p99) = (within(0.95, Some(1.05)), within(11.8, None));
        cell.response_interval_ms =
            Some(PercentileIntervals { p50, p99, clusters: 16, ..PercentileIntervals::default() });
        for rule in [rules::CONTENT.name, OWN_DELAY.name] {
            run.validity.push(Validity {
                variant: variant.clone(),
                level,
                rule: rule.to_owned(),
                verdict: Verdict::Marked,
                reason: String::new(),
                remedy: String::new(),
                value: 1.0,
                bound: 0.0,
            });
        }
        let view = View::of(&run);
        let row = view.row(&variant, level).unwrap();
        let number = view.doubts.iter().position(|doubt| doubt.rule == OWN_DELAY.name).unwrap() + 1;
        let shown = |rank| view.percentile(row, Timed::of_requests(row.cell), rank, number::three_digits);
        assert_eq!(shown(Rank::P50), blocks::Cell::from("1.00 ±0.0500"));
        assert_eq!(shown(Rank::P99), blocks::Cell::marked("12.3 [11.8, –]", vec![number]));
        assert_eq!(shown(Rank::P95), blocks::Cell::from(number::NOTHING));
        assert_eq!(row.name().marks.len(), 1, "the cell has the other one");
    }
}
