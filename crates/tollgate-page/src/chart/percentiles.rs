//! The distribution of response times as a curve: its horizontal axis is stretched towards the end, where each step
//! right is a tenfold rarer request (1 / (1 - q), logarithmic).

use super::lines::{Axis, Kind, Line, Lines, Point};
use crate::number;

/// Quantiles that are named on the axis.
const NAMED: [(f64, &str); 5] = [(0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %")];

/// One distribution: shares of requests (0 to 1), rising, and the time that they stay below.
pub fn line(name: &str, key: usize, curve: &[(f64, f64)]) -> Line {
    let shown = curve.iter().filter(|(quantile, _)| (0.0..1.0).contains(quantile));
    let points = shown.map(|&(quantile, y)| Point::plain(rarity(quantile), y)).collect();
    Line::new(name, key, Kind::Curve, points)
}

/// The chart of these distributions; `label` names the times and their unit.
pub fn chart(label: &str, lines: Vec<Line>) -> Lines {
    let furthest = lines.iter().flat_map(|line| &line.points).map(|point| point.x).fold(0.0, f64::max);
    let ticks = NAMED.iter().map(|(quantile, text)| (rarity(*quantile), (*text).to_owned()));
    let ticks = ticks.filter(|(x, _)| *x <= furthest * 1.001).collect();
    let x = Axis {
        ticks,
        write: |x| format!("{} %", number::grouped((1.0 - 1.0 / x) * 100.0, 2)),
        ..Axis::logarithmic("share of requests that were faster")
    };
    Lines::new(x, Axis::logarithmic(label), lines)
}

/// The number of requests per slower one.
fn rarity(quantile: f64) -> f64 {
    1.0 / (1.0 - quantile)
}
