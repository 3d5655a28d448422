//! Ratios of runs: Welch's interval on the logarithms of block means, Holm over the family, and the words of tolls.
//!
//! It deliberately takes no pair of blocks for a pair: those of two runs were measured at different times.

use super::{Beside, Lone, RatioOf, TimesBeside, TimesOf, ValueOf, offered};
use crate::results::{Cell, EqualRate, Estimate, Figure, RunResult, TollVerdict, Validity, Verdict};
use crate::stats::{self, holm, welch};
use crate::toll::{self, FIGURES, Left, by_ruler};

/// A cell by its name, in each run that has it.
pub(super) struct Place<'r> {
    variant: &'r str,
    title: String,
    held: Vec<CellOf<'r>>,
}

/// A cell of one run.
#[derive(Clone, Copy)]
struct CellOf<'r> {
    number: u32,
    run: &'r RunResult,
    cell: &'r Cell,
}

/// All cells of all runs, in the order of the first run, then those that later runs add.
///
/// A level that has a name is known by it: its number may mean another way of encrypting in another run.
pub(super) fn places<'r>(runs: &[&'r RunResult]) -> Vec<Place<'r>> {
    let mut places: Vec<Place<'r>> = Vec::new();
    for (number, &run) in (1..).zip(runs) {
        let mut cells: Vec<&Cell> = run.cells.iter().collect();
        let position = |cell: &Cell| {
            let level = run.experiment.levels.iter().position(|level| *level == cell.level);
            (level, run.experiment.variants.iter().position(|variant| variant.name == cell.variant))
        };
        cells.sort_by_key(|cell| position(cell));
        for cell in cells {
            let title = run.experiment.level_title(cell.level);
            let known = places.iter_mut().find(|place| place.variant == cell.variant && place.title == title);
            let of_run = CellOf { number, run, cell };
            match known {
                Some(place) => place.held.push(of_run),
                None => places.push(Place { variant: &cell.variant, title, held: vec![of_run] }),
            }
        }
    }
    places
}

/// The value of one run, with the other parts of its ratio.
struct InRun<'r> {
    of: CellOf<'r>,
    /// The baseline of a toll.
    baseline: Option<&'r str>,
    value: ValueOf,
    /// Logarithms of the means of its blocks.
    logs: Vec<f64>,
    barred: Barred,
}

/// The verdict of a figure that is refused or not attributable, with the reason; absent if its ratio can be trusted.
type Barred = Option<(TollVerdict, String)>;

/// Figures of cells.
pub(super) fn cells(places: &[Place<'_>]) -> Vec<Beside> {
    rows(places, |held, figure| held.iter().filter_map(|of_run| of_run.figure(figure)).collect())
}

/// Tolls, as each run has them.
pub(super) fn tolls(places: &[Place<'_>]) -> Vec<Beside> {
    rows(places, |held, figure| {
        let mut found: Vec<InRun<'_>> = held.iter().filter_map(|of_run| of_run.toll(figure)).collect();
        // Over another baseline it is another toll.
        let baseline = found.first().and_then(|first| first.baseline);
        found.retain(|found| found.baseline == baseline);
        found
    })
}

/// The rows in which at least two runs found something, with their ratios judged as one family of claims.
fn rows<'r>(places: &[Place<'r>], found: impl Fn(&[CellOf<'r>], Figure) -> Vec<InRun<'r>>) -> Vec<Beside> {
    let of = |place: &Place<'r>, figure: Figure| {
        let found = found(&place.held, figure);
        let (first, further) = found.split_first().filter(|(_, further)| !further.is_empty())?;
        // Nothing is divided by the first run where that does not have it.
        let divided = further.iter().filter(|_| first.of.number == 1);
        Some(Beside {
            variant: place.variant.to_owned(),
            baseline: first.baseline.map(str::to_owned),
            level: first.of.cell.level,
            level_title: place.title.clone(),
            figure,
            unit: if first.baseline.is_some() { "" } else { figure.unit() }.to_owned(),
            ratios: divided.map(|found| ratio(figure, found, first)).collect(),
            values: found.into_iter().map(|found| found.value).collect(),
        })
    };
    let mut rows: Vec<Beside> =
        places.iter().flat_map(|place| FIGURES.into_iter().filter_map(|figure| of(place, figure))).collect();
    by_ruler(&mut rows, |row| row.figure).into_iter().for_each(judge);
    rows
}

/// Response times and throughput of the cells that at least two runs have.
pub(super) fn times(places: &[Place<'_>]) -> Vec<TimesBeside> {
    let in_run = |of: &CellOf<'_>| {
        let times = of.cell.response_time_ms;
        TimesOf {
            run: of.number,
            standing: of.concerning(Figure::UnitTime).map(|doubt| doubt.verdict).max().unwrap_or(Verdict::Ok),
            requests_per_second: of.cell.requests_per_second.mean,
            p50_ms: times.p50,
            p95_ms: times.p95,
            p99_ms: times.p99,
        }
    };
    let of = |place: &Place<'_>| TimesBeside {
        variant: place.variant.to_owned(),
        level: place.held[0].cell.level,
        level_title: place.title.clone(),
        values: place.held.iter().map(in_run).collect(),
    };
    places.iter().filter(|place| place.held.len() > 1).map(of).collect()
}

/// Cells that only one run has.
pub(super) fn lone(places: &[Place<'_>]) -> Vec<Lone> {
    let of = |place: &Place<'_>| match place.held[..] {
        [of] => Some(Lone { run: of.number, variant: place.variant.to_owned(), level_title: place.title.clone() }),
        _ => None,
    };
    places.iter().filter_map(of).collect()
}

/// The ratio of one run to the first one: refused or joint already, or with a probability of its own.
fn ratio(figure: Figure, found: &InRun<'_>, first: &InRun<'_>) -> RatioOf {
    let of_either = |verdict: TollVerdict| {
        [first, found].into_iter().find_map(|found| {
            let (_, why) = found.barred.as_ref().filter(|(barred, _)| *barred == verdict)?;
            Some(format!("run {}: {why}", found.value.run))
        })
    };
    let [one, other] = [first, found].map(|found| found.of.offered(figure).map(|offered| (found.value.run, offered)));
    let apart = || offered::apart(one?, other?);
    let (settings, of_first) = (&found.of.run.settings, &first.of.run.settings);
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
    if let Some(reason) = of_either(TollVerdict::Refused).or_else(apart) {
        return refused(reason);
    }
    let Some(interval) = welch::difference(&found.logs, &first.logs, looking.alpha()) else {
        let counts = format!("{} and {}", first.logs.len(), found.logs.len());
        return refused(format!("no interval from {counts} complete blocks: take more"));
    };
    let joint = of_either(TollVerdict::Joint);
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

/// Judges the ratios that can make a claim, with p adjusted over all those that could be by chance.
fn judge(rows: Vec<&mut Beside>) {
    let ratios = rows.into_iter().flat_map(|row| &mut row.ratios);
    let mut claims: Vec<&mut RatioOf> = ratios.filter(|ratio| ratio.verdict == TollVerdict::Unclear).collect();
    let by_chance = |claim: &&mut &mut RatioOf| !stats::is_exact(claim.low, claim.high);
    let own: Vec<f64> = claims.iter_mut().filter(by_chance).map(|claim| claim.p_adjusted).collect();
    for (claim, p) in claims.iter_mut().filter(by_chance).zip(holm::adjust(&own)) {
        claim.p_adjusted = p;
    }
    for claim in claims {
        claim.verdict = TollVerdict::of((claim.low, claim.high), claim.p_adjusted, claim.equivalence_share);
        if claim.verdict == TollVerdict::Unconfirmed {
            claim.note = Some(toll::unconfirmed(own.len(), claim.p_adjusted));
        }
    }
}

impl<'r> CellOf<'r> {
    /// The doubts about its figure.
    fn concerning(self, figure: Figure) -> impl Iterator<Item = &'r Validity> {
        let findings = self.run.findings(&self.cell.variant, self.cell.level);
        findings.filter(move |doubt| figure.left_by(doubt) != Left::Whole)
    }

    /// The rate offered for its figure; `None` for figures of users who wait.
    fn offered(self, figure: Figure) -> Option<&'r EqualRate> {
        self.cell.equal_rate.as_ref().filter(|_| figure.is_at_rate())
    }

    fn figure(self, figure: Figure) -> Option<InRun<'r>> {
        let found = figure.of_cell(self.cell)?;
        let logs = toll::block_logs(self.run, &self.cell.variant, self.cell.level, figure);
        let concerned: Vec<&Validity> = self.concerning(figure).collect();
        let left = |left: Left| Some(concerned.iter().find(|doubt| figure.left_by(doubt) == left)?.reason.clone());
        let is_zero = || logs.iter().any(|log| !log.is_finite());
        let refused = left(Left::Refused)
            .or_else(|| is_zero().then(|| "a block is zero: a ratio to zero says nothing".to_owned()));
        let joint = || {
            left(Left::Joint)
                .map(|why| format!("{why}; the time is generator's and subject's together: read the CPU time"))
        };
        let barred = match refused {
            Some(why) => Some((TollVerdict::Refused, why)),
            None => joint().map(|why| (TollVerdict::Joint, why)),
        };
        let doubts = concerned.iter().map(|doubt| format!("{}: {}", doubt.rule, doubt.reason)).collect();
        let value = self.value(figure, found, doubts, &barred);
        Some(InRun { of: self, baseline: None, value, logs, barred })
    }

    fn toll(self, figure: Figure) -> Option<InRun<'r>> {
        let toll = self.run.toll(&self.cell.variant, self.cell.level, figure)?;
        let mut doubts = toll.doubts(&self.run.validity);
        let barred = (!toll.verdict.is_plain()).then(|| (toll.verdict, toll.note.clone().unwrap_or_default()));
        let is_told =
            |note: &str| doubts.iter().filter_map(|doubt| doubt.split_once(": ")).any(|(_, told)| note.contains(told));
        let note = toll.note.as_ref().filter(|note| barred.is_some() && !is_told(note));
        // Such as two systems, or one block: no rule of a cell says it.
        doubts.extend(note.map(|note| format!("toll: {note}")));
        let value = self.value(figure, toll.estimate(), doubts, &barred);
        let logs = toll::block_log_ratios(self.run, toll);
        Some(InRun { of: self, baseline: Some(&toll.baseline), value, logs, barred })
    }

    fn value(self, figure: Figure, found: Estimate, doubts: Vec<String>, barred: &Barred) -> ValueOf {
        let is_refused = matches!(barred, Some((TollVerdict::Refused, _)));
        ValueOf {
            run: self.number,
            value: if is_refused { 0.0 } else { found.mean },
            interval: found.interval().filter(|(_, high)| !is_refused && high.is_finite()),
            standing: match (is_refused, doubts.is_empty()) {
                (true, _) => Verdict::Refused,
                (false, true) => Verdict::Ok,
                (false, false) => Verdict::Marked,
            },
            doubts,
            rate_per_second: self.offered(figure).map(|rate| rate.rate_per_second),
        }
    }
}
