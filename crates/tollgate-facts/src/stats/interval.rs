//! Student t: the interval of a mean, and the probability that a mean differs from zero by chance.
//!
//! The percentile bootstrap is not used: at five blocks it claimed a difference between equals in 14-23 % of cases,
//! where Student t on log ratios kept to its 5 %.

use super::{ALPHA, mean, standard_deviation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// An error below this share of the values' size is rounding, not noise: the values are taken as equal.
const ROUNDING_SHARE: f64 = 1e-12;

/// A mean over trials with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Number of blocks behind it.
    pub n: u32,
}

impl Estimate {
    /// The same for non-negative values: with its interval formed on the logarithm.
    pub(super) fn above_zero(self) -> Estimate {
        if self.n < 2 || self.mean <= 0.0 {
            return self;
        }
        let factor = ((self.high - self.mean) / self.mean).exp();
        Estimate { low: self.mean / factor, high: self.mean * factor, ..self }
    }

    /// The ends of its interval; absent of fewer than two blocks, which have none.
    pub fn interval(self) -> Option<(f64, f64)> {
        (self.n > 1).then_some((self.low, self.high))
    }
}

/// A mean with its two-sided interval and the probability of so large a mean by chance if the truth were zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of values.
    pub n: usize,
    /// Two-sided probability under "the mean is zero", from 0 to 1, never NaN.
    pub p: f64,
}

/// The mean of `values` with its interval of confidence 1 - `alpha` by Student t.
///
/// Values that are all equal give an interval of no width, with p = 1 if they are zero and p = 0 if not. Absent below
/// two values, since one value does not show its own spread, and for values that are not finite.
pub fn mean_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    let n = values.len();
    let spread = standard_deviation(values)?;
    let mean = mean(values)?;
    if !mean.is_finite() || !spread.is_finite() {
        return None;
    }
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    Some(Interval { n, ..student(mean, spread / (n as f64).sqrt(), (n - 1) as f64, largest, alpha) })
}

/// The interval of a mean with this standard error and `freedom` degrees, of values as large as `size`: one of no width
/// where the error is rounding.
pub(super) fn student(mean: f64, error: f64, freedom: f64, size: f64, alpha: f64) -> Interval {
    let rounding = size.max(1.0) * ROUNDING_SHARE;
    let (half, p) = match error <= rounding {
        true => (0.0, if mean.abs() <= rounding { 1.0 } else { 0.0 }),
        false => (quantile(1.0 - alpha / 2.0, freedom) * error, two_sided_p(mean / error, freedom)),
    };
    Interval { mean, low: mean - half, high: mean + half, n: 0, p }
}

/// The mean of one value a block with its 95 % interval, in the form that results keep; with fewer than two values the
/// interval is the value itself and `n` says so.
pub fn estimate(values: &[f64]) -> Estimate {
    let mean = mean(values).filter(|mean| mean.is_finite()).unwrap_or(0.0);
    let (low, high) = mean_interval(values, ALPHA).map_or((mean, mean), |interval| (interval.low, interval.high));
    Estimate { mean, low, high, n: u32::try_from(values.len()).unwrap_or(u32::MAX) }
}

/// The same for non-negative values, such as times: the interval is formed on the logarithm, so that no end is below
/// zero, and it covers the mean of lopsided values more often (delta method: the mean times and by `exp(half / mean)`).
/// Where its half-width is small relative to the mean, it equals that of [`estimate`].
pub fn estimate_above_zero(values: &[f64]) -> Estimate {
    estimate(values).above_zero()
}

/// The value that Student's t with `freedom` degrees stays below with probability `probability`.
pub fn quantile(probability: f64, freedom: f64) -> f64 {
    distribution(freedom).inverse_cdf(probability)
}

/// The probability of a `t` at least as far from zero.
pub fn two_sided_p(t: f64, freedom: f64) -> f64 {
    (2.0 * distribution(freedom).sf(t.abs())).clamp(0.0, 1.0)
}

fn distribution(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("scale and freedom are positive")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    fn close(got: f64, expected: f64, bound: f64) {
        assert!((got - expected).abs() <= bound, "expected {expected} within {bound}, got {got}");
    }

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (freedom, expected) in [(1.0, 12.7062), (2.0, 4.3027), (7.0, 2.3646), (15.0, 2.1314), (63.0, 1.9983)] {
            close(quantile(0.975, freedom), expected, 5e-5);
        }
        close(two_sided_p(2.364_624, 7.0), 0.05, 1e-6);
    }

    #[test]
    fn an_interval_is_the_textbook_one() {
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05).unwrap();
        close(interval.mean, 3.0, 1e-12);
        close(interval.low, 1.036_757, 1e-6);
        close(interval.high, 4.963_243, 1e-6);
        close(interval.p, 0.013_235, 1e-5);
    }

    #[test]
    fn equal_values_give_an_exact_answer_and_no_nan() {
        let same = mean_interval(&[0.25; 8], 0.05).unwrap();
        assert_eq!((same.low, same.high, same.p), (0.25, 0.25, 0.0));
        let zero = mean_interval(&[0.0; 8], 0.05).unwrap();
        assert_eq!((zero.low, zero.high, zero.p), (0.0, 0.0, 1.0));
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(mean_interval(&[1.0], 0.05), None);
        assert_eq!(mean_interval(&[1.0, f64::NAN], 0.05), None);
        let lone = estimate(&[7.0]);
        assert_eq!((lone.mean, lone.low, lone.high, lone.n), (7.0, 7.0, 7.0, 1));
        assert_eq!(estimate(&[]).n, 0);
    }

    #[test]
    fn an_interval_of_times_stays_above_zero() {
        // Seven blocks and one in which the machine stood still: 25.9 ± 58.9 on the plain scale.
        let times = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 200.0];
        let (plain, found) = (estimate(&times), estimate_above_zero(&times));
        assert!(plain.low < 0.0 && found.low > 0.0, "{plain:?} {found:?}");
        assert_eq!((found.mean, found.n), (plain.mean, plain.n));
        close((found.low * found.high).sqrt(), found.mean, 1e-9);
        // Where blocks agree it is the plain one, to a hundredth of its own width.
        let (plain, found) = [estimate, estimate_above_zero].map(|of| of(&[1.00, 1.02, 0.99, 1.01, 1.0])).into();
        close(found.low, plain.low, 2e-4);
        close(found.high, plain.high, 2e-4);
        assert_eq!(estimate_above_zero(&[0.0; 8]), estimate(&[0.0; 8]));
        assert_eq!(estimate_above_zero(&[7.0]), estimate(&[7.0]));
    }

    #[test]
    fn of_lopsided_times_the_interval_on_the_log_scale_covers_more_often() {
        // Lognormal times whose logarithms differ by 0.8, eight blocks: the mean is exp(0.32).
        let truth = (0.8_f64 * 0.8 / 2.0).exp();
        let covering = |of: fn(&[f64]) -> Estimate| {
            let mut noise = Noise::of(24);
            let holds = |_: &u32| {
                let times: Vec<f64> = (0..8).map(|_| (0.8 * noise.normal()).exp()).collect();
                let found = of(&times);
                found.low <= truth && truth <= found.high
            };
            (0..4_000).filter(holds).count()
        };
        let (plain, found) = (covering(estimate), covering(estimate_above_zero));
        assert!(found > plain, "{plain} {found}");
    }

    #[test]
    fn of_400_intervals_at_least_370_cover_the_truth() {
        for n in [5, 8, 16, 64] {
            let mut noise = Noise::of(n as u64);
            let covering = (0..400)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| 3.0 + 0.14 * noise.normal()).collect();
                    let interval = mean_interval(&values, 0.05).unwrap();
                    interval.low <= 3.0 && 3.0 <= interval.high
                })
                .count();
            assert!((370..=395).contains(&covering), "{covering} of 400 at n = {n}");
        }
    }
}
