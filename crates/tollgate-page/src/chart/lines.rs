//! Lines over levels: measured points with their intervals, the ideal dotted, names at the ends of the lines.

use super::axis::{self, Plot, TEXT_HEIGHT, fitted, text_width};
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
use super::{Size, Standing, key_class};
use crate::number;
use tollgate_facts::stats::Estimate;

/// A line chart.
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
    /// Words at levels.
    pub notes: Vec<Note>,
}

/// A word at a level, with a dashed line up to it.
#[derive(Debug, Clone)]
pub struct Note {
    /// Horizontal place.
    pub x: f64,
    /// The word.
    pub text: String,
}

/// One axis.
pub struct Axis {
    /// The name of the values.
    pub label: String,
    /// Their spacing.
    pub spacing: Spacing,
    /// Marked values; round ones if there are none.
    pub ticks: Vec<(f64, String)>,
    /// Formats the value of a point.
    pub write: fn(f64) -> String,
}

/// One line.
pub struct Line {
    /// The label at its end; empty for none.
    pub name: String,
    /// Index of its colour, marker and dashes.
    pub key: usize,
    /// Its meaning.
    pub kind: Kind,
    /// Its points, from the left.
    pub points: Vec<Point>,
}

/// The meaning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Each point was measured and has its marker.
    Measured,
    /// A curve of very many values: no markers but one at its end.
    Curve,
    /// The ideal course: dotted.
    Ideal,
}

/// One value with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its place on the x axis.
    pub x: f64,
    /// Its value on the y axis.
    pub y: f64,
    /// Lower end of the interval of `y`.
    pub low: f64,
    /// Upper end of the interval of `y`.
    pub high: f64,
    /// Whether it is free of doubt.
    pub standing: Standing,
}

impl Point {
    /// A value without an interval.
    pub fn plain(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y, standing: Standing::Plain }
    }

    /// A mean with its interval.
    pub fn of(x: f64, estimate: Estimate, standing: Standing) -> Self {
        Self { x, y: estimate.mean, low: estimate.low, high: estimate.high, standing }
    }

    /// The value with its interval, if it has one.
    pub(super) fn text(&self, write: fn(f64) -> String) -> String {
        let interval = (self.high > self.low).then(|| format!(" [{}, {}]", write(self.low), write(self.high)));
        write(self.y) + &interval.unwrap_or_default()
    }
}

impl Lines {
    /// A chart without notes.
    pub fn new(x: Axis, y: Axis, lines: Vec<Line>) -> Self {
        Self { x, y, lines, notes: Vec::new() }
    }
}

impl Axis {
    /// An axis from zero with round values.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), spacing: Spacing::Linear, ticks: Vec::new(), write: number::three_digits }
    }

    /// An axis on which equal ratios are equally far apart, with round values.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { spacing: Spacing::Logarithmic, ..Self::linear(label) }
    }

    /// The text of a value's mark, else the value as this axis writes it.
    fn text(&self, value: f64) -> String {
        let marked = self.ticks.iter().find(|(tick, _)| tick.total_cmp(&value).is_eq());
        marked.map_or_else(|| (self.write)(value), |(_, text)| text.clone())
    }
}

impl Line {
    /// A line with its name, which may be empty.
    pub fn new(name: impl Into<String>, key: usize, kind: Kind, points: Vec<Point>) -> Self {
        Self { name: name.into(), key, kind, points }
    }
}

const TICKS: usize = 6;
/// Maximum share of the width for names beside the plot.
const NAMES_SHARE_MAX: f64 = 0.33;
/// Maximum distance between a line's end and the right edge for a leader to its name.
const LEADER_LENGTH_MAX: f64 = 24.0;

/// Draws it.
pub fn draw(size: Size, chart: &Lines) -> Canvas {
    let width = size.width();
    let height = if size == Size::Narrow { 290.0 } else { 310.0 };
    let names = chart.lines.iter().map(|line| text_width(&line.name)).fold(0.0, f64::max);
    // Names that have no room at the ends of their lines stand above the plot.
    let is_beside = names + 4.0 <= width * NAMES_SHARE_MAX;
    let label_width = if is_beside { names + 4.0 } else { 0.0 };
    let named: Vec<&str> = chart.lines.iter().map(|line| line.name.as_str()).collect();
    let key = if is_beside { Vec::new() } else { axis::key_places(&named, width) };
    let key_height = key.last().map_or(0.0, |last| last.1 + axis::KEY_HEIGHT);
    let height = height + key_height;
    let (top, right, bottom) = (30.0 + key_height, width - label_width - 20.0, height - 42.0);

    let points = || chart.lines.iter().flat_map(|line| &line.points);
    let zero = (chart.y.spacing == Spacing::Linear).then_some(0.0);
    let ends = points().flat_map(|point| [point.y, point.low, point.high]).chain(zero);
    let y = Scale::over(chart.y.spacing, ends, bottom, top);
    let y = match chart.y.spacing {
        Spacing::Linear => y.rounded(TICKS),
        Spacing::Logarithmic => y.with_margin(0.04),
    };
    let y_ticks = ticks(&chart.y, &y);
    let left = y_ticks.iter().map(|(_, text)| text_width(text)).fold(26.0, f64::max) + 14.0;
    let plot = Plot { left, top, right, bottom };
    let x = Scale::over(chart.x.spacing, points().map(|point| point.x), plot.left + 8.0, plot.right - 8.0);

    let mut canvas = Canvas::new(width, height);
    axis::vertical(&mut canvas, plot, &y, &y_ticks, &chart.y.label);
    axis::horizontal(&mut canvas, plot, &x, &ticks(&chart.x, &x), &chart.x.label);

    for (index, note) in chart.notes.iter().filter(|note| x.shows(note.x)).enumerate() {
        let (at, top) = (x.at(note.x), plot.top + 10.0 + index as f64 * TEXT_HEIGHT);
        canvas.line("note-line", (at, top + 3.0), (at, plot.bottom));
        let (anchor, shift) =
            if at + text_width(&note.text) + 4.0 > plot.right { (Anchor::End, -4.0) } else { (Anchor::Start, 4.0) };
        canvas.text("note", anchor, (at + shift, top), &note.text);
    }

    canvas.label_values(&chart.x.label, &chart.y.label);
    let mut ends = Vec::new();
    for (place, line) in chart.lines.iter().enumerate() {
        let shown: Vec<&Point> = line.points.iter().filter(|point| x.shows(point.x) && y.shows(point.y)).collect();
        let places: Vec<(f64, f64)> = shown.iter().map(|point| (x.at(point.x), y.at(point.y))).collect();
        let Some(&end) = places.last() else { continue };
        let key = key_class(line.key);
        let class = if line.kind == Kind::Ideal { format!("ideal {key}") } else { format!("line {key}") };
        let text = |point: &&Point| (chart.x.text(point.x), point.text(chart.y.write));
        let texts: Vec<(String, String)> =
            if line.kind == Kind::Ideal { Vec::new() } else { shown.iter().map(text).collect() };
        canvas.series(place, &line.name, &texts, |canvas| {
            canvas.path(&class, &places);
            for (point, place) in shown.iter().zip(&places).filter(|_| line.kind == Kind::Measured) {
                if y.shows(point.low) && y.shows(point.high) && point.high > point.low {
                    canvas.line(&format!("whisker {key}"), (place.0, y.at(point.low)), (place.0, y.at(point.high)));
                }
                canvas.marker(point.standing, line.key, *place);
            }
        });
        ends.push((place, line, end));
    }

    let places: Vec<f64> = ends.iter().map(|(_, _, end)| end.1).collect();
    let spread = axis::spread(&places, TEXT_HEIGHT, plot.top + 2.0, plot.bottom);
    let edge = plot.right + 4.0;
    for (place, (line, (x, y))) in
        chart.lines.iter().zip(&key).enumerate().filter(|(_, (line, _))| !line.name.is_empty())
    {
        canvas.label(place, |canvas| {
            match line.kind {
                Kind::Ideal => canvas.line("ideal", (*x, y + 8.0), (x + 12.0, y + 8.0)),
                _ => canvas.marker(Standing::Plain, line.key, (x + 6.0, y + 8.0)),
            }
            canvas.text("label", Anchor::Start, (x + 16.0, y + 12.0), &fitted(&line.name, width - 20.0));
        });
    }
    for ((place, line, end), y) in ends.iter().zip(spread).filter(|_| is_beside) {
        // A line that ends early is known by its marker: a leader across the plot would be read as data.
        if (y - end.1).abs() > 3.0 && end.0 > plot.right - LEADER_LENGTH_MAX {
            canvas.line("leader", (end.0 + 5.0, end.1), (edge, y));
        }
        canvas.label(*place, |canvas| {
            if line.kind != Kind::Ideal {
                canvas.marker(Standing::Plain, line.key, (edge + 6.0, y));
            }
            canvas.text("label", Anchor::Start, (edge + 14.0, y + 4.0), &fitted(&line.name, label_width));
        });
    }
    if ends.is_empty() {
        axis::nothing(&mut canvas, plot);
    }
    canvas
}

fn ticks(axis: &Axis, scale: &Scale) -> Vec<(f64, String)> {
    if !axis.ticks.is_empty() {
        return axis.ticks.iter().filter(|(value, _)| scale.shows(*value)).cloned().collect();
    }
    match axis.spacing {
        Spacing::Linear => axis::labelled(scale.ticks(TICKS)),
        Spacing::Logarithmic => axis::labelled_each(scale.ticks(TICKS + 1)),
    }
}
