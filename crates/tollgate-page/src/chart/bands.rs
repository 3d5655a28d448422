//! Bands over levels: one small panel for each variant, a line through its typical values and a band up to its slow ones,
//! all on the same logarithmic scales.

use super::axis::{self, text_width};
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
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
/// Maximum number of level labels below a panel: more would overlap.
const LEVELS_MAX: usize = 5;

/// Draws it; `label` names the values, `levels` are the marked ones.
pub fn draw(size: Size, label: &str, levels: &[(f64, String)], panels: &[Band<'_>]) -> Canvas {
    let values = || panels.iter().flat_map(|panel| panel.points.iter().flat_map(|point| [point.1, point.2]));
    let every = levels.len().div_ceil(LEVELS_MAX).max(1);
    axis::panels(size, (panels.len(), PANEL_HEIGHT, 26.0), (label, "nothing was measured"), |canvas, index, plot| {
        let panel = &panels[index];
        let x = Scale::over(Spacing::Logarithmic, levels.iter().map(|level| level.0), plot.left, plot.right);
        let y = Scale::over(Spacing::Logarithmic, values(), plot.bottom, plot.top).with_margin(0.04);
        axis::panel(canvas, plot, &y, axis::labelled_each(y.ticks(TICKS)), panel.name);
        let is_shown = |(level, low, high): &&(f64, f64, f64)| x.shows(*level) && y.shows(*low) && y.shows(*high);
        let shown: Vec<&(f64, f64, f64)> = panel.points.iter().filter(is_shown).collect();
        let key = key_class(panel.key);
        let line: Vec<(f64, f64)> = shown.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
        let back: Vec<(f64, f64)> = shown.iter().rev().map(|point| (x.at(point.0), y.at(point.2))).collect();
        canvas.area(&format!("area {key}"), &[line.as_slice(), &back].concat());
        canvas.path(&format!("trace {key}"), &line);
        for (value, text) in levels.iter().step_by(every).filter(|(value, _)| x.shows(*value)) {
            let at = x.at(*value).min(plot.right - text_width(text) / 2.0);
            canvas.text("tick", Anchor::Middle, (at, plot.bottom + 15.0), text);
        }
    })
}
