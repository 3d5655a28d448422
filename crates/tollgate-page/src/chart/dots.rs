//! Dots with their intervals, several in each row: the same figure in several runs, one colour a run, on one
//! logarithmic scale.

use super::axis::{self, Plot, fitted};
use super::lines::Point;
use super::scale::{Scale, Spacing};
use super::svg::{Anchor, Canvas};
use super::{Size, Standing, key_class};
use crate::number;

/// The content of the chart.
pub struct Dots<'a> {
    /// The name of the values.
    pub label: &'a str,
    /// The unit after each value on the axis.
    pub unit: &'a str,
    /// Name and colour of each run, in the order of the dots of a row.
    pub runs: Vec<(String, usize)>,
    /// The rows, from the top.
    pub rows: Vec<DotRow>,
    /// For ratios, the value at which all rows have a line: 1.
    pub one: Option<f64>,
}

/// One row: absent dots were not measured, or are refused.
pub struct DotRow {
    /// The name of the row.
    pub name: String,
    /// One for each run.
    pub dots: Vec<Option<Point>>,
}

/// Height of one dot's line within a row.
const DOT_HEIGHT: f64 = 12.0;
/// Space between two rows.
const ROW_GAP: f64 = 12.0;
/// Height of a name above its row.
const NAME_HEIGHT: f64 = 15.0;
const FOOT_HEIGHT: f64 = 40.0;
/// Maximum share of the width for names beside their rows.
const NAMES_SHARE_MAX: f64 = 0.34;

/// Draws it: names beside the rows, or above them where it is narrow.
pub fn draw(size: Size, chart: &Dots<'_>) -> Canvas {
    let width = size.width();
    let is_narrow = size == Size::Narrow;
    let longest = chart.rows.iter().map(|row| axis::text_width(&row.name)).fold(0.0, f64::max);
    let names_width = if is_narrow { 0.0 } else { (longest + 18.0).min(width * NAMES_SHARE_MAX) };
    let own_name = if is_narrow { NAME_HEIGHT } else { 0.0 };
    let row_height = own_name + DOT_HEIGHT * chart.runs.len() as f64 + ROW_GAP;
    let names: Vec<&str> = chart.runs.iter().map(|(name, _)| name.as_str()).collect();
    let key = axis::key_places(&names, width);
    let key_height = key.last().map_or(0.0, |last| last.1) + axis::KEY_HEIGHT;
    let bottom = key_height + 8.0 + row_height * chart.rows.len() as f64;
    let plot = Plot { left: names_width + 8.0, top: key_height + 8.0, right: width - 14.0, bottom };

    let ends = chart.rows.iter().flat_map(|row| row.dots.iter().flatten()).flat_map(|dot| [dot.y, dot.low, dot.high]);
    let scale = Scale::over(Spacing::Logarithmic, ends.chain(chart.one), plot.left, plot.right).with_margin(0.04);

    let mut canvas = Canvas::new(width, bottom + FOOT_HEIGHT);
    canvas.label_values("", chart.label);
    for (place, ((name, key), (x, y))) in chart.runs.iter().zip(&key).enumerate() {
        canvas.label(place, |canvas| {
            canvas.marker(Standing::Plain, *key, (x + 6.0, y + 8.0));
            canvas.text("label", Anchor::Start, (x + 16.0, y + 12.0), &fitted(name, width - 20.0));
        });
    }
    axis::rules(&mut canvas, plot, &scale, if is_narrow { 5 } else { 8 }, chart.unit, width);
    canvas.text("axis", Anchor::End, (plot.right, plot.bottom + 33.0), chart.label);
    for (index, row) in chart.rows.iter().enumerate() {
        let top = plot.top + index as f64 * row_height;
        let dots_top = top + own_name + ROW_GAP / 2.0;
        let middle = dots_top + DOT_HEIGHT * chart.runs.len() as f64 / 2.0;
        match is_narrow {
            true => canvas.text("label", Anchor::Start, (0.0, top + 13.0), &fitted(&row.name, width)),
            false => canvas.text("label", Anchor::Start, (0.0, middle + 4.0), &fitted(&row.name, names_width - 8.0)),
        }
        if index > 0 {
            canvas.line("rule", (0.0, top), (plot.right, top));
        }
    }
    for (place, (name, key)) in chart.runs.iter().enumerate() {
        let of_run =
            chart.rows.iter().enumerate().filter_map(|(row, found)| Some((row, found, (*found.dots.get(place)?)?)));
        let dots: Vec<(usize, &DotRow, Point)> = of_run.filter(|(_, _, dot)| scale.shows(dot.y)).collect();
        let text =
            |(_, row, dot): &(usize, &DotRow, Point)| (row.name.clone(), dot.text(number::three_digits) + chart.unit);
        let texts: Vec<(String, String)> = dots.iter().map(text).collect();
        canvas.series(place, name, &texts, |canvas| {
            for (row, _, dot) in &dots {
                let top = plot.top + *row as f64 * row_height + own_name + ROW_GAP / 2.0;
                let y = top + DOT_HEIGHT * (place as f64 + 0.5);
                if scale.shows(dot.low) && scale.shows(dot.high) && dot.high > dot.low {
                    let ends = [dot.low, dot.high].map(|end| (scale.at(end), y));
                    canvas.line(&format!("whisker {}", key_class(*key)), ends[0], ends[1]);
                }
                canvas.marker(dot.standing, *key, (scale.at(dot.y), y));
            }
        });
    }
    if let Some(one) = chart.one.map(|one| scale.at(one)) {
        for index in 0..chart.rows.len() {
            let top = plot.top + index as f64 * row_height;
            // Where names stand above their rows the line would strike them through.
            canvas.line("one", (one, top + own_name), (one, top + row_height));
        }
    }
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(size: Size, values: &[Option<f64>]) -> String {
        let dot = |value: f64| Point { low: value * 0.9, high: value * 1.1, ..Point::plain(0.0, value) };
        let chart = Dots {
            label: "ratio",
            unit: "×",
            runs: (1..=values.len()).map(|number| (format!("run {number}"), number)).collect(),
            rows: vec![DotRow {
                name: "https at <20> users".into(),
                dots: values.iter().map(|value| value.map(dot)).collect(),
            }],
            one: Some(1.0),
        };
        draw(size, &chart).finish("x", "t", "d")
    }

    #[test]
    fn each_run_has_its_dot_its_whisker_and_its_colour_and_what_is_absent_has_none() {
        for size in [Size::Full, Size::Narrow] {
            let picture = picture(size, &[Some(1.2), None, Some(2.0)]);
            let count = |what: &str| picture.matches(what).count();
            // One more of each in the key.
            assert_eq!((count("dot k1"), count("dot k2"), count("dot k3")), (2, 1, 2));
            assert_eq!((count("whisker k1"), count("whisker k2"), count("class=\"one\"")), (1, 0, 1));
            assert!(picture.contains("https at &lt;20&gt; users"), "{picture}");
        }
        assert!(!picture(Size::Narrow, &[Some(f64::NAN), Some(0.0)]).contains("NaN"));
    }
}
