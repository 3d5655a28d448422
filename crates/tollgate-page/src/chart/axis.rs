//! Axes: thin lines, tick labels, the measured quantity; and labels beside lines that do not overlap.

use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::{Size, key_class};
use crate::text::cut;

/// Height of a line of text in a chart.
pub(super) const TEXT_HEIGHT: f64 = 14.0;
/// Height of one line of a key.
pub(super) const KEY_HEIGHT: f64 = 18.0;
/// Width of the values beside a small panel: `60,000`.
const PANEL_TICKS_WIDTH: f64 = 48.0;
/// Mean width of a character of that text.
pub(super) const CHARACTER_WIDTH: f64 = 6.3;
/// The same of a value.
const DIGIT_WIDTH: f64 = 7.4;

/// The rectangle of the values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plot {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// Horizontal rules with their values, and the name of the values above them.
pub(super) fn vertical(canvas: &mut Canvas, plot: Plot, scale: &Scale, ticks: &[(f64, String)], label: &str) {
    for (value, text) in ticks {
        let y = scale.at(*value);
        canvas.line("rule", (plot.left, y), (plot.right, y));
        canvas.text("tick", Anchor::End, (plot.left - 6.0, y + 4.0), text);
    }
    canvas.text("axis", Anchor::Start, (0.0, plot.top - 16.0), label);
}

/// The base line with its values below it, and their name.
pub(super) fn horizontal(canvas: &mut Canvas, plot: Plot, scale: &Scale, ticks: &[(f64, String)], label: &str) {
    canvas.line("base", (plot.left, plot.bottom), (plot.right, plot.bottom));
    let mut free_from = f64::NEG_INFINITY;
    for (value, text) in ticks {
        let x = scale.at(*value);
        canvas.line("base", (x, plot.bottom), (x, plot.bottom + 4.0));
        let half = text_width(text) / 2.0;
        if x - half >= free_from {
            canvas.text("tick", Anchor::Middle, (x, plot.bottom + 17.0), text);
            free_from = x + half + 4.0;
        }
    }
    canvas.text("axis", Anchor::End, (plot.right, plot.bottom + 34.0), label);
}

/// Vertical rules at the marked values, the base line with the values below it, and their name.
pub(super) fn ruled(canvas: &mut Canvas, plot: Plot, scale: &Scale, ticks: &[(f64, String)], label: &str) {
    for (value, _) in ticks {
        canvas.line("rule", (scale.at(*value), plot.top), (scale.at(*value), plot.bottom));
    }
    horizontal(canvas, plot, scale, ticks, label);
}

/// Vertical rules at round values of a logarithmic scale, with the value and `unit` below those that have room.
pub(super) fn rules(canvas: &mut Canvas, plot: Plot, scale: &Scale, about: usize, unit: &str, right: f64) {
    let mut free_from = 0.0;
    for (tick, text) in labelled_each(scale.ticks(about)) {
        let x = scale.at(tick);
        canvas.line("rule", (x, plot.top), (x, plot.bottom));
        let text = format!("{text}{unit}");
        let half = text_width(&text) / 2.0;
        if x - half >= free_from && x + half <= right {
            canvas.text("tick", Anchor::Middle, (x, plot.bottom + 15.0), &text);
            free_from = x + half + 4.0;
        }
    }
}

/// An interval as a whisker with ends.
pub(super) fn interval(canvas: &mut Canvas, scale: &Scale, y: f64, low: f64, high: f64) {
    let (low, high) = (scale.at(low), scale.at(high));
    canvas.line("interval", (low, y), (high, y));
    for end in [low, high] {
        canvas.line("interval", (end, y - 4.0), (end, y + 4.0));
    }
}

/// The colour key, above the plot.
pub(super) fn key<T: AsRef<str>>(canvas: &mut Canvas, class: &str, names: &[T]) {
    let mut at = 0.0;
    for (key, name) in names.iter().map(AsRef::as_ref).enumerate() {
        canvas.rectangle(&format!("{class} {}", key_class(key)), (at, 4.0), (12.0, 12.0));
        canvas.text("label", Anchor::Start, (at + 18.0, 14.0), name);
        at += 18.0 + text_width(name) + 18.0;
    }
}

/// The places of a key's entries: beside each other as far as they fit.
pub(super) fn key_places(names: &[&str], width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let needed = text_width(name) + 34.0;
        if x > 0.0 && x + needed > width {
            (x, y) = (0.0, y + KEY_HEIGHT);
        }
        places.push((x, y));
        x += needed;
    }
    places
}

/// A text where there is nothing to draw.
pub(super) fn nothing(canvas: &mut Canvas, plot: Plot) {
    let middle = ((plot.left + plot.right) / 2.0, (plot.top + plot.bottom) / 2.0);
    canvas.text("axis", Anchor::Middle, middle, "nothing was measured");
}

/// Small panels beside and below each other, with their count and height, the name of their values above them, and a
/// text for no values: `draw` fills one. `foot` is the space below the plot of each.
pub(super) fn panels(
    size: Size,
    (count, height, foot): (usize, f64, f64),
    (label, nothing): (&str, &str),
    mut draw: impl FnMut(&mut Canvas, usize, Plot),
) -> Canvas {
    let (width, columns) = (size.width(), size.columns());
    let rows = count.div_ceil(columns).max(1);
    let mut canvas = Canvas::new(width, 24.0 + rows as f64 * height + 22.0);
    canvas.text("axis", Anchor::Start, (0.0, 12.0), label);
    let panel_width = (width + 16.0) / columns as f64;
    for index in 0..count {
        let left = (index % columns) as f64 * panel_width;
        let top = 24.0 + (index / columns) as f64 * height;
        let (right, bottom) = (left + panel_width - 18.0, top + height - foot);
        draw(&mut canvas, index, Plot { left: left + PANEL_TICKS_WIDTH, top: top + 22.0, right, bottom });
    }
    if count == 0 {
        canvas.text("axis", Anchor::Middle, (width / 2.0, 80.0), nothing);
    }
    canvas
}

/// The values of one panel's scale with their rules, and its name.
pub(super) fn panel(canvas: &mut Canvas, plot: Plot, scale: &Scale, ticks: Vec<(f64, String)>, name: &str) {
    for (value, text) in ticks {
        canvas.line("rule", (plot.left, scale.at(value)), (plot.right, scale.at(value)));
        canvas.text("tick", Anchor::End, (plot.left - 5.0, scale.at(value) + 4.0), &text);
    }
    let name = fitted(name, (plot.right - plot.left) * 0.88);
    canvas.text("panel", Anchor::Start, (plot.left, plot.top - 7.0), &name);
}

/// Text of ticks, with as many decimals as are needed to distinguish them.
pub(super) fn labelled(ticks: Vec<f64>) -> Vec<(f64, String)> {
    let decimals = (0..=6)
        .find(|decimals| {
            let scale = 10f64.powi(*decimals);
            ticks.iter().all(|tick| ((tick * scale).round() / scale - tick).abs() <= tick.abs() * 1e-6)
        })
        .unwrap_or(6);
    ticks.into_iter().map(|tick| (tick, crate::number::grouped(tick, decimals as usize))).collect()
}

/// Text of ticks with their own number of digits each, for logarithmic axes.
pub(super) fn labelled_each(ticks: Vec<f64>) -> Vec<(f64, String)> {
    ticks.into_iter().flat_map(|tick| labelled(vec![tick])).collect()
}

/// Approximate width of a text.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER_WIDTH
}

/// Approximate width of a text of the class `value`, which is larger and mostly digits.
pub(super) fn value_width(text: &str) -> f64 {
    text.chars().count() as f64 * DIGIT_WIDTH
}

/// A name cut to a width; the table below contains it in full.
pub(super) fn fitted(name: &str, width: f64) -> String {
    cut(name, (width / CHARACTER_WIDTH).floor().max(3.0) as usize)
}

/// Moves labels apart: each as near to its own place as `gap` and the ends allow, in the order of their places.
pub(super) fn spread(places: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let gap = gap.min((bottom - top) / places.len().saturating_sub(1).max(1) as f64);
    let mut spread = places.to_vec();
    let mut free_from = top;
    for &index in &order {
        spread[index] = spread[index].max(free_from);
        free_from = spread[index] + gap;
    }
    let mut free_to = bottom;
    for &index in order.iter().rev() {
        spread[index] = spread[index].min(free_to);
        free_to = spread[index] - gap;
    }
    spread
}
