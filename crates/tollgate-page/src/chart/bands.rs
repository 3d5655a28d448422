//! Bands over levels: one small panel for each variant, a line through its typical values and a band up to its slow ones,
//! all on the same logarithmic scales.

use super::axis::{self, Plot, fitted};
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas, Caption};
use super::{Size, key_class};

/// One variant's panel.
pub struct Band<'a> {
    /// Its heading.
    pub name: &'a str,
    /// Index of its colour.
    pub key: usize,
    /// Level, lower end of the band, which the line goes through, and upper end.
    pub points: Vec<(f64, f64, f64)>,
}

const PANEL_HEIGHT: f64 = 138.0;
const TICKS: usize = 4;
/// Labels of levels below a panel, at most: more would run into each other.
const LEVELS_MAX: usize = 5;

/// Draws it; `label` says what the values are, `levels` which are marked.
pub fn draw(caption: &Caption<'_>, size: Size, label: &str, levels: &[(f64, String)], panels: &[Band<'_>]) -> String {
    let width = size.width();
    let columns = size.columns();
    let rows = panels.len().div_ceil(columns).max(1);
    let mut canvas = Canvas::new(width, 24.0 + rows as f64 * PANEL_HEIGHT + 22.0);
    canvas.text("axis", Anchor::Start, (0.0, 12.0), label);
    let panel_width = (width + 16.0) / columns as f64;
    let values = || panels.iter().flat_map(|panel| panel.points.iter().flat_map(|point| [point.1, point.2]));
    let every = levels.len().div_ceil(LEVELS_MAX).max(1);
    for (index, panel) in panels.iter().enumerate() {
        let left = (index % columns) as f64 * panel_width;
        let top = 24.0 + (index / columns) as f64 * PANEL_HEIGHT;
        let plot = Plot { left: left + 40.0, top: top + 22.0, right: left + panel_width - 18.0, bottom: top + 112.0 };
        let x = Scale::over(Spacing::Logarithmic, levels.iter().map(|level| level.0), plot.left, plot.right);
        let y = Scale::over(Spacing::Logarithmic, values(), plot.bottom, plot.top).with_margin(0.04);
        for (value, text) in axis::labelled_each(y.ticks(TICKS)) {
            canvas.line("rule", (plot.left, y.at(value)), (plot.right, y.at(value)));
            canvas.text("tick", Anchor::End, (plot.left - 5.0, y.at(value) + 4.0), &text);
        }
        let name = fitted(panel.name, (plot.right - plot.left) * 0.88);
        canvas.text("panel", Anchor::Start, (plot.left, plot.top - 7.0), &name);
        let shown: Vec<&(f64, f64, f64)> = panel
            .points
            .iter()
            .filter(|(level, low, high)| x.shows(*level) && y.shows(*low) && y.shows(*high))
            .collect();
        let key = key_class(panel.key);
        let line: Vec<(f64, f64)> = shown.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
        let back = shown.iter().rev().map(|point| (x.at(point.0), y.at(point.2)));
        canvas.area(&format!("area {key}"), &[line.iter().copied().chain(back).collect()]);
        canvas.path(&format!("trace {key}"), &[line]);
        for (value, text) in levels.iter().step_by(every).filter(|(value, _)| x.shows(*value)) {
            canvas.text("tick", Anchor::Middle, (x.at(*value), plot.bottom + 15.0), text);
        }
    }
    if panels.is_empty() {
        canvas.text("axis", Anchor::Middle, (width / 2.0, 80.0), "nothing was measured");
    }
    canvas.finish(caption)
}
