//! The statistics that a claim rests on, each in one file: pure functions over slices of numbers.
//!
//! It deliberately knows no trials, cells or figures (that is `toll`), and does not smooth, drop or repair a value.

pub mod between_starts;
pub mod covariance;
pub mod drift;
pub mod hodges_lehmann;
pub mod holm;
pub mod interval;
pub mod percentile;
pub mod percentile_interval;
pub mod scalability;
pub mod sequential;
pub mod signed_rank;
pub mod straight;
pub mod warm_up;
pub mod welch;

use std::collections::BTreeMap;

pub use interval::{Estimate, Interval, estimate, estimate_above_zero, mean_interval};

/// Probability of a false claim that is accepted: intervals are those of 95 %.
pub const ALPHA: f64 = 0.05;

/// Values by their keys, such as those of each block, in the order of the keys.
pub fn by_key<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, Vec<V>> {
    let mut found: BTreeMap<K, Vec<V>> = BTreeMap::new();
    for (key, value) in pairs {
        found.entry(key).or_default().push(value);
    }
    found
}

/// Whether an interval has no width.
pub fn is_exact(low: f64, high: f64) -> bool {
    (high - low).abs() <= 1e-9 * high.abs().max(low.abs())
}

/// Arithmetic mean; absent for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation of a sample (n - 1); absent below two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}
