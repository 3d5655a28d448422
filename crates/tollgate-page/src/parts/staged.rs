//! A load in stages: each stage with what it asked for and what came, and asked, achieved and times over time. The page of
//! a run and that of a single load show the same.

use crate::blocks::{Block, Cell, Figure, Picture, Section, Table, TableRow};
use crate::chart::lines::{Kind, Line, Point};
use crate::number::{self, NOTHING};
use crate::words::sentence;
use crate::words::view::View;
use tollgate_facts::results::{StageFound, StageUnit, Staged, StagedPoint};

/// Of a run: the table of all cells, and each cell's course; absent of a run without stages.
pub fn section(view: &View<'_>) -> Option<Section> {
    let experiment = &view.run.experiment;
    let level = experiment.levels.first().map_or(0, |level| *level);
    let of = |played: &'_ Option<tollgate_facts::results::Played>| played.as_ref()?.staged.clone();
    let found: Vec<_> = view.rows.iter().filter_map(|row| Some((row, of(&row.cell.played)?))).collect();
    let mut table = Table::new("", std::iter::once("scenario").chain(HEAD)).file("stages.csv");
    for (row, staged) in &found {
        for (place, stage) in staged.stages.iter().enumerate() {
            let name = if place == 0 { row.name() } else { Cell::default() };
            let cells = std::iter::once(name).chain(self::row(staged, stage).into_iter().map(Cell::from));
            table.push(TableRow { tone: row.tone(&view.doubts), ..cells.collect::<Vec<_>>().into() });
        }
    }
    let unit = found.first()?.1.unit;
    let mut blocks = vec![Block::Table(table.some()?), Block::Legend(vec![shared(unit).to_owned()])];
    let courses = found.iter().enumerate();
    blocks
        .extend(courses.map(|(place, (row, staged))| {
            Block::Figure(course(staged, &row.cell.variant, &format!("course-{place}")))
        }));
    Some(Section::main(format!("The stages: {}", sentence::level(experiment, level)), blocks))
}

/// Of a single load.
pub fn of_load(found: &Staged) -> Section {
    let legend = Block::Legend(vec![shared(found.unit).to_owned()]);
    let blocks = vec![Block::Table(table(found)), legend, Block::Figure(course(found, "the load", "course"))];
    Section::main("The stages", blocks)
}

/// The stages of a single load as a table.
pub fn table(found: &Staged) -> Table {
    Table::new("", HEAD).with(found.stages.iter().map(|stage| row(found, stage))).file("stages.csv")
}

/// Heads of the columns behind those that say which stage it is.
const HEAD: [&str; 12] = [
    "stage",
    "asked",
    "seconds",
    "users",
    "whole/s",
    "answers/s",
    "failed",
    "never begun",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "max ms",
];

/// What the table leaves to be said.
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

fn row(staged: &Staged, stage: &StageFound) -> Vec<String> {
    let short = |value: f64| number::three_digits(value);
    let asked = match stage.asked_from.total_cmp(&stage.asked_to) {
        std::cmp::Ordering::Equal => short(stage.asked_to),
        _ => format!("{} → {}", short(stage.asked_from), short(stage.asked_to)),
    };
    let unit = if staged.unit == StageUnit::PerSecond { "/s" } else { "" };
    let some = |count: u64| if count == 0 { NOTHING.to_owned() } else { number::whole(count) };
    let times = stage.time_ms.as_ref();
    vec![
        stage.name.clone(),
        format!("{asked}{unit}"),
        short(stage.until_s - stage.from_s),
        short(stage.users_mean),
        short(stage.whole_per_second),
        short(stage.requests_per_second),
        some(stage.failed),
        some(stage.unstarted),
        number::optional(times.and_then(|times| times.p50)),
        number::optional(times.and_then(|times| times.p95)),
        number::optional(times.and_then(|times| times.p99)),
        number::optional(times.map(|times| times.max)),
    ]
}

/// One curve of a chart: its name and what of a point it shows.
type Curve = (&'static str, fn(&StagedPoint) -> Option<f64>);

fn course(found: &Staged, of: &str, id: &str) -> Figure {
    let is_rate = found.unit == StageUnit::PerSecond;
    let asked: (&str, &str, &[Curve]) = match is_rate {
        true => (
            "Asked for and begun",
            "per second",
            &[("asked", |point| Some(point.asked)), ("begun", |point| Some(point.begun_per_second))],
        ),
        false => (
            "Users asked for and at work",
            "users",
            &[("asked", |point| Some(point.asked)), ("at work", |point| Some(point.users))],
        ),
    };
    let ended: (&str, &str, &[Curve]) = (
        "What ended",
        "per second",
        &[
            ("whole", |point| Some(point.whole_per_second)),
            ("answers", |point| Some(point.requests_per_second)),
            ("failed", |point| Some(point.failed_per_second).filter(|failed| *failed > 0.0)),
        ],
    );
    let users: (&str, &str, &[Curve]) = ("Users at work", "users", &[("users", |point| Some(point.users))]);
    let times: (&str, &str, &[Curve]) = (
        if is_rate { "Times from when each was due" } else { "Times of what ended" },
        "ms",
        &[("p50", |point| point.p50_ms), ("p99", |point| point.p99_ms), ("longest", |point| point.max_ms)],
    );
    let mut charts = vec![asked, ended];
    if is_rate {
        charts.push(users);
    }
    charts.push(times);
    let picture = |(number, (title, label, curves)): (usize, (&str, &str, &[Curve]))| {
        let line = |(key, (name, value)): (usize, &Curve)| {
            let points = points(found, *value);
            (!points.is_empty()).then_some(Line { name, key: key + 1, kind: Kind::Curve, points })
        };
        let lines = curves.iter().enumerate().filter_map(line).collect();
        let picture = Picture::over_seconds(&format!("{id}-{number}"), title, label, lines);
        Picture { heading: Some(title.to_owned()), ..picture }
    };
    let pictures = charts.into_iter().enumerate().map(picture).collect();
    let label = format!("the course of {of}");
    let head = [
        "until second",
        "asked",
        "users at work",
        "begun/s",
        "whole/s",
        "answers/s",
        "failed/s",
        "p50 ms",
        "p99 ms",
        "max ms",
    ];
    let mut table = Table::new(label, head);
    for point in &found.course {
        let numbers = [
            point.until_s,
            point.asked,
            point.users,
            point.begun_per_second,
            point.whole_per_second,
            point.requests_per_second,
            point.failed_per_second,
        ];
        let times = [point.p50_ms, point.p99_ms, point.max_ms].map(number::optional);
        table.push(numbers.map(number::three_digits).into_iter().chain(times).collect::<Vec<_>>());
    }
    let note =
        "By second: what ended stands in the second in which it did. p50 stands where 10 ended, p99 where 100 did.";
    Figure { pictures, ..Figure::new(format!("The course of {of}"), note) }.data(table, "course.csv")
}

fn points(found: &Staged, value: fn(&StagedPoint) -> Option<f64>) -> Vec<Point> {
    let mut from_s = 0.0;
    let point = |point: &StagedPoint| {
        // In the middle of its second.
        let x = (from_s + point.until_s) / 2.0;
        from_s = point.until_s;
        value(point).map(|y| Point::plain(x, y))
    };
    found.course.iter().map(point).collect::<Vec<_>>().into_iter().flatten().collect()
}
