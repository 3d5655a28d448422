//! Values watched over time: one small panel for each variant, all on the same scales, so that they compare at a
//! glance. Slices of the variants alternate, so the pauses in which others had their turn are cut out.

use super::axis;
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
use super::{Size, key_class};
use crate::number;

/// One variant's panel.
#[derive(Default)]
pub struct Panel {
    /// Its heading.
    pub name: String,
    /// Index of its colour.
    pub key: usize,
    /// Seconds as [`joined`] and value.
    pub points: Vec<(f64, f64)>,
    /// Values stacked on the points, such as waiting on working ones, equally many or none; then the area below the
    /// points is filled, as for a count of things in use. Absent for a line.
    pub above: Option<Vec<(f64, f64)>>,
    /// The moving average, drawn over the points; empty without one.
    pub average: Vec<(f64, f64)>,
}

/// Points of one chart, over all its panels: a page of half a megabyte has room for these.
pub const POINTS_MAX: usize = 240;
/// Minimum number of points of one panel, whatever the number of panels.
const PANEL_POINTS_MIN: usize = 20;
/// Most panels whose points say their values: of more a page of half a megabyte has no room for them.
const NAMED_PANELS_MAX: usize = 8;

const PANEL_HEIGHT: f64 = 118.0;
const TICKS: usize = 3;

/// The same values with time counted only inside `slices` (start and length, in order): the variant's own seconds.
pub fn joined(points: &[(f64, f64)], slices: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if slices.is_empty() {
        return points.to_vec();
    }
    let own_time = |time: f64| {
        let begun = slices.iter().take_while(|(start, _)| *start <= time);
        begun.map(|(start, length)| (time - start).min(*length)).sum::<f64>()
    };
    points.iter().map(|(time, value)| (own_time(*time), *value)).collect()
}

/// For each point the mean of all points within `seconds` before it, itself counted.
pub fn averaged(points: &[(f64, f64)], seconds: f64) -> Vec<(f64, f64)> {
    let mut begin = 0;
    let mean_until = |(place, (time, _)): (usize, &(f64, f64))| {
        while begin < place && points[begin].0 <= time - seconds {
            begin += 1;
        }
        let values = &points[begin..=place];
        (*time, values.iter().map(|(_, value)| value).sum::<f64>() / values.len() as f64)
    };
    points.iter().enumerate().map(mean_until).collect()
}

/// At most as many points as fit, the largest of each stretch kept.
pub fn thinned(points: &[(f64, f64)], panels: usize) -> Vec<(f64, f64)> {
    let largest = |stretch: &[(f64, f64)]| stretch.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(stretch(points, panels)).filter_map(largest).collect()
}

/// At most as many points as fit, the last of each stretch kept: smooth values have no peaks to keep.
pub fn sampled(points: &[(f64, f64)], panels: usize) -> Vec<(f64, f64)> {
    points.chunks(stretch(points, panels)).filter_map(|stretch| stretch.last().copied()).collect()
}

/// Number of points in a stretch; one of them is drawn.
fn stretch(points: &[(f64, f64)], panels: usize) -> usize {
    let max = (POINTS_MAX / panels.max(1)).max(PANEL_POINTS_MIN);
    points.len().div_ceil(max).max(1)
}

/// Draws it; `label` names the values and their unit.
pub fn draw(size: Size, label: &str, panels: &[Panel]) -> Canvas {
    let times = || panels.iter().flat_map(|panel| panel.points.iter().map(|point| point.0));
    let values =
        || panels.iter().flat_map(|panel| panel.points.iter().chain(panel.above.iter().flatten()).map(|point| point.1));
    axis::panels(size, (panels.len(), PANEL_HEIGHT, 20.0), (label, "nothing was watched"), |canvas, index, plot| {
        let x = Scale::over(Spacing::Linear, times().chain([0.0]), plot.left, plot.right);
        let y = Scale::over(Spacing::Linear, values().chain([0.0]), plot.bottom, plot.top).rounded(TICKS);
        axis::panel(canvas, plot, &y, axis::labelled(y.ticks(TICKS)), &panels[index].name);
        canvas.label_values("time (s)", label);
        let panel = &panels[index];
        if panels.len() > NAMED_PANELS_MAX {
            draw_values(canvas, panel, (&x, &y));
        } else {
            canvas.series(index, &panel.name, &texts(panel, (&x, &y)), |canvas| draw_values(canvas, panel, (&x, &y)));
        }
        let is_last_row = index + size.columns() >= panels.len();
        for (value, text) in axis::labelled(x.ticks(TICKS)).into_iter().filter(|_| is_last_row) {
            canvas.text("tick", Anchor::Middle, (x.at(value), plot.bottom + 15.0), &format!("{text} s"));
        }
    })
}

/// The texts of the points that are shown: time and value.
fn texts(panel: &Panel, (x, y): (&Scale, &Scale)) -> Vec<(String, String)> {
    let shown = panel.points.iter().filter(|point| x.shows(point.0) && y.shows(point.1));
    shown.map(|point| (number::three_digits(point.0), number::three_digits(point.1))).collect()
}

fn draw_values(canvas: &mut Canvas, panel: &Panel, (x, y): (&Scale, &Scale)) {
    let key = key_class(panel.key);
    let floor = y.at(y.low.max(0.0));
    let places = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let shown = points.iter().filter(|point| x.shows(point.0) && y.shows(point.1));
        shown.map(|point| (x.at(point.0), y.at(point.1))).collect()
    };
    let line = places(&panel.points);
    let (Some(first), Some(last)) = (line.first(), line.last()) else { return };
    if let Some(above) = &panel.above {
        canvas.path("above", &places(above));
        let (first, last) = ([(first.0, floor)], [(last.0, floor)]);
        canvas.area(&format!("area {key}"), &[&first, line.as_slice(), &last].concat());
    }
    canvas.path(&format!("trace {key}"), &line);
    canvas.path("average", &places(&panel.average));
}
