//! Distributions over bins of one width, laid over each other as outlines; what lies beyond the last bin stands in a
//! slot of its own, so that a tail is seen and not stretched.

use super::axis::{self, Plot, fitted, text_width};
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
use super::{Size, key_class};

/// One distribution.
pub struct Outline<'a> {
    /// Its name in the key.
    pub name: &'a str,
    /// Index of its colour.
    pub key: usize,
    /// Share of each bin, 0 to 1, from zero.
    pub shares: Vec<f64>,
    /// Share of what lies beyond the last bin.
    pub beyond: f64,
}

/// The bins.
#[derive(Debug, Clone, Copy)]
pub struct Bins<'a> {
    /// Width of each.
    pub width: f64,
    /// How many are drawn.
    pub count: usize,
    /// Their unit.
    pub unit: &'a str,
}

const PLOT_HEIGHT: f64 = 220.0;
const KEY_HEIGHT: f64 = 18.0;
const TICKS: usize = 6;
/// Least room of the slot behind the last bin.
const SLOT_WIDTH: f64 = 64.0;
/// Room between the last bin and the slot.
const SLOT_GAP: f64 = 14.0;

/// Draws it.
pub fn draw(size: Size, bins: Bins<'_>, outlines: &[Outline<'_>]) -> Canvas {
    let width = size.width();
    let edge = bins.width * bins.count as f64;
    let texts: Vec<String> = outlines.iter().map(|outline| key_text(outline, edge, bins.unit)).collect();
    let columns = (width / (texts.iter().map(|text| text_width(text)).fold(60.0, f64::max) + 30.0)).floor().max(1.0);
    let rows = outlines.len().div_ceil(columns as usize);
    let top = 14.0 + rows as f64 * KEY_HEIGHT + 26.0;
    let mut canvas = Canvas::new(width, top + PLOT_HEIGHT + 42.0);
    for (index, (outline, text)) in outlines.iter().zip(&texts).enumerate() {
        let (row, column) = (index / columns as usize, index % columns as usize);
        let at = (column as f64 * width / columns + 6.0, 10.0 + row as f64 * KEY_HEIGHT);
        canvas.line(&format!("line {}", key_class(outline.key)), (at.0 - 6.0, at.1), (at.0 + 14.0, at.1));
        let room = width / columns - 26.0;
        canvas.text("label", Anchor::Start, (at.0 + 20.0, at.1 + 4.0), &fitted(text, room));
    }

    let shares = || outlines.iter().flat_map(|outline| outline.shares.iter().copied().chain([outline.beyond]));
    let plot = Plot { left: 46.0, top, right: width - SLOT_WIDTH - SLOT_GAP, bottom: top + PLOT_HEIGHT };
    let y = Scale::over(Spacing::Linear, shares().map(|share| share * 100.0).chain([0.0]), plot.bottom, plot.top);
    let y = y.rounded(TICKS);
    let x = Scale::over(Spacing::Linear, [0.0, edge].into_iter(), plot.left, plot.right);
    axis::vertical(&mut canvas, plot, &y, &axis::labelled(y.ticks(TICKS)), "% of the answers");
    let ticks = axis::labelled(x.ticks(TICKS));
    axis::horizontal(&mut canvas, plot, &x, &ticks, bins.unit);

    let slot = (plot.right + SLOT_GAP, width);
    canvas.line("base", (slot.0, plot.bottom), (slot.1, plot.bottom));
    let beyond = format!("≥ {}", axis::labelled(vec![edge]).remove(0).1);
    canvas.text("tick", Anchor::Middle, ((slot.0 + slot.1) / 2.0, plot.bottom + 17.0), &beyond);
    for (index, outline) in outlines.iter().enumerate() {
        let class = format!("line {}", key_class(outline.key));
        let mut points = vec![(plot.left, plot.bottom)];
        for (bin, share) in outline.shares.iter().take(bins.count).enumerate() {
            let height = y.at(share * 100.0);
            points.push((x.at(bin as f64 * bins.width), height));
            points.push((x.at((bin + 1) as f64 * bins.width), height));
        }
        points.push((points.last().map_or(plot.left, |last| last.0), plot.bottom));
        canvas.path(&class, &straightened(points));
        // A column each, so that none hides another.
        let room = (slot.1 - slot.0) / outlines.len().max(1) as f64;
        let at = slot.0 + (index as f64 + 0.5) * room;
        if outline.beyond > 0.0 {
            canvas.path(&class, &[(at, plot.bottom), (at, y.at(outline.beyond * 100.0))]);
        }
    }
    if outlines.is_empty() {
        axis::nothing(&mut canvas, plot);
    }
    canvas
}

/// The name with the share that lies beyond.
fn key_text(outline: &Outline<'_>, edge: f64, unit: &str) -> String {
    let percent = outline.beyond * 100.0;
    let share = match percent {
        _ if percent <= 0.0 => "none".to_owned(),
        _ if percent < 0.01 => "< 0.01 %".to_owned(),
        _ => format!("{percent:.2} %"),
    };
    format!("{}: {share} ≥ {} {unit}", outline.name, axis::labelled(vec![edge]).remove(0).1)
}

/// The same outline without points in the middle of a straight line: a page has half a megabyte.
fn straightened(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        let is_level = |a: (f64, f64), b: (f64, f64)| (a.1 - b.1).abs() < 0.05 && (point.1 - b.1).abs() < 0.05;
        if let [.., before, last] = kept.as_slice()
            && is_level(*before, *last)
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_straight_needs_no_point_in_its_middle() {
        let kept = straightened(vec![(0.0, 9.0), (1.0, 9.0), (2.0, 9.0), (2.0, 5.0), (3.0, 5.0), (3.0, 9.0)]);
        assert_eq!(kept, [(0.0, 9.0), (2.0, 9.0), (2.0, 5.0), (3.0, 5.0), (3.0, 9.0)]);
    }

    #[test]
    fn what_lies_beyond_is_said_with_its_share() {
        let text = |beyond| key_text(&Outline { name: "http", key: 0, shares: vec![], beyond }, 60.0, "ms");
        assert_eq!(text(0.0), "http: none ≥ 60 ms");
        assert_eq!(text(0.000_05), "http: < 0.01 % ≥ 60 ms");
        assert_eq!(text(0.021), "http: 2.10 % ≥ 60 ms");
    }
}
