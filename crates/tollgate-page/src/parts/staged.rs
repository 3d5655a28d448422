//! A load in stages: each stage with its requested and achieved load, and both with the times over time. The page of a
//! run and that of a single load show the same.

use crate::blocks::{Block, Cell, Figure, Picture, Section, Table};
use crate::chart::lines::{Kind, Line, Point};
use crate::number;
use crate::words::sentence;
use crate::words::view::{Row, View};
use tollgate_facts::results::{Percentiles, StageFound, StageUnit, Staged, StagedPoint};

/// For a run: the table of all cells, and each cell's course; absent without stages.
pub fn section(view: &View<'_>) -> Option<Section> {
    let experiment = &view.run.experiment;
    let level = experiment.levels.first().map_or(0, |level| *level);
    let staged = view.rows.iter().filter_map(|row| Some((row, row.cell.played.as_ref()?.staged.as_ref()?)));
    let found: Vec<(&Row<'_>, &Staged)> = staged.collect();
    let unit = found.first()?.1.unit;
    let mut all = Table::default();
    for (row, staged) in &found {
        let mut own = table(staged);
        own.columns.insert(0, "scenario".into());
        for (place, line) in own.rows.iter_mut().enumerate() {
            line.tone = row.tone();
            line.cells.insert(0, if place == 0 { row.name() } else { Cell::default() });
        }
        all = Table { rows: [all.rows, own.rows].concat(), ..own };
    }
    let mut blocks = vec![Block::Table(all.some()?), Block::Legend(vec![shared(unit).to_owned()])];
    for (place, (row, staged)) in found.iter().enumerate() {
        blocks.push(Block::Figure(course(staged, &row.cell.variant, &format!("course-{place}"))));
    }
    Some(Section::main(format!("The stages: {}", sentence::level(experiment, level)), blocks))
}

/// For a single load.
pub fn of_load(found: &Staged) -> Section {
    let legend = Block::Legend(vec![shared(found.unit).to_owned()]);
    let blocks = vec![Block::Table(table(found)), legend, Block::Figure(course(found, "the load", "course"))];
    Section::main("The stages", blocks)
}

/// The stages of a single load as a table.
pub fn table(found: &Staged) -> Table {
    let short = |of: fn(&StageFound) -> f64| move |stage: &&StageFound| number::three_digits(of(stage));
    let some = |of: fn(&StageFound) -> u64| {
        move |stage: &&StageFound| number::or_nothing(Some(of(stage)).filter(|count| *count > 0).map(number::whole))
    };
    let time = |of: fn(&Percentiles) -> Option<f64>| {
        move |stage: &&StageFound| number::optional(stage.time_ms.as_ref().and_then(of))
    };
    let unit = if found.unit == StageUnit::PerSecond { "/s" } else { "" };
    let asked = |stage: &&StageFound| match [stage.asked_from, stage.asked_to].map(number::three_digits) {
        [_, to] if stage.asked_from.total_cmp(&stage.asked_to).is_eq() => format!("{to}{unit}"),
        [from, to] => format!("{from} → {to}{unit}"),
    };
    Table::of(
        "",
        &found.stages,
        &[
            ("stage", &|stage| stage.name.clone()),
            ("asked", &asked),
            ("seconds", &short(|stage| stage.until_s - stage.from_s)),
            ("users", &short(|stage| stage.users_mean)),
            ("whole/s", &short(|stage| stage.whole_per_second)),
            ("answers/s", &short(|stage| stage.requests_per_second)),
            ("failed", &some(|stage| stage.failed)),
            ("never begun", &some(|stage| stage.unstarted)),
            ("p50 ms", &time(|times| times.p50)),
            ("p95 ms", &time(|times| times.p95)),
            ("p99 ms", &time(|times| times.p99)),
            ("max ms", &time(|times| Some(times.max))),
        ],
    )
    .file("stages.csv")
}

/// Notes for the table.
pub fn shared(unit: StageUnit) -> &'static str {
    match unit {
        StageUnit::PerSecond => {
            "what was due in a stage is that stage's, whenever it ended, and its time counts from when it was due; users are \
             those at work, in the mean"
        }
        StageUnit::Users => {
            "what users began in a stage is that stage's, whenever it ended; users are those at work, in the mean"
        }
    }
}

/// One curve of a chart: its name and the function from a point to its value.
type Curve = (&'static str, fn(&StagedPoint) -> Option<f64>);
/// A chart: its title, the name of its values, and its curves.
type Chart = (&'static str, &'static str, &'static [Curve]);

const ASKED: Curve = ("asked", |point| Some(point.asked));
const ENDED: Chart = (
    "What ended",
    "per second",
    &[
        ("whole", |point| Some(point.whole_per_second)),
        ("answers", |point| Some(point.requests_per_second)),
        ("failed", |point| Some(point.failed_per_second).filter(|failed| *failed > 0.0)),
    ],
);
const TIMES: &[Curve] =
    &[("p50", |point| point.p50_ms), ("p99", |point| point.p99_ms), ("longest", |point| point.max_ms)];

fn course(found: &Staged, of: &str, id: &str) -> Figure {
    let begun: Chart = ("Asked for and begun", "per second", &[ASKED, ("begun", |point| Some(point.begun_per_second))]);
    let working: Chart = ("Users asked for and at work", "users", &[ASKED, ("at work", |point| Some(point.users))]);
    let users: Chart = ("Users at work", "users", &[("users", |point| Some(point.users))]);
    let charts = match found.unit {
        StageUnit::PerSecond => vec![begun, ENDED, users, ("Times from when each was due", "ms", TIMES)],
        StageUnit::Users => vec![working, ENDED, ("Times of what ended", "ms", TIMES)],
    };
    let picture = |(number, (title, label, curves)): (usize, Chart)| {
        let line = |(key, (name, value)): (usize, &Curve)| {
            let points = points(found, *value);
            (!points.is_empty()).then_some(Line::new(*name, key + 1, Kind::Curve, points))
        };
        let lines = curves.iter().enumerate().filter_map(line).collect();
        let picture = Picture::over_seconds(&format!("{id}-{number}"), title, label, lines);
        Picture { heading: Some(title.to_owned()), ..picture }
    };
    let pictures = charts.into_iter().enumerate().map(picture).collect();
    let short = |of: fn(&StagedPoint) -> f64| move |point: &&StagedPoint| number::three_digits(of(point));
    let time = |of: fn(&StagedPoint) -> Option<f64>| move |point: &&StagedPoint| number::optional(of(point));
    let table = Table::of(
        format!("the course of {of}"),
        &found.course,
        &[
            ("until second", &short(|point| point.until_s)),
            ("asked", &short(|point| point.asked)),
            ("users at work", &short(|point| point.users)),
            ("begun/s", &short(|point| point.begun_per_second)),
            ("whole/s", &short(|point| point.whole_per_second)),
            ("answers/s", &short(|point| point.requests_per_second)),
            ("failed/s", &short(|point| point.failed_per_second)),
            ("p50 ms", &time(|point| point.p50_ms)),
            ("p99 ms", &time(|point| point.p99_ms)),
            ("max ms", &time(|point| point.max_ms)),
        ],
    );
    let note =
        "By second: what ended stands in the second in which it did. p50 stands where 10 ended, p99 where 100 did.";
    Figure { pictures, ..Figure::new(format!("The course of {of}"), note) }.data(table, "course.csv")
}

fn points(found: &Staged, value: fn(&StagedPoint) -> Option<f64>) -> Vec<Point> {
    let begins = std::iter::once(0.0).chain(found.course.iter().map(|point| point.until_s));
    // In the middle of its second.
    let point =
        |(from_s, point): (f64, &StagedPoint)| Some(Point::plain((from_s + point.until_s) / 2.0, value(point)?));
    begins.zip(&found.course).filter_map(point).collect()
}
