//! Welch's interval: the difference of the means of two series that were taken at different times, each with a spread
//! of its own.
//!
//! Source: B. L. Welch, The generalization of 'Student's' problem when several different population variances are
//! involved, Biometrika 34 (1947) 28-35, with Satterthwaite's degrees of freedom. It ignores differences between runs,
//! which no spread inside a run contains.

use super::interval::student;
use super::{Interval, mean, standard_deviation};

/// The mean of `values` less that of `over`, with its interval of confidence 1 - `alpha`; `n` is the smaller number of
/// values.
///
/// Series without any spread give an interval of no width, with p = 1 if they are equal and p = 0 if not. Absent where
/// either has fewer than two values, or one that is not finite.
pub fn difference(values: &[f64], over: &[f64], alpha: f64) -> Option<Interval> {
    let (spread, spread_over) = (standard_deviation(values)?, standard_deviation(over)?);
    let (of, of_over) = (mean(values)?, mean(over)?);
    let (difference, n) = (of - of_over, values.len().min(over.len()));
    if ![difference, spread, spread_over].iter().all(|number| number.is_finite()) {
        return None;
    }
    let part = |spread: f64, n: usize| spread * spread / n as f64;
    let (part_of, part_over) = (part(spread, values.len()), part(spread_over, over.len()));
    let error = (part_of + part_over).sqrt();
    let weight = |part: f64, n: usize| part * part / (n - 1) as f64;
    let freedom = (part_of + part_over).powi(2) / (weight(part_of, values.len()) + weight(part_over, over.len()));
    Some(Interval { n, ..student(difference, error, freedom, of.abs().max(of_over.abs()), alpha) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;
    use crate::stats::ALPHA;
    use crate::stats::interval::quantile;

    #[test]
    fn an_interval_is_the_textbook_one() {
        // By hand: means 4 and 2, variances 2.5 and 1, errors 0.5 and 0.25, freedom 0.75² / (0.25/4 + 0.0625/3).
        let found = difference(&[2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 2.0, 3.0, 2.0], ALPHA).unwrap();
        let close = |got: f64, expected: f64, bound: f64| assert!((got - expected).abs() < bound, "{got}, {expected}");
        close(found.mean, 2.0, 1e-12);
        let error = (0.5_f64 + (2.0 / 3.0) / 4.0).sqrt();
        let freedom = (0.5_f64 + 1.0 / 6.0).powi(2) / (0.25 / 4.0 + (1.0_f64 / 6.0).powi(2) / 3.0);
        close(found.high - found.mean, quantile(0.975, freedom) * error, 1e-9);
        assert_eq!(found.n, 4);
    }

    #[test]
    fn what_has_no_spread_is_exact_and_what_has_no_two_values_is_nothing() {
        let same = difference(&[2.0; 3], &[2.0; 5], ALPHA).unwrap();
        assert_eq!((same.low, same.high, same.p), (0.0, 0.0, 1.0));
        let other = difference(&[3.0; 3], &[2.0; 5], ALPHA).unwrap();
        assert_eq!((other.low, other.high, other.p), (1.0, 1.0, 0.0));
        assert_eq!(difference(&[1.0], &[1.0, 2.0], ALPHA), None);
        assert_eq!(difference(&[1.0, f64::NAN], &[1.0, 2.0], ALPHA), None);
    }

    #[test]
    fn of_400_intervals_on_logs_at_least_370_cover_the_true_ratio() {
        // Blocks of unlike number and spread: Student's own interval for two samples would fail here.
        for (n, n_over, spread, spread_over) in [(16, 16, 0.1, 0.1), (8, 16, 0.25, 0.05), (5, 64, 0.14, 0.14)] {
            let mut noise = Noise::of(n as u64 * 1000 + n_over as u64);
            let truth = 1.07_f64;
            let covering = (0..400)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| (truth * 3.0).ln() + spread * noise.normal()).collect();
                    let over: Vec<f64> = (0..n_over).map(|_| 3.0_f64.ln() + spread_over * noise.normal()).collect();
                    let found = difference(&values, &over, ALPHA).unwrap();
                    found.low <= truth.ln() && truth.ln() <= found.high
                })
                .count();
            assert!((370..=395).contains(&covering), "{covering} of 400 at n = {n}, {n_over}");
        }
    }
}
