//! Distributions over bars that are equally wide on a logarithmic axis, laid over each other as outlines; values below
//! the first bar or above the last have slots of their own, so that a tail is visible and not stretched.

use super::axis::{self, Plot, fitted, text_width};
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
use super::{Size, key_class};
use crate::number;

/// One distribution.
pub struct Outline<'a> {
    /// Its name in the key.
    pub name: &'a str,
    /// Index of its colour.
    pub key: usize,
    /// Share of the values below the first bar, 0 to 1.
    pub below: f64,
    /// Share of each bar.
    pub shares: Vec<f64>,
    /// Share of the values above the last bar.
    pub beyond: f64,
}

/// The bars.
#[derive(Debug, Clone, Copy)]
pub struct Bars<'a> {
    /// Start of the first one, above zero.
    pub from: f64,
    /// End of the last one.
    pub to: f64,
    /// Number of bars.
    pub count: usize,
    /// Their unit.
    pub unit: &'a str,
}

impl Bars<'_> {
    /// The ends of all bars: one more than there are bars, each as many times the one before it.
    pub fn edges(&self) -> Vec<f64> {
        let share = |bar: usize| bar as f64 / self.count.max(1) as f64;
        (0..=self.count).map(|bar| self.from * (self.to / self.from).powf(share(bar))).collect()
    }
}

const PLOT_HEIGHT: f64 = 220.0;
const KEY_HEIGHT: f64 = 18.0;
const TICKS: usize = 6;
/// Minimum width of the slots before the first and after the last bar.
const SLOT_WIDTH: f64 = 52.0;
/// Space between them and the bars.
const SLOT_GAP: f64 = 12.0;

/// Draws it.
pub fn draw(size: Size, bars: Bars<'_>, outlines: &[Outline<'_>]) -> Canvas {
    let width = size.width();
    let edges = bars.edges();
    let texts: Vec<String> = outlines.iter().map(|outline| key_text(outline, bars)).collect();
    let columns = (width / (texts.iter().map(|text| text_width(text)).fold(60.0, f64::max) + 30.0)).floor().max(1.0);
    let rows = outlines.len().div_ceil(columns as usize);
    let top = 14.0 + rows as f64 * KEY_HEIGHT + 26.0;
    let mut canvas = Canvas::new(width, top + PLOT_HEIGHT + 42.0);
    for (index, (outline, text)) in outlines.iter().zip(&texts).enumerate() {
        let (row, column) = (index / columns as usize, index % columns as usize);
        let at = (column as f64 * width / columns + 6.0, 10.0 + row as f64 * KEY_HEIGHT);
        canvas.label(index, |canvas| {
            canvas.line(&format!("line {}", key_class(outline.key)), (at.0 - 6.0, at.1), (at.0 + 14.0, at.1));
            let room = width / columns - 26.0;
            canvas.text("label", Anchor::Start, (at.0 + 20.0, at.1 + 4.0), &fitted(text, room));
        });
    }

    let shares =
        || outlines.iter().flat_map(|outline| outline.shares.iter().copied().chain([outline.below, outline.beyond]));
    let below = (46.0, 46.0 + SLOT_WIDTH);
    let plot = Plot { left: below.1 + SLOT_GAP, top, right: width - SLOT_WIDTH - SLOT_GAP, bottom: top + PLOT_HEIGHT };
    let beyond = (plot.right + SLOT_GAP, width);
    let y = Scale::over(Spacing::Linear, shares().map(|share| share * 100.0).chain([0.0]), plot.bottom, plot.top);
    let y = y.rounded(TICKS);
    let x = Scale::over(Spacing::Logarithmic, edges.iter().copied(), plot.left, plot.right);
    let whole = Plot { left: below.0, ..plot };
    axis::vertical(&mut canvas, whole, &y, &axis::labelled(y.ticks(TICKS)), "% of the answers");
    axis::horizontal(&mut canvas, plot, &x, &axis::labelled_each(x.ticks(TICKS)), bars.unit);
    let slots = [
        (below, format!("< {}", number::three_digits(bars.from))),
        (beyond, format!("≥ {}", number::three_digits(bars.to))),
    ];
    for (slot, text) in &slots {
        canvas.line("base", (slot.0, plot.bottom), (slot.1, plot.bottom));
        canvas.text("tick", Anchor::Middle, ((slot.0 + slot.1) / 2.0, plot.bottom + 17.0), text);
    }
    canvas.label_values(bars.unit, "% of the answers");
    for (index, outline) in outlines.iter().enumerate() {
        let class = format!("line {}", key_class(outline.key));
        let mut points = vec![(plot.left, plot.bottom)];
        for (ends, share) in edges.windows(2).zip(&outline.shares) {
            let height = y.at(share * 100.0);
            points.extend([(x.at(ends[0]), height), (x.at(ends[1]), height)]);
        }
        points.push((points.last().map_or(plot.left, |last| last.0), plot.bottom));
        // Two corners a bar, and one before and behind them.
        let text = |ends: &[f64]| format!("{} to {}", number::three_digits(ends[0]), number::three_digits(ends[1]));
        let of_bar = edges.windows(2).zip(&outline.shares);
        let told = of_bar.flat_map(|(ends, share)| vec![(text(ends), number::three_digits(share * 100.0)); 2]);
        let none = || std::iter::once((String::new(), String::new()));
        let told: Vec<(String, String)> = none().chain(told).chain(none()).collect();
        canvas.series(index, outline.name, &told, |canvas| {
            canvas.path(&class, &points);
            // A column each, so that none hides another.
            for (slot, share) in [(below, outline.below), (beyond, outline.beyond)] {
                let room = (slot.1 - slot.0) / outlines.len().max(1) as f64;
                let at = slot.0 + (index as f64 + 0.5) * room;
                if share > 0.0 {
                    canvas.path(&class, &[(at, plot.bottom), (at, y.at(share * 100.0))]);
                }
            }
        });
    }
    if outlines.is_empty() {
        axis::nothing(&mut canvas, plot);
    }
    canvas
}

/// The name with the share that is beyond the bars.
fn key_text(outline: &Outline<'_>, bars: Bars<'_>) -> String {
    let percent = outline.beyond * 100.0;
    let share = match percent {
        _ if percent <= 0.0 => "none".to_owned(),
        _ if percent < 0.01 => "< 0.01 %".to_owned(),
        _ => format!("{percent:.2} %"),
    };
    format!("{}: {share} ≥ {} {}", outline.name, number::three_digits(bars.to), bars.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARS: Bars<'static> = Bars { from: 1.0, to: 60.0, count: 3, unit: "ms" };

    #[test]
    fn bars_are_equally_wide_on_a_logarithmic_axis() {
        let edges = Bars { from: 2.0, to: 16.0, count: 3, ..BARS }.edges();
        let expected = [2.0, 4.0, 8.0, 16.0];
        assert!(edges.iter().zip(expected).all(|(edge, expected)| (edge - expected).abs() < 1e-9), "{edges:?}");
    }

    #[test]
    fn what_lies_beyond_is_said_with_its_share() {
        let text = |beyond| key_text(&Outline { name: "http", key: 0, below: 0.0, shares: vec![], beyond }, BARS);
        assert_eq!(text(0.0), "http: none ≥ 60.0 ms");
        assert_eq!(text(0.000_05), "http: < 0.01 % ≥ 60.0 ms");
        assert_eq!(text(0.021), "http: 2.10 % ≥ 60.0 ms");
    }
}
