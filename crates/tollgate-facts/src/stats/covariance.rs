//! Analysis of covariance: how far values go along with something else that was seen of each block.
//!
//! It deliberately chooses nothing: the decision for a slope must not depend on the values.

use super::interval::{Interval, student};
use super::{mean, standard_deviation};

/// Degrees of freedom below which there is no slope: those of eight blocks.
const FREEDOM_MIN: usize = 6;

/// The slope of values over a covariate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Change of a value for one more of the covariate.
    pub slope: f64,
    /// Variance of the values.
    pub before: f64,
    /// Variance that is left.
    pub after: f64,
    freedom: usize,
    /// Standard error of the mean value at a difference of 0.
    error: f64,
}

impl Slope {
    /// Student's interval of this mean of the residuals over the blocks, for values as large as `size`.
    pub fn interval(&self, mean: f64, size: f64, alpha: f64) -> Interval {
        student(mean, self.error, self.freedom as f64, size, alpha)
    }
}

/// The slope of values over a regressor. Absent where there are too few, where the regressor is nearly constant, and
/// where 0 is further from its mean than its own spread: the line would be extrapolated.
pub fn slope(values: &[f64], seen: &[f64]) -> Option<Slope> {
    let freedom = seen.len().checked_sub(2).filter(|freedom| *freedom >= FREEDOM_MIN)?;
    let (level, at) = (mean(values)?, mean(seen)?);
    if at.abs() > standard_deviation(seen)? {
        return None;
    }
    let (mut of_seen, mut of_both, mut of_values) = (0.0, 0.0, 0.0);
    for (value, seen) in values.iter().zip(seen) {
        of_seen += (seen - at).powi(2);
        of_both += (seen - at) * (value - level);
        of_values += (value - level).powi(2);
    }
    let largest = seen.iter().fold(0.0_f64, |largest, seen| largest.max(seen.abs()));
    let is_same = of_seen <= f64::EPSILON * largest.powi(2) * seen.len() as f64;
    if is_same || of_values <= 0.0 || !of_values.is_finite() {
        return None;
    }
    let after = (of_values - of_both.powi(2) / of_seen).max(0.0) / freedom as f64;
    let error = (after * (1.0 / seen.len() as f64 + at.powi(2) / of_seen)).sqrt();
    Some(Slope { slope: of_both / of_seen, before: of_values / (freedom + 1) as f64, after, freedom, error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{ALPHA, straight};

    const SEEN: [f64; 8] = [0.0, 0.0, 0.3, 0.0, -0.2, 0.0, 0.1, 0.0];
    const VALUES: [f64; 8] = [1.0, 1.1, 1.9, 0.9, 0.4, 1.05, 1.2, 0.95];

    #[test]
    fn it_is_the_height_of_the_line() {
        let found = slope(&VALUES, &SEEN).unwrap();
        let points: Vec<(f64, f64)> = SEEN.into_iter().zip(VALUES).collect();
        let line = straight::line(&points, |_| 1.0).unwrap();
        let left = mean(&VALUES).unwrap() - found.slope * mean(&SEEN).unwrap();
        let interval = found.interval(left, 1.0, ALPHA);
        for (found, expected) in [
            (found.slope, line.slope.mean),
            (interval.mean, line.height.mean),
            (interval.low, line.height.low),
            (interval.high, line.height.high),
        ] {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert!(found.after < found.before / 10.0, "{found:?}");
    }

    #[test]
    fn of_too_few_of_the_same_and_beyond_its_points_there_is_none() {
        let of = |seen: &[f64]| slope(&VALUES[..seen.len()], seen);
        assert!(of(&SEEN).is_some());
        assert_eq!(of(&SEEN[..7]), None);
        assert_eq!(of(&[0.0; 8]), None);
        assert_eq!(of(&SEEN.map(|seen| seen + 1.0)), None);
        assert_eq!(slope(&[], &[]), None);
        assert_eq!(slope(&[f64::NAN; 8], &SEEN), None);
    }
}
