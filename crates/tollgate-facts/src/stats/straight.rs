//! Straight lines: the one through points, how far values lie off it, and whether it may still be read as a law.
//!
//! It deliberately does not extrapolate.

use super::{ALPHA, Estimate, interval, mean};

/// Fewest points that say how far they lie off their own line.
const POINTS_MIN: usize = 3;

/// A straight line, each part with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Its height at zero.
    pub height: Estimate,
    /// Its rise from one to the next.
    pub slope: Estimate,
}

impl Line {
    /// Its height at a place.
    pub fn at(&self, x: f64) -> f64 {
        self.height.mean + self.slope.mean * x
    }
}

/// The line through (x, y) by least squares, each point with the weight that its y has. Absent for fewer than three
/// points, and where all are at one x.
pub fn line(points: &[(f64, f64)], weight: impl Fn(f64) -> f64) -> Option<Line> {
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| weight(*y) * of(*x, *y)).sum::<f64>();
    let all = sum(&|_, _| 1.0);
    let (mean_x, mean_y) = (sum(&|x, _| x) / all, sum(&|_, y| y) / all);
    let squares = sum(&|x, _| (x - mean_x).powi(2));
    if points.len() < POINTS_MIN || squares <= f64::EPSILON * sum(&|x, _| x * x) {
        return None;
    }
    let slope = sum(&|x, y| (x - mean_x) * (y - mean_y)) / squares;
    let height = mean_y - slope * mean_x;
    let freedom = (points.len() - 2) as f64;
    let spread = sum(&|x, y| (y - height - slope * x).powi(2)) / freedom;
    let t = interval::quantile(1.0 - ALPHA / 2.0, freedom);
    let estimate = |mean: f64, variance: f64| {
        let half = t * variance.sqrt();
        Estimate { mean, low: mean - half, high: mean + half, n: points.len() as u32 }
    };
    let of_height = spread * (1.0 / all + mean_x.powi(2) / squares);
    Some(Line { height: estimate(height, of_height), slope: estimate(slope, spread / squares) })
}

/// Root of the mean squared relative residual, from pairs of predicted and measured values: 0.1 is 10 % off, typically.
/// Absent for no pairs.
pub fn residual_share(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let squares: Vec<f64> = pairs.into_iter().map(|(said, measured)| (said / measured - 1.0).powi(2)).collect();
    mean(&squares).map(f64::sqrt)
}

/// The reason why a line is no law with this typical distance of its times, as a share; absent up to `share_max`.
pub fn doubt(residual_share: f64, share_max: f64, instead: &str) -> Option<String> {
    (residual_share > share_max)
        .then(|| format!("the times lie {:.0} % off a straight line: read the {instead}", residual_share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    #[test]
    fn a_share_is_typical_of_all_pairs_and_doubted_beyond_its_bound() {
        let share = residual_share([(11.0, 10.0), (90.0, 100.0)]).unwrap();
        assert!((share - 0.1).abs() < 1e-12);
        assert_eq!(residual_share([]), None);
        assert_eq!(doubt(0.1, 0.1, "levels"), None);
        assert_eq!(doubt(0.2, 0.1, "cells").unwrap(), "the times lie 20 % off a straight line: read the cells");
    }
    #[test]
    fn a_line_has_its_slope_and_its_height() {
        let points: Vec<(f64, f64)> =
            [1.0, 10.0, 50.0].into_iter().map(|length| (length, 3.0 * length + 0.7)).collect();
        let Line { slope, height } = line(&points, |_| 1.0).unwrap();
        assert!((slope.mean - 3.0).abs() < 1e-9 && (height.mean - 0.7).abs() < 1e-9, "{slope:?} {height:?}");
        assert_eq!(line(&points[..2], |_| 1.0), None);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)], |_| 1.0), None);
    }

    #[test]
    fn intervals_hold_the_truth() {
        let mut noise = Noise::of(5);
        let mut held = 0;
        for _ in 0..400 {
            let points: Vec<(f64, f64)> = [1.0, 10.0, 50.0]
                .into_iter()
                .flat_map(|length| [length; 4])
                .map(|length| (length, 4.0 * length + 1.0 + 0.3 * noise.normal()))
                .collect();
            let slope = line(&points, |_| 1.0).unwrap().slope;
            held += u32::from((slope.low..=slope.high).contains(&4.0));
        }
        assert!((360..=398).contains(&held), "{held} of 400");
    }
}
