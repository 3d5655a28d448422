//! The distribution of response times as a curve: its horizontal axis is stretched towards the end, where each step
//! right is a tenfold rarer request (1 / (1 - q), logarithmic).

use super::lines::{Axis, Kind, Line, Lines, Point, draw as draw_lines};
use super::scale::Spacing;
use super::{Canvas, Size};

/// One variant's distribution: shares of requests (0 to 1) and the time that they stay below.
pub struct Distribution<'a> {
    /// What stands at the end of its line.
    pub name: &'a str,
    /// Index of its colour.
    pub key: usize,
    /// Share and time, rising.
    pub points: &'a [(f64, f64)],
}

/// Quantiles that are named on the axis.
const NAMED: [(f64, &str); 5] = [(0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %")];

/// Draws it; `label` says what the times are, with their unit.
pub fn draw<'a>(size: Size, label: &str, all: &[Distribution<'a>]) -> Canvas {
    let line = |distribution: &Distribution<'a>| {
        let shown = distribution.points.iter().filter(|(quantile, _)| (0.0..1.0).contains(quantile));
        let points = shown.map(|&(quantile, y)| Point::plain(rarity(quantile), y)).collect();
        Line { name: distribution.name, key: distribution.key, kind: Kind::Curve, points }
    };
    let lines: Vec<Line<'_>> = all.iter().map(line).collect();
    let furthest = lines.iter().flat_map(|line| &line.points).map(|point| point.x).fold(0.0, f64::max);
    let ticks = NAMED.iter().map(|(quantile, text)| (rarity(*quantile), (*text).to_owned()));
    let ticks = ticks.filter(|(x, _)| *x <= furthest * 1.001).collect();
    let x = Axis { label: "share of requests that were faster", spacing: Spacing::Logarithmic, ticks };
    draw_lines(size, &Lines::new(x, Axis::logarithmic(label), lines))
}

/// One request in so many is slower.
fn rarity(quantile: f64) -> f64 {
    1.0 / (1.0 - quantile)
}
