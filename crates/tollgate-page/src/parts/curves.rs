//! Curves over the levels, and distributions of response times.

use super::SHOWN_MAX;
use crate::blocks::{Block, Figure, Section, Table};
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Note, Point};
use crate::chart::{Size, Spacing, Standing, percentiles};
use crate::gather::by_key;
use crate::number;
use crate::words::sentence;
use crate::words::view::{self, Row, View};
use tollgate_facts::names::singular;
use tollgate_facts::results::{Cell, Estimate, Percentiles, Verdict};
use tollgate_facts::rules;

/// Factors whose levels share one unit of work: with more of them, it is done sooner.
const SHARING: [&str; 2] = ["concurrency", "work-processes"];
/// A doubling of the level that gains less than this stagnates.
const STAGNATES_BELOW: f64 = 0.10;

/// Curves over the levels, and distributions of response times, under this heading.
pub fn sections(view: &View<'_>, heading: &str) -> Vec<Option<Section>> {
    // Levels that only have names lie on no axis.
    match view.run.experiment.named_levels.is_empty() {
        true => vec![against_levels(view), response_times(view, heading)],
        false => vec![response_times(view, "Slowest answers")],
    }
}

/// Time and throughput against the level; absent where nothing was measured.
pub fn against_levels(view: &View<'_>) -> Option<Section> {
    let heading = format!("Against {}", view.run.experiment.factor);
    let curves = || vec![Block::Figures(vec![unit_time(view), throughput(view)])];
    (!view.rows.is_empty()).then(|| Section::background(heading, curves()))
}

/// The distribution of response times, under this heading; absent where no cell has one.
pub fn response_times(view: &View<'_>, heading: &str) -> Option<Section> {
    let curves = distributions(view);
    (!curves.is_empty()).then(|| Section::background(heading, vec![Block::Figures(curves)]))
}

/// The cells of each variant in the order of the levels, with its key.
pub fn by_variant<'r>(view: &View<'r>) -> Vec<(usize, &'r str, Vec<&'r Cell>)> {
    let cells = by_key(view.rows.iter().map(|row| (row.cell.variant.as_str(), row.cell)));
    let keyed = cells.into_iter().filter_map(|(name, cells)| Some((view::key(view.run, name)?, name, cells)));
    let mut variants: Vec<_> = keyed.collect();
    variants.sort_by_key(|(key, ..)| *key);
    variants
}

fn point(view: &View<'_>, cell: &Cell, estimate: Estimate) -> Point {
    let standing = view.row(&cell.variant, cell.level).map_or(Standing::Hollow, Row::standing);
    // Of few blocks the interval may reach below nothing, where no time and no rate can be.
    Point::of(cell.level as f64, Estimate { low: estimate.low.max(0.0), ..estimate }, standing)
}

/// The axis of the levels: each is marked, doublings are equally far apart.
fn level_axis(view: &View<'_>) -> Axis {
    let experiment = &view.run.experiment;
    let levels = &experiment.levels;
    let spacing = if levels.contains(&0) { Spacing::Linear } else { Spacing::Logarithmic };
    let label = match experiment.factor_unit.as_str() {
        "" => experiment.factor.clone(),
        // One name for both.
        unit if experiment.factor.replace('-', " ") == unit => unit.to_owned(),
        unit => format!("{} ({unit})", experiment.factor),
    };
    let ticks = levels.iter().map(|level| (*level as f64, number::whole(*level))).collect();
    Axis { spacing, ticks, ..Axis::linear(label) }
}

/// Time of a unit of work over the levels, with the ideal where they share it.
pub fn unit_time(view: &View<'_>) -> Figure {
    let experiment = &view.run.experiment;
    let noun = sentence::unit_noun(experiment);
    let variants = by_variant(view);
    let shares_work = SHARING.contains(&experiment.factor.as_str()) && experiment.levels.len() > 1;
    let (many, one) = (experiment.factor_unit.as_str(), singular(&experiment.factor_unit));
    let least = variants.first().and_then(|(_, _, cells)| cells.first()).map_or(1, |cell| cell.level);
    let ideal_of = match least {
        0 | 1 => format!("the time at one {one} divided by the {many}"),
        _ => format!("the time at {} {many}, multiplied by {0} and divided by the {many}", number::whole(least)),
    };
    let steps = if shares_work { stagnating(&variants) } else { Vec::new() };
    let least_gain = STAGNATES_BELOW * 100.0;
    let gains = match steps.first() {
        None if variants.iter().any(|(_, _, cells)| cells.windows(2).any(gains_too_little)) => String::new(),
        None => format!(" Every doubling gains at least {least_gain:.0} %."),
        Some((first, _)) => {
            let is_all = |names: &[&str]| names.len() == variants.len() && names.len() > 1;
            let who = |names: &[&str]| if is_all(names) { "all variants".to_owned() } else { names.join(", ") };
            let from = |(level, names): &(u64, Vec<&str>)| {
                format!("{} from {} on", who(names), sentence::level(experiment, *level))
            };
            let named = steps.iter().map(from).collect::<Vec<_>>().join("; ");
            let joint = match is_joint(view, *first) {
                true => " Some of these are not attributable (shared CPU).",
                false => "",
            };
            format!(" Stagnates, as a doubling of {many} gains under {least_gain:.0} %: {named}.{joint}")
        }
    };
    let note = match shares_work {
        true => format!("The {many} share {}. Dotted: the ideal, {ideal_of}.{gains}", sentence::one(noun)),
        false => String::new(),
    };
    let ideal = |size| {
        let (_, name, cells) = variants.first().filter(|_| shares_work)?;
        let first = cells.first().filter(|cell| cell.level > 0)?;
        let one = first.unit_time_ms.mean * first.level as f64;
        let furthest = view.rows.iter().map(|row| row.cell.level).max().unwrap_or(0);
        let levels = experiment.levels.iter().filter(|level| (1..=furthest).contains(*level));
        let points = levels.map(|level| Point::plain(*level as f64, one / *level as f64));
        let name = if size == Size::Narrow { "ideal".to_owned() } else { format!("ideal of {name}") };
        Some(Line::new(name, 0, Kind::Ideal, points.collect()))
    };
    let note_of = |(level, names): &(u64, Vec<&str>)| {
        let text = match names.len() == variants.len() {
            true => "stagnates →".to_owned(),
            false => format!("{} of {} stagnate →", names.len(), variants.len()),
        };
        Note { x: *level as f64, text }
    };
    let marked: Vec<Note> = steps.iter().map(note_of).collect();
    let title = format!("Time of {}", sentence::one(noun));
    let label = format!("time of {} (ms)", sentence::one(noun));
    let draw = |size| {
        let all = measured(view, &variants, |cell| cell.unit_time_ms).into_iter().chain(ideal(size)).collect();
        let chart = Lines::new(level_axis(view), Axis::logarithmic(&label), all);
        lines::draw(size, &Lines { notes: marked.clone(), ..chart })
    };
    let description = format!("Lines over the levels, both axes logarithmic. {note}");
    let table = estimates(view, &variants, &format!("{noun} time, ms"), |cell| cell.unit_time_ms);
    Figure::new(title, &note).picture("unit-time", &description, Size::Half, draw).data(table, "unit-time.csv")
}

/// By level, the variants for which each further doubling gains too little.
fn stagnating<'r>(variants: &[(usize, &'r str, Vec<&Cell>)]) -> Vec<(u64, Vec<&'r str>)> {
    let found = variants.iter().filter_map(|(_, name, cells)| {
        let first = cells.windows(2).rev().take_while(|pair| gains_too_little(pair)).last()?;
        Some((first[0].level, *name))
    });
    let mut steps = by_key(found);
    steps.sort_by_key(|(level, _)| *level);
    steps
}

/// Whether a doubling of the users from one level to the next gains too little.
fn gains_too_little(pair: &[&Cell]) -> bool {
    let doublings = (pair[1].level as f64 / pair[0].level as f64).log2();
    let gain = (pair[0].unit_time_ms.mean / pair[1].unit_time_ms.mean).powf(1.0 / doublings) - 1.0;
    doublings > 0.0 && gain < STAGNATES_BELOW
}

/// Whether a cell at this level or above is not attributable (shared CPU).
fn is_joint(view: &View<'_>, least: u64) -> bool {
    let mut doubts = view.run.validity.iter().filter(|doubt| doubt.level >= least && doubt.verdict != Verdict::Ok);
    doubts.any(|doubt| rules::is_joint(&doubt.rule))
}

/// Valid answers per second over the levels.
pub fn throughput(view: &View<'_>) -> Figure {
    throughput_beside(view, Size::Half, "Valid answers only. A hollow point has a doubt.", &[])
}

/// The same with these curves, dotted, beside the measured values.
pub fn throughput_beside(view: &View<'_>, wide: Size, note: &str, curves: &[Vec<Point>]) -> Figure {
    let variants = by_variant(view);
    let dotted = curves.iter().map(|points| Line::new("", 0, Kind::Ideal, points.clone()));
    let all = measured(view, &variants, |cell| cell.requests_per_second).into_iter().chain(dotted).collect();
    let chart = Lines::new(level_axis(view), Axis::linear("requests/s"), all);
    let description = "Lines over the levels, from zero; more is better.";
    let table = estimates(view, &variants, "requests/s", |cell| cell.requests_per_second);
    Figure::new("Requests per second", note)
        .picture("throughput", description, wide, |size| lines::draw(size, &chart))
        .data(table, "requests-per-second.csv")
}

/// A line for each variant.
fn measured(view: &View<'_>, variants: &[(usize, &str, Vec<&Cell>)], of: fn(&Cell) -> Estimate) -> Vec<Line> {
    let points = |cells: &[&Cell]| cells.iter().map(|cell| point(view, cell, of(cell))).collect();
    let shown = variants.iter().take(SHOWN_MAX);
    shown.map(|(key, name, cells)| Line::new(*name, *key, Kind::Measured, points(cells))).collect()
}

fn estimates(view: &View<'_>, variants: &[(usize, &str, Vec<&Cell>)], what: &str, of: fn(&Cell) -> Estimate) -> Table {
    Table::of(
        "",
        variants.iter().flat_map(|(.., cells)| cells).map(|cell| (*cell, of(cell))),
        &[
            ("variant", &|(cell, _)| cell.variant.clone()),
            ("level", &|(cell, _)| sentence::level(&view.run.experiment, cell.level)),
            (what, &|(_, estimate)| number::three_digits(estimate.mean)),
            ("95 % low", &|(_, estimate)| number::three_digits(estimate.low)),
            ("95 % high", &|(_, estimate)| number::three_digits(estimate.high)),
            ("blocks", &|(_, estimate)| estimate.n.to_string()),
        ],
    )
}

/// One curve at the lowest level, where no user waits for another, and one at the highest.
pub fn distributions(view: &View<'_>) -> Vec<Figure> {
    let has_curve = |level: &u64| view.at(*level).any(|row| !row.cell.curve.is_empty());
    let mut levels: Vec<u64> = view.run.experiment.levels.iter().copied().filter(has_curve).collect();
    if levels.len() > 2 {
        levels = vec![levels[0], levels[levels.len() - 1]];
    }
    levels.iter().map(|level| distribution(view, *level)).collect()
}

fn distribution(view: &View<'_>, level: u64) -> Figure {
    let at = sentence::level(&view.run.experiment, level);
    let title = format!("Distribution at {at}");
    let cells = view.at(level).filter_map(|row| Some((view::key(view.run, &row.cell.variant)?, row.cell)));
    let cells: Vec<(usize, &Cell)> = cells.collect();
    let lines = cells.iter().take(SHOWN_MAX).map(|(key, cell)| percentiles::line(&cell.variant, *key, &cell.curve));
    let chart = percentiles::chart("response time (ms)", lines.collect());
    let description = "One curve a variant: the share of requests and the time that they stayed below.";
    let time = |of: fn(&Percentiles) -> Option<f64>| {
        move |(_, cell): &&(usize, &Cell)| number::optional(of(&cell.response_time_ms))
    };
    let table = Table::of(
        "",
        &cells,
        &[
            ("variant", &|(_, cell)| cell.variant.clone()),
            ("mean ms", &time(|times| Some(times.mean))),
            ("p50 ms", &time(|times| times.p50)),
            ("p90 ms", &time(|times| times.p90)),
            ("p95 ms", &time(|times| times.p95)),
            ("p99 ms", &time(|times| times.p99)),
            ("p99.9 ms", &time(|times| times.p999)),
            ("max ms", &time(|times| Some(times.max))),
            ("requests", &|(_, cell)| number::whole(cell.requests)),
        ],
    );
    Figure::new(title, "Each step to the right is a tenfold rarer request.")
        .picture(&format!("distribution-{level}"), description, Size::Half, |size| lines::draw(size, &chart))
        .data(table, format!("response-times-{level}.csv"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;

    #[test]
    fn that_every_doubling_gains_is_said_only_where_it_does() {
        let note = |times_ms: [f64; 4]| {
            let mut run = fixture::protocol();
            run.experiment.levels = vec![1, 2, 4, 8];
            run.validity.clear();
            run.cells = (0..4).map(|index| fixture::cell("rest-json", 1 << index)).collect();
            for (cell, mean) in run.cells.iter_mut().zip(times_ms) {
                cell.unit_time_ms.mean = mean;
            }
            unit_time(&View::of(&run)).note
        };
        let claim = "Every doubling gains at least";
        assert!(note([80.0, 40.0, 20.0, 10.0]).contains(claim));
        let in_between = note([80.0, 79.0, 40.0, 20.0]);
        assert!(!in_between.contains(claim) && !in_between.contains("Stagnates"), "it does not last to the end");
        assert!(note([80.0, 40.0, 20.0, 19.9]).contains("Stagnates"));
    }
}
