//! The charts of the page, each with a sentence that says what to see, its table and its CSV.

use super::parts::{Table, by_width, figure};
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Note, Point, Standing};
use crate::chart::percentiles::{self, Distribution};
use crate::chart::tolls::{self, Bar, Certainty};
use crate::chart::{Caption, Size, Spacing};
use crate::ladder;
use crate::mediation::{self, Chosen};
use crate::number::{self, NOTHING};
use crate::sentence;
use crate::view::{self, View};
use crate::{distance, inserts};
use tollgate_facts::results::{Cell, Estimate, Figure, RunResult, Toll, TollVerdict, Verdict};
use tollgate_facts::rules;

/// Variants that one chart shows: more can neither be told apart nor fit a page of half a megabyte. The tables have
/// all.
pub(super) const SHOWN_MAX: usize = 12;
/// Tolls of which the table shows every one.
const TOLLS_MAX: usize = 240;
/// Factors whose levels share one unit of work: the more there are, the sooner it is done.
const SHARING: [&str; 2] = ["concurrency", "work-processes"];
/// A doubling of the level that gains less than this stagnates.
const STAGNATES_BELOW: f64 = 0.10;

/// Toll bars at the level where most may be said, and the table of all levels.
pub(super) fn tolls(view: &View<'_>) -> Option<String> {
    let run = view.run;
    if run.tolls.is_empty() {
        return None;
    }
    let levels: Vec<(u64, Option<Chosen>)> = match mediation::is_shown(run) {
        true => mediation::toll_levels(run).into_iter().map(|(level, why)| (level, Some(why))).collect(),
        false => {
            let most = view::answer_level(run).or_else(|| run.tolls.iter().map(|toll| toll.level).max());
            vec![(most?, None)]
        }
    };
    let last = levels.len().saturating_sub(1);
    let figures: Vec<String> = levels
        .iter()
        .enumerate()
        .map(|(place, (level, why))| tolls_at(view, *level, *why, (place, place == last)))
        .collect();
    Some(format!("<section>{}</section>", figures.concat()))
}

/// Toll bars at one level; those of the last one have the table of all levels.
fn tolls_at(view: &View<'_>, at: u64, why: Option<Chosen>, (place, is_last): (usize, bool)) -> String {
    let (run, experiment) = (view.run, &view.run.experiment);
    let variants: Vec<(usize, &str)> = experiment
        .variants
        .iter()
        .enumerate()
        .filter(|(_, variant)| variant.baseline.is_some())
        .map(|(key, variant)| (key, variant.name.as_str()))
        .take(2 * SHOWN_MAX)
        .collect();
    let noun = sentence::unit_noun(experiment);
    let time_title = format!("time of a {noun}");
    let cpu_title = format!("CPU time per {}", sentence::piece(experiment));
    // At equal rate the latency is what is asked for; how many bytes came is then no question.
    let last = match run.tolls.iter().any(|toll| toll.figure == Figure::MedianAtRate) {
        true => (Figure::MedianAtRate, "median at equal rate"),
        false => (Figure::Bytes, "bytes received"),
    };
    let panels: Vec<tolls::Panel<'_>> =
        [(Figure::UnitTime, time_title.as_str()), (Figure::SubjectCpu, cpu_title.as_str()), last]
            .into_iter()
            .map(|(figure, title)| tolls::Panel {
                title,
                bars: variants
                    .iter()
                    .map(|(_, name)| {
                        run.tolls
                            .iter()
                            .find(|toll| toll.variant == *name && toll.level == at && toll.figure == figure)
                            .map(bar)
                    })
                    .collect(),
            })
            .filter(|panel| panel.bars.iter().any(Option::is_some))
            .collect();
    let rows: Vec<tolls::Row<'_>> = variants.iter().map(|(key, name)| tolls::Row { name, key: *key }).collect();
    let level = sentence::level(experiment, at);
    let title = match why {
        Some(why) => format!("Tolls at {level}: {}", why.words()),
        None => format!("Tolls at {level}"),
    };
    let description = format!(
        "Bars from 1 to each variant's ratio over its baseline, with {} intervals, for {}. {}",
        sentence::confidence(run),
        panels.iter().map(|panel| panel.title).collect::<Vec<_>>().join(", "),
        sentence::answer(run, "×")
    );
    let draw =
        |id: &str, size| tolls::draw(&Caption { id, title: &title, description: &description }, size, &rows, &panels);
    let mut table = Table::new([
        "variant",
        "over",
        "level",
        "figure",
        "ratio",
        "difference",
        "p (Holm)",
        "blocks",
        "verdict",
        "note",
    ]);
    // A whole matrix of tolls would be a page of its own; the CSV of all cells has them.
    let is_whole = is_last && run.tolls.len() <= TOLLS_MAX;
    for toll in run.tolls.iter().filter(|toll| is_whole || toll.level == at) {
        table.push(toll_row(view, toll));
    }
    let table_title = if is_whole { "all tolls".to_owned() } else { format!("all tolls at {level}") };
    let note = "Times the baseline: 1 is no more than it. Hollow bars are no claims: no toll, unclear, or generator and \
                subject at their limit together.";
    let ids = match place {
        0 => ["tolls-wide".to_owned(), "tolls-narrow".to_owned()],
        _ => ["wide", "narrow"].map(|width| format!("tolls-{place}-{width}")),
    };
    let pictures = by_width(draw(&ids[0], Size::Full), draw(&ids[1], Size::Narrow));
    let file = if is_last { "tolls.csv".to_owned() } else { format!("tolls-{at}.csv") };
    figure(&title, note, &[pictures], &table.folded(&table_title, &file))
}

fn bar(toll: &Toll) -> Bar {
    let text = match toll.verdict {
        TollVerdict::Joint => "joint".to_owned(),
        _ => sentence::ratio(toll, "×"),
    };
    Bar {
        ratio: toll.ratio,
        low: toll.low,
        high: toll.high,
        text,
        certainty: match toll.verdict {
            TollVerdict::Dearer | TollVerdict::Cheaper => Certainty::Shown,
            TollVerdict::NoToll | TollVerdict::Unclear | TollVerdict::Joint => Certainty::Hollow,
            TollVerdict::Refused => Certainty::Refused,
        },
    }
}

fn toll_row(view: &View<'_>, toll: &Toll) -> Vec<String> {
    let experiment = &view.run.experiment;
    let figure = match toll.figure {
        Figure::UnitTime => format!("{} time", sentence::unit_noun(experiment)),
        Figure::SubjectCpu => format!("CPU/{}", sentence::piece(experiment)),
        Figure::Bytes => "bytes".to_owned(),
        Figure::MedianAtRate => "p50 at equal rate".to_owned(),
        Figure::P95AtRate => "p95 at equal rate".to_owned(),
        Figure::P99AtRate => "p99 at equal rate".to_owned(),
    };
    let p = match toll.p_adjusted {
        p if p < 0.001 => "< 0.001".to_owned(),
        p => number::grouped(p, 3),
    };
    let shown = |text: String| if toll.is_shown() { text } else { NOTHING.to_owned() };
    vec![
        toll.variant.clone(),
        toll.baseline.clone(),
        sentence::level(experiment, toll.level),
        figure,
        shown(sentence::ratio(toll, "×")),
        shown(sentence::difference(toll)),
        shown(p),
        toll.blocks.to_string(),
        sentence::verdict(toll.verdict).to_owned(),
        toll.note.clone().unwrap_or_default(),
    ]
}

/// Time and throughput against the level, and the distribution of response times.
pub(super) fn charts(view: &View<'_>) -> Option<String> {
    let has_its_own: [fn(&RunResult) -> bool; 3] = [inserts::is_shown, mediation::is_shown, distance::is_shown];
    if view.rows.is_empty() || has_its_own.iter().any(|is_shown| is_shown(view.run)) {
        return None;
    }
    // Levels that only have names lie on no axis.
    if !view.run.experiment.named_levels.is_empty() {
        let curves = distributions(view);
        let section = format!("<section><h2>Slowest answers</h2><div class=\"pair\">{curves}</div></section>");
        return (!curves.is_empty()).then_some(section);
    }
    let response_times =
        format!("<section><h2>Response times</h2><div class=\"pair\">{}</div></section>", distributions(view));
    if ladder::is_shown(view.run) {
        // Its first pictures are at its top.
        return Some(response_times);
    }
    Some(format!(
        "<section><h2>Against {}</h2><div class=\"pair\">{}{}</div></section>{response_times}",
        super::parts::escape(&view.run.experiment.factor),
        unit_time(view),
        throughput(view),
    ))
}

/// The cells of each variant in the order of the levels, with its key.
pub(super) fn by_variant<'r>(view: &View<'r>) -> Vec<(usize, &'r str, Vec<&'r Cell>)> {
    let variants = view.run.experiment.variants.iter().enumerate();
    variants
        .map(|(key, variant)| {
            let cells = view.rows.iter().map(|row| row.cell).filter(|cell| cell.variant == variant.name).collect();
            (key, variant.name.as_str(), cells)
        })
        .filter(|(_, _, cells): &(usize, &str, Vec<&Cell>)| !cells.is_empty())
        .collect()
}

pub(super) fn point(view: &View<'_>, cell: &Cell, estimate: Estimate) -> Point {
    let doubted = view.rows.iter().any(|row| std::ptr::eq(row.cell, cell) && !row.marks.is_empty());
    Point {
        x: cell.level as f64,
        y: estimate.mean,
        // Of few blocks the interval may reach below nothing, where no time and no rate can be.
        low: estimate.low.max(0.0),
        high: estimate.high,
        standing: if doubted { Standing::Hollow } else { Standing::Plain },
    }
}

/// The axis of the levels: each is marked, doublings are equally far apart.
pub(super) fn level_axis<'a>(view: &View<'_>, label: &'a str) -> Axis<'a> {
    let levels = &view.run.experiment.levels;
    let spacing = if levels.contains(&0) { Spacing::Linear } else { Spacing::Logarithmic };
    Axis { label, spacing, ticks: levels.iter().map(|level| (*level as f64, number::whole(*level))).collect() }
}

pub(super) fn level_label(view: &View<'_>) -> String {
    let experiment = &view.run.experiment;
    match experiment.factor_unit.as_str() {
        "" => experiment.factor.clone(),
        // One name for both.
        unit if experiment.factor.replace('-', " ") == unit => unit.to_owned(),
        unit => format!("{} ({unit})", experiment.factor),
    }
}

/// Time of a unit of work over the levels, with the ideal where they share it.
pub(super) fn unit_time(view: &View<'_>) -> String {
    let experiment = &view.run.experiment;
    let noun = sentence::unit_noun(experiment);
    let variants = by_variant(view);
    let shares_work = SHARING.contains(&experiment.factor.as_str()) && experiment.levels.len() > 1;
    let (many, one) = (experiment.factor_unit.as_str(), sentence::singular(&experiment.factor_unit));
    let least = variants.first().and_then(|(_, _, cells)| cells.first()).map_or(1, |cell| cell.level);
    let ideal_of = match least {
        0 | 1 => format!("the time at one {one} divided by the {many}"),
        _ => format!("the time at {} {many}, multiplied by {0} and divided by the {many}", number::whole(least)),
    };
    let shared = format!("The {many} share a {noun}. Dotted: the ideal, {ideal_of}.");
    let steps = if shares_work { stagnating(&variants) } else { Vec::new() };
    let note = match (shares_work, steps.is_empty()) {
        (false, _) => String::new(),
        (true, true) => {
            let gains = match variants.iter().any(|(_, _, cells)| cells.windows(2).any(gains_too_little)) {
                true => String::new(),
                false => format!(" Every doubling gains at least {:.0} %.", STAGNATES_BELOW * 100.0),
            };
            format!("{shared}{gains}")
        }
        (true, false) => {
            let named: Vec<String> = steps
                .iter()
                .map(|(level, names)| format!("{} {}", who(names, variants.len()), from(view, *level)))
                .collect();
            format!(
                "{shared} Stagnates, as a doubling of {many} gains under {:.0} %: {}.{}",
                STAGNATES_BELOW * 100.0,
                named.join("; "),
                if is_joint(view, steps[0].0) {
                    " Some of these are joint figures: generator and subject were at their limit together."
                } else {
                    ""
                }
            )
        }
    };
    let ideal = |size| {
        let (_, name, cells) = variants.first().filter(|_| shares_work)?;
        let first = cells.first().filter(|cell| cell.level > 0)?;
        let one = first.unit_time_ms.mean * first.level as f64;
        let furthest = view.rows.iter().map(|row| row.cell.level).max().unwrap_or(0);
        let points = experiment.levels.iter().filter(|level| (1..=furthest).contains(*level)).map(|level| {
            let y = one / *level as f64;
            Point { x: *level as f64, y, low: y, high: y, standing: Standing::Plain }
        });
        let name = if size == Size::Narrow { "ideal".to_owned() } else { format!("ideal of {name}") };
        Some((name, points.collect::<Vec<_>>()))
    };
    let marked: Vec<Note> = steps
        .iter()
        .map(|(level, names)| Note {
            x: *level as f64,
            text: match names.len() == variants.len() {
                true => "stagnates →".to_owned(),
                false => format!("{} of {} stagnate →", names.len(), variants.len()),
            },
        })
        .collect();
    let title = format!("Time of a {noun}");
    let label = format!("ms per {noun}");
    let draw = |id, size| {
        let ideal = ideal(size);
        let measured = variants.iter().take(SHOWN_MAX).map(|(key, name, cells)| Line {
            name,
            key: *key,
            kind: Kind::Measured,
            points: cells.iter().map(|cell| point(view, cell, cell.unit_time_ms)).collect(),
        });
        let dotted =
            ideal.iter().map(|(name, points)| Line { name, key: 0, kind: Kind::Ideal, points: points.clone() });
        lines::draw(&Lines {
            caption: Caption {
                id,
                title: &title,
                description: &format!("Lines over the levels, both axes logarithmic. {note}"),
            },
            size,
            x: level_axis(view, &level_label(view)),
            y: Axis { label: &label, spacing: Spacing::Logarithmic, ticks: Vec::new() },
            lines: measured.chain(dotted).collect(),
            notes: marked.clone(),
        })
    };
    let table = estimates(view, &variants, &format!("{noun} time, ms"), |cell| cell.unit_time_ms);
    figure(
        &title,
        &note,
        &[by_width(draw("unit-time-wide", Size::Half), draw("unit-time-narrow", Size::Narrow))],
        &table.folded(&title, "unit-time.csv"),
    )
}

/// By level, the variants for which every further doubling gains too little.
fn stagnating<'r>(variants: &[(usize, &'r str, Vec<&Cell>)]) -> Vec<(u64, Vec<&'r str>)> {
    let mut steps: Vec<(u64, Vec<&str>)> = Vec::new();
    for (_, name, cells) in variants {
        let Some(first) = cells.windows(2).rev().take_while(|pair| gains_too_little(pair)).last() else { continue };
        match steps.iter_mut().find(|(level, _)| *level == first[0].level) {
            Some((_, names)) => names.push(name),
            None => steps.push((first[0].level, vec![name])),
        }
    }
    steps.sort_by_key(|(level, _)| *level);
    steps
}

/// Whether a doubling of the users from one level to the next gains too little.
fn gains_too_little(pair: &[&Cell]) -> bool {
    let doublings = (pair[1].level as f64 / pair[0].level as f64).log2();
    let gain = (pair[0].unit_time_ms.mean / pair[1].unit_time_ms.mean).powf(1.0 / doublings) - 1.0;
    doublings > 0.0 && gain < STAGNATES_BELOW
}

/// Whether a cell at this level or above is a joint figure.
fn is_joint(view: &View<'_>, least: u64) -> bool {
    let mut doubts = view.run.validity.iter().filter(|doubt| doubt.level >= least && doubt.verdict != Verdict::Ok);
    doubts.any(|doubt| rules::is_joint(&doubt.rule))
}

fn who(names: &[&str], of: usize) -> String {
    if names.len() == of && of > 1 { "all variants".to_owned() } else { names.join(", ") }
}

fn from(view: &View<'_>, level: u64) -> String {
    format!("from {} on", sentence::level(&view.run.experiment, level))
}

/// Valid answers per second over the levels.
pub(super) fn throughput(view: &View<'_>) -> String {
    let variants = by_variant(view);
    let title = "Requests per second";
    let note = "Valid answers only. A hollow point has a doubt, which stands below the table above.";
    let draw = |id, size| {
        lines::draw(&Lines {
            caption: Caption { id, title, description: "Lines over the levels, from zero; more is better." },
            size,
            x: level_axis(view, &level_label(view)),
            y: Axis { label: "requests/s", spacing: Spacing::Linear, ticks: Vec::new() },
            lines: variants
                .iter()
                .take(SHOWN_MAX)
                .map(|(key, name, cells)| Line {
                    name,
                    key: *key,
                    kind: Kind::Measured,
                    points: cells.iter().map(|cell| point(view, cell, cell.requests_per_second)).collect(),
                })
                .collect(),
            notes: Vec::new(),
        })
    };
    let table = estimates(view, &variants, "requests/s", |cell| cell.requests_per_second);
    figure(
        title,
        note,
        &[by_width(draw("throughput-wide", Size::Half), draw("throughput-narrow", Size::Narrow))],
        &table.folded(title, "requests-per-second.csv"),
    )
}

pub(super) fn estimates(
    view: &View<'_>,
    variants: &[(usize, &str, Vec<&Cell>)],
    what: &str,
    of: fn(&Cell) -> Estimate,
) -> Table {
    let mut table = Table::new(["variant", "level", what, "95 % low", "95 % high", "blocks"]);
    for (_, name, cells) in variants {
        for cell in cells {
            let estimate = of(cell);
            table.push(vec![
                (*name).to_owned(),
                sentence::level(&view.run.experiment, cell.level),
                number::three_digits(estimate.mean),
                number::three_digits(estimate.low),
                number::three_digits(estimate.high),
                estimate.n.to_string(),
            ]);
        }
    }
    table
}

/// One curve at the lowest level, where nobody waits for another, and one at the highest.
pub(super) fn distributions(view: &View<'_>) -> String {
    let with_curve: Vec<u64> =
        view.rows.iter().filter(|row| !row.cell.curve.is_empty()).map(|row| row.cell.level).collect();
    let mut levels: Vec<u64> =
        view.run.experiment.levels.iter().copied().filter(|level| with_curve.contains(level)).collect();
    if levels.len() > 2 {
        levels = vec![levels[0], levels[levels.len() - 1]];
    }
    levels.iter().map(|level| distribution(view, *level)).collect()
}

fn distribution(view: &View<'_>, level: u64) -> String {
    let at = sentence::level(&view.run.experiment, level);
    let title = format!("Distribution at {at}");
    let variants = by_variant(view);
    let cells: Vec<(usize, &Cell)> = variants
        .iter()
        .filter_map(|(key, _, cells)| Some((*key, *cells.iter().find(|cell| cell.level == level)?)))
        .collect();
    let draw = |id: &str, size| {
        let all: Vec<Distribution<'_>> = cells
            .iter()
            .take(SHOWN_MAX)
            .map(|(key, cell)| Distribution { name: &cell.variant, key: *key, points: &cell.curve })
            .collect();
        let description = "One curve a variant: the share of requests and the time that they stayed below.";
        percentiles::draw(Caption { id, title: &title, description }, size, "response time, ms", &all)
    };
    let mut table = Table::new(["variant", "mean ms", "p50", "p90", "p95", "p99", "p99.9", "max", "requests"]);
    for (_, cell) in &cells {
        let times = cell.response_time_ms;
        table.push(vec![
            cell.variant.clone(),
            number::three_digits(times.mean),
            number::optional(times.p50),
            number::optional(times.p90),
            number::optional(times.p95),
            number::optional(times.p99),
            number::optional(times.p999),
            number::three_digits(times.max),
            number::whole(cell.requests),
        ]);
    }
    let (wide, narrow) = (format!("distribution-{level}-wide"), format!("distribution-{level}-narrow"));
    figure(
        &title,
        "Each step to the right is a tenfold rarer request.",
        &[by_width(draw(&wide, Size::Half), draw(&narrow, Size::Narrow))],
        &table.folded(&title, &format!("response-times-{level}.csv")),
    )
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
            unit_time(&View::of(&run))
        };
        let claim = "Every doubling gains at least";
        assert!(note([80.0, 40.0, 20.0, 10.0]).contains(claim));
        let in_between = note([80.0, 79.0, 40.0, 20.0]);
        assert!(!in_between.contains(claim) && !in_between.contains("Stagnates"), "it does not last to the end");
        assert!(note([80.0, 40.0, 20.0, 19.9]).contains("Stagnates"));
    }
}
