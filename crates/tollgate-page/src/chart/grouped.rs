//! Grouped bars with intervals: ratios over a baseline, a group for each thing and in it a bar for each level, all on one
//! logarithmic scale that begins at 1 and is labelled in percent.

use super::axis::{self, Plot, fitted, value_width};
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
use super::{Size, key_class};

/// One bar.
pub struct Bar {
    /// Index of its colour: that of its level.
    pub key: usize,
    /// Ratio over the baseline.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Its printed form.
    pub text: String,
}

/// Bars that belong together.
pub struct BarGroup<'a> {
    /// Its name.
    pub name: &'a str,
    /// One for each level that was measured.
    pub bars: Vec<Bar>,
}

const BAR_HEIGHT: f64 = 12.0;
const BAR_STEP: f64 = 18.0;
const NAME_HEIGHT: f64 = 18.0;
const GROUP_GAP: f64 = 10.0;
const KEY_HEIGHT: f64 = 20.0;
/// Ratios that may be marked: 0, 3, 10, 30, 100, 300, 1000, 3000 and 10,000 % more.
const MARKS: [f64; 9] = [1.0, 1.03, 1.1, 1.3, 2.0, 4.0, 11.0, 31.0, 101.0];

/// Draws it.
pub fn draw(size: Size, levels: &[String], groups: &[BarGroup<'_>]) -> Canvas {
    let width = size.width();
    let top = KEY_HEIGHT + 8.0;
    let height_of = |group: &BarGroup<'_>| NAME_HEIGHT + BAR_STEP * group.bars.len() as f64 + GROUP_GAP;
    let bottom = top + groups.iter().map(height_of).sum::<f64>().max(40.0);
    let bars = || groups.iter().flat_map(|group| &group.bars);
    let text_room = bars().map(|bar| value_width(&bar.text)).fold(60.0, f64::max) + 12.0;
    let plot = Plot { left: 6.0, top, right: (width - text_room).max(width * 0.4), bottom };
    let mut canvas = Canvas::new(width, bottom + 42.0);
    axis::key(&mut canvas, "bar", levels);
    let ends = bars().flat_map(|bar| [bar.low, bar.high, bar.ratio]).chain([1.0]);
    let x = Scale::over(Spacing::Logarithmic, ends, plot.left, plot.right).with_margin(0.03);
    let marks = MARKS.iter().map(|mark| (*mark, format!("{} %", ((mark - 1.0) * 100.0).round())));
    let farthest = bars().map(|bar| bar.high).fold(1.0, f64::max);
    let marks: Vec<(f64, String)> = marks.filter(|(mark, _)| *mark <= farthest * 1.02).collect();
    axis::ruled(&mut canvas, plot, &x, &marks, "overhead, logarithmic");
    let mut y = plot.top;
    for group in groups {
        canvas.text("label", Anchor::Start, (2.0, y + 13.0), &fitted(group.name, width - 8.0));
        y += NAME_HEIGHT;
        for bar in &group.bars {
            let middle = y + BAR_STEP / 2.0;
            if x.shows(bar.ratio) && x.shows(bar.low) && x.shows(bar.high) {
                let (one, ratio) = (x.at(1.0), x.at(bar.ratio));
                let corner = (one.min(ratio), middle - BAR_HEIGHT / 2.0);
                canvas.rectangle(&format!("bar {}", key_class(bar.key)), corner, ((ratio - one).abs(), BAR_HEIGHT));
                axis::interval(&mut canvas, &x, middle, bar.low, bar.high);
            }
            canvas.text("value", Anchor::End, (width - 2.0, middle + 4.0), &bar.text);
            y += BAR_STEP;
        }
        y += GROUP_GAP;
    }
    canvas.line("one", (x.at(1.0), plot.top), (x.at(1.0), plot.bottom));
    if groups.is_empty() {
        axis::nothing(&mut canvas, plot);
    }
    canvas
}
