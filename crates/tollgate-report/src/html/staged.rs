//! What a load in stages has on the page beyond other loads: the table of stages, and asked, achieved and times over time.

use super::parts::{Table, by_width, csv_link, escape, figure};
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Point, Standing};
use crate::chart::{Caption, Size, Spacing};
use crate::view::View;
use crate::{number, staged};
use tollgate_facts::results::{StageUnit, Staged, StagedPoint};

/// Of a run: the table of all cells, and each cell's course.
pub(super) fn section(view: &View<'_>) -> Option<String> {
    let found = staged::table(view)?;
    let table = Table { head: found.table.head.clone(), rows: found.table.rows.clone() };
    let title = &found.table.title;
    let mut html = stages(&table, title, &table.html_marked(title, &found, view), staged::unit_of(view)?);
    for (place, row) in view.rows.iter().enumerate() {
        let Some(staged) = row.cell.played.as_ref().and_then(|played| played.staged.as_ref()) else { continue };
        html.push_str(&course(staged, &row.cell.variant, &format!("course-{place}")));
    }
    Some(format!("<section>{html}</section>"))
}

/// Of a single load.
pub(super) fn of_load(found: &Staged) -> String {
    let table = staged::of_load(found);
    let title = table.title;
    let table = Table { head: table.head, rows: table.rows };
    let html = stages(&table, &title, &table.html(&title), found.unit);
    format!("<section>{html}{}</section>", course(found, "the load", "course"))
}

fn stages(table: &Table, title: &str, html: &str, unit: StageUnit) -> String {
    let csv = csv_link("As CSV", "stages.csv", &table.csv());
    format!("<h2>{}</h2>{html}{csv}<p class=\"key\">{}.</p>", escape(title), escape(staged::shared(unit)))
}

/// One curve of a chart: its name and what of a point it shows.
type Curve = (&'static str, fn(&StagedPoint) -> Option<f64>);

fn course(found: &Staged, of: &str, id: &str) -> String {
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
    let pictures: Vec<String> = charts
        .into_iter()
        .enumerate()
        .map(|(number, (title, label, curves))| {
            let draw = |width: &str, size| {
                let id = format!("{id}-{number}-{width}");
                let description = "Over the seconds of the load.";
                let axis = |label| Axis { label, spacing: Spacing::Linear, ticks: Vec::new() };
                let lines = curves.iter().enumerate().filter_map(|(key, (name, value))| {
                    let points = points(found, *value);
                    (!points.is_empty()).then_some(Line { name, key: key + 1, kind: Kind::Curve, points })
                });
                let caption = Caption { id: &id, title, description };
                let (x, y, notes) = (axis("seconds"), axis(label), Vec::new());
                lines::draw(&Lines { caption, size, x, y, lines: lines.collect(), notes })
            };
            let heading = format!("<h4>{}</h4>", escape(title));
            format!("{heading}{}", by_width(draw("wide", Size::Full), draw("narrow", Size::Narrow)))
        })
        .collect();
    let mut table = Table::new([
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
    ]);
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
        table.push(numbers.map(number::three_digits).into_iter().chain(times).collect());
    }
    let note =
        "By second: what ended stands in the second in which it did. p50 stands where 10 ended, p99 where 100 did.";
    let label = format!("the course of {of}");
    figure(&format!("The course of {of}"), note, &pictures, &table.folded(&label, "course.csv"))
}

fn points(found: &Staged, value: fn(&StagedPoint) -> Option<f64>) -> Vec<Point> {
    let mut from_s = 0.0;
    let point = |point: &StagedPoint| {
        // In the middle of its second.
        let x = (from_s + point.until_s) / 2.0;
        from_s = point.until_s;
        value(point).map(|y| Point { x, y, low: y, high: y, standing: Standing::Plain })
    };
    found.course.iter().map(point).collect::<Vec<_>>().into_iter().flatten().collect()
}
