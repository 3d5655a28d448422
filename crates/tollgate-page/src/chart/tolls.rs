//! Toll bars: from 1 to the ratio, the interval as a whisker, the number beside it; one panel for each figure, all on
//! one logarithmic scale, so that twice and half are equally far from 1.

use super::axis::{self, Plot, fitted};
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
use super::{Size, Standing, key_class};

/// One panel.
pub struct TollPanel {
    /// Its heading.
    pub title: String,
    /// One for each row, in the order of the names.
    pub bars: Vec<Option<Bar>>,
}

/// One toll.
pub struct Bar {
    /// Ratio over the baseline.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// The number with its interval, as it is printed.
    pub text: String,
    /// Hollow without a claim: no toll, unconfirmed, unclear or joint. Absent if refused: then there is only the word,
    /// no bar.
    pub standing: Option<Standing>,
}

/// A row's name with its key.
pub struct TollRow<'a> {
    /// Name of the variant.
    pub name: &'a str,
    /// Index of its colour.
    pub key: usize,
}

const BAR_HEIGHT: f64 = 10.0;
const HEAD_HEIGHT: f64 = 28.0;
const FOOT_HEIGHT: f64 = 24.0;
/// Least room for the numbers: `1.83× [1.80, 1.86]`.
const TEXT_WIDTH_MIN: f64 = 126.0;
/// Least room for the names, and most of the width that they may take.
const NAMES_WIDTH_MIN: f64 = 160.0;
const NAMES_SHARE_MAX: f64 = 0.25;

/// Draws it: panels side by side, or below each other where it is narrow.
pub fn draw(size: Size, rows: &[TollRow<'_>], panels: &[TollPanel]) -> Canvas {
    let width = size.width();
    let is_narrow = size != Size::Full;
    let row_height = if is_narrow { 36.0 } else { 30.0 };
    let panel_height = HEAD_HEIGHT + row_height * rows.len().max(1) as f64 + FOOT_HEIGHT;
    let count = panels.len().max(1) as f64;
    let (names_width, panel_width, height) = match is_narrow {
        true => (0.0, width, (panel_height + 14.0) * count),
        false => {
            let longest = rows.iter().map(|row| axis::text_width(row.name) + 24.0).fold(NAMES_WIDTH_MIN, f64::max);
            let names_width = longest.min(width * NAMES_SHARE_MAX);
            (names_width, (width - names_width) / count, panel_height)
        }
    };
    let mut canvas = Canvas::new(width, height);
    let bars = || panels.iter().flat_map(|panel| panel.bars.iter().flatten());
    let text_width = bars().map(|bar| axis::value_width(&bar.text) + 12.0).fold(TEXT_WIDTH_MIN, f64::max);
    let ends = || bars().filter(|bar| bar.standing.is_some()).flat_map(|bar| [bar.low, bar.high, bar.ratio]);

    for (index, panel) in panels.iter().enumerate() {
        let (left, top) = match is_narrow {
            true => (0.0, index as f64 * (panel_height + 14.0)),
            false => (names_width + index as f64 * panel_width, 0.0),
        };
        let right = if is_narrow { width - 8.0 } else { left + panel_width - text_width };
        let plot = Plot { left: left + 8.0, top: top + HEAD_HEIGHT, right, bottom: top + panel_height - FOOT_HEIGHT };
        let scale = Scale::over(Spacing::Logarithmic, ends().chain([1.0]), plot.left, plot.right).with_margin(0.05);
        canvas.text("panel", Anchor::Start, (plot.left, top + 14.0), &panel.title);
        axis::rules(&mut canvas, plot, &scale, if is_narrow { 6 } else { 4 }, "×", f64::INFINITY);
        for (row_index, row) in rows.iter().enumerate() {
            let row_top = plot.top + row_index as f64 * row_height;
            let y = if is_narrow { row_top + 24.0 } else { row_top + row_height / 2.0 };
            let bar = panel.bars.get(row_index).and_then(Option::as_ref);
            let text_at = match is_narrow {
                true => (Anchor::End, (width - 2.0, row_top + 13.0)),
                false => (Anchor::Start, (plot.right + 10.0, y + 4.0)),
            };
            if is_narrow {
                let name = fitted(row.name, width - text_width - 12.0);
                canvas.text("label", Anchor::Start, (2.0, row_top + 13.0), &name);
            } else if index == 0 {
                canvas.marker(Standing::Plain, row.key, (6.0, y));
                canvas.text("label", Anchor::Start, (16.0, y + 4.0), &fitted(row.name, names_width - 22.0));
            }
            match bar {
                Some(bar) => {
                    draw_bar(&mut canvas, &scale, y, &key_class(row.key), bar);
                    canvas.text("value", text_at.0, text_at.1, &bar.text);
                }
                None => canvas.text("tick", text_at.0, text_at.1, "not measured"),
            }
        }
        let one = scale.at(1.0);
        match is_narrow {
            // The names stand above the bars: the line would strike them through.
            true => (0..rows.len()).for_each(|row_index| {
                let y = plot.top + row_index as f64 * row_height + 24.0;
                canvas.line("one", (one, y - 7.0), (one, y + 7.0));
            }),
            false => canvas.line("one", (one, plot.top - 4.0), (one, plot.bottom)),
        }
    }
    canvas
}

fn draw_bar(canvas: &mut Canvas, scale: &Scale, y: f64, key: &str, bar: &Bar) {
    let Some(standing) = bar.standing.filter(|_| scale.shows(bar.ratio)) else { return };
    let (one, ratio) = (scale.at(1.0), scale.at(bar.ratio));
    let class = if standing == Standing::Hollow { "bar-hollow" } else { "bar" };
    let corner = (one.min(ratio), y - BAR_HEIGHT / 2.0);
    canvas.rectangle(&format!("{class} {key}"), corner, ((ratio - one).abs(), BAR_HEIGHT));
    if scale.shows(bar.low) && scale.shows(bar.high) && bar.high > bar.low {
        axis::interval(canvas, scale, y, bar.low, bar.high);
    }
}
