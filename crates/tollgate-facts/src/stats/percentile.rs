//! Percentiles that may be printed: those with enough samples beyond them.
//!
//! It reads no distribution; the histograms are the recorder's.

/// Samples that must lie beyond a percentile, so that it does not hang on a handful of stragglers.
pub const SAMPLES_BEYOND_MIN: u64 = 30;

/// Whether `samples` are enough to print the quantile (0.99 for p99).
///
/// ```
/// use tollgate_facts::stats::percentile::is_available;
/// assert!(is_available(0.99, 3_000) && !is_available(0.99, 2_999));
/// ```
pub fn is_available(quantile: f64, samples: u64) -> bool {
    (0.0..1.0).contains(&quantile) && samples >= samples_needed(quantile)
}

/// Samples needed to print the quantile: 3,000 for p99.
pub fn samples_needed(quantile: f64) -> u64 {
    // 1 - 0.99 is a little above 0.01: without the allowance p99 would ask for 3,000 in one place and 2,999 in another.
    const ROUNDING: f64 = 1e-6;
    (SAMPLES_BEYOND_MIN as f64 / (1.0 - quantile).max(f64::MIN_POSITIVE) - ROUNDING).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_samples_beyond_are_needed() {
        for (quantile, needed) in [(0.5, 60), (0.9, 300), (0.95, 600), (0.99, 3_000), (0.999, 30_000)] {
            assert_eq!(samples_needed(quantile), needed, "{quantile}");
            assert!(is_available(quantile, needed) && !is_available(quantile, needed - 1));
        }
        assert!(!is_available(1.0, u64::MAX));
    }
}
