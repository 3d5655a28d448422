//! What a run about distance has on the page beyond other runs: what the line says, overhead as grouped bars, time against
//! what the link adds, and what a document's time is made of.

use super::parts::{Table, by_width, csv_link, escape, figure};
use crate::chart::grouped::{self, Bar, Group};
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Point, Standing};
use crate::chart::stacked::{self, Stack};
use crate::chart::{Caption, Size, Spacing};
use crate::distance;
use crate::marked;
use crate::number;
use crate::sentence;
use crate::view::{self, View};
use tollgate_facts::results::{Cell, Distances};

/// The parts of a document's time, in the order in which they are stacked.
const PARTS: [&str; 3] = ["compute", "database", "network"];

/// The section.
pub(super) fn section(view: &View<'_>) -> Option<String> {
    let distance = view.run.distance.as_ref().filter(|_| !view.rows.is_empty())?;
    let mut html = String::from("<section><h2>What each microsecond costs</h2>");
    for sentence in distance::sentences(view.run) {
        html.push_str(&format!("<p>{}</p>", escape(&sentence)));
    }
    for (place, found) in distance::tables(view).into_iter().enumerate() {
        let table = Table { head: found.head, rows: found.rows };
        html.push_str(&format!("<h3>{}</h3>{}", escape(&found.title), table.html(&found.title)));
        html.push_str(&csv_link("As CSV", &format!("distance-{}.csv", place + 1), &table.csv()));
    }
    html.push_str("</section><section><h2>Against distance</h2>");
    html.push_str(&overheads(view));
    html.push_str(&times(view, distance));
    html.push_str(&stacks(view));
    html.push_str("</section>");
    Some(html)
}

fn overheads(view: &View<'_>) -> String {
    let run = view.run;
    let levels: Vec<String> =
        run.experiment.levels.iter().map(|level| sentence::level(&run.experiment, *level)).collect();
    let groups: Vec<Group<'_>> = run
        .experiment
        .variants
        .iter()
        .filter(|variant| variant.baseline.is_some())
        .map(|variant| {
            let bar = |(key, level): (usize, &u64)| {
                let toll = view::tolls(run, &variant.name, *level).time.filter(|toll| toll.is_shown())?;
                let text = view.figure(&variant.name, *level, distance::overhead(Some(toll)));
                Some(Bar { key, ratio: toll.ratio, low: toll.low, high: toll.high, text })
            };
            Group { name: &variant.name, bars: run.experiment.levels.iter().enumerate().filter_map(bar).collect() }
        })
        .filter(|group| !group.bars.is_empty())
        .collect();
    let title = "Overhead by link and processes";
    let draw = |id: &str, size| {
        let description = "A group of bars for each link, a bar for each number of processes, with 95 % intervals.";
        grouped::draw(&Caption { id, title, description }, size, &levels, &groups)
    };
    let mut table = Table::new(["link", "processes", "overhead"]);
    for group in &groups {
        for bar in &group.bars {
            table.push(vec![group.name.to_owned(), levels[bar.key].clone(), bar.text.clone()]);
        }
    }
    let note =
        "Time of a document over the link without delay: what was measured in the same blocks. = no toll, ? unclear.";
    let pictures = by_width(draw("overhead-wide", Size::Full), draw("overhead-narrow", Size::Narrow));
    figure(title, note, &[pictures], &table.folded(title, "overhead.csv"))
}

fn times(view: &View<'_>, distance: &Distances) -> String {
    let run = view.run;
    let title = "Time of a document against what the link adds";
    let levels = &run.experiment.levels;
    let names: Vec<String> = levels.iter().map(|level| sentence::level(&run.experiment, *level)).collect();
    let of_level = |level: u64| {
        let mut cells: Vec<&Cell> = view.rows.iter().map(|row| row.cell).filter(|cell| cell.level == level).collect();
        let added = |cell: &&Cell| cell.batch.and_then(|batch| Some(batch.added_us?.mean)).unwrap_or(0.0);
        cells.sort_by(|one, other| added(one).total_cmp(&added(other)));
        cells
    };
    let point = |cell: &Cell| {
        if marked::is_refused(run, &cell.variant, cell.level) {
            return None;
        }
        let time = cell.unit_time_ms;
        let doubted = view.rows.iter().any(|row| std::ptr::eq(row.cell, cell) && !row.marks.is_empty());
        let standing = if doubted { Standing::Hollow } else { Standing::Plain };
        let x = cell.batch?.added_us?.mean / 1e3;
        Some(Point { x, y: time.mean, low: time.low, high: time.high, standing })
    };
    let plain = |x_us: f64, y_us: f64| Point {
        x: x_us / 1e3,
        y: y_us / 1e3,
        low: y_us / 1e3,
        high: y_us / 1e3,
        standing: Standing::Plain,
    };
    let draw = |id: &str, size| {
        let mut all: Vec<Line<'_>> = Vec::new();
        for (key, (level, name)) in levels.iter().zip(&names).enumerate() {
            let points: Vec<Point> = of_level(*level).into_iter().filter_map(point).collect();
            let farthest_us = points.iter().map(|point| point.x * 1e3).fold(0.0, f64::max);
            all.push(Line { name, key, kind: Kind::Measured, points });
            let fitted = match &distance.slope {
                Some(slope) if slope.level == *level => {
                    vec![plain(0.0, slope.at_us(0.0)), plain(farthest_us, slope.at_us(farthest_us))]
                }
                _ => {
                    let own = distance.hinges.iter().filter(|hinge| hinge.level == *level);
                    let mut points: Vec<Point> = own.map(|hinge| plain(hinge.added_us, hinge.expected_us)).collect();
                    points.sort_by(|one, other| one.x.total_cmp(&other.x));
                    points
                }
            };
            all.push(Line { name: "", key, kind: Kind::Ideal, points: fitted });
        }
        lines::draw(&Lines {
            caption: Caption { id, title, description: "A line for each number of processes; less is better." },
            size,
            x: Axis { label: "what the link adds to a round trip (ms)", spacing: Spacing::Linear, ticks: Vec::new() },
            y: Axis { label: "ms a document", spacing: Spacing::Linear, ticks: Vec::new() },
            lines: all,
            notes: Vec::new(),
        })
    };
    let mut table = Table::new(["link", "processes", "adds us", "ms a document", "95 % low", "95 % high"]);
    for level in levels {
        for cell in of_level(*level) {
            let added = cell.batch.and_then(|batch| batch.added_us).map(|added| added.mean);
            let time = cell.unit_time_ms;
            let Some(row) = view.row(&cell.variant, *level) else { continue };
            let mut figures = vec![number::optional(added)];
            figures.extend([time.mean, time.low, time.high].map(number::three_digits));
            table.push([row.name(), level.to_string()].into_iter().chain(view.figures(row, figures)).collect());
        }
    }
    let note = "Dotted: the fitted line by one process, and with more of them what is to be expected, the longest of CPU by \
                cores, the database's CPU by its cores, and one process's time by the processes. A hollow point has a doubt; \
                what is refused is not drawn.";
    let pictures = by_width(draw("distance-wide", Size::Full), draw("distance-narrow", Size::Narrow));
    figure(title, note, &[pictures], &table.folded(title, "time-against-distance.csv"))
}

fn stacks(view: &View<'_>) -> String {
    let run = view.run;
    let title = "What a document's time is made of";
    let names: Vec<String> = view
        .rows
        .iter()
        .map(|row| format!("{}, {}", row.name(), sentence::level(&run.experiment, row.cell.level)))
        .collect();
    let mut table = Table::new(["link and processes", "compute us", "database us", "network us"]);
    let mut all: Vec<Stack<'_>> = Vec::new();
    for (row, name) in view.rows.iter().zip(&names) {
        let Some(parts) = distance::parts(run, row.cell) else { continue };
        let figures = view.figures(row, parts.map(number::three_digits).to_vec());
        table.push(std::iter::once(name.clone()).chain(figures).collect());
        if marked::is_refused(run, &row.cell.variant, row.cell.level) {
            continue;
        }
        let text = format!("{} ms", number::three_digits(parts.iter().sum::<f64>() / 1e3));
        all.push(Stack { name, values: parts.iter().map(|us| us / 1e3).collect(), text });
    }
    let draw = |id: &str, size| {
        let description = "A bar for each link and number of processes: compute, database and network.";
        stacked::draw(&Caption { id, title, description }, size, "ms in the process that has it", &PARTS, &all)
    };
    let note = "In the process that has it. Network is round trips times what the link adds; database is the rest of what was \
                waited for there.";
    let pictures = by_width(draw("stack-wide", Size::Full), draw("stack-narrow", Size::Narrow));
    figure(title, note, &[pictures], &table.folded(title, "time-parts.csv"))
}
