//! How far values lie off a straight line, and whether it may still be read as a law.
//!
//! What it deliberately does not do: fit one.

/// Root of the mean squared relative residual of pairs of what the line says and what was measured: 0.1 is 10 % off,
/// typically. Absent for no pairs.
pub fn residual_share(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let squares: Vec<f64> = pairs.into_iter().map(|(said, measured)| (said / measured - 1.0).powi(2)).collect();
    super::mean(&squares).map(f64::sqrt)
}

/// Why a line off which times lie by this share, typically, is no law, and what to read instead; absent up to `share_max`.
pub fn doubt(residual_share: f64, share_max: f64, instead: &str) -> Option<String> {
    (residual_share > share_max)
        .then(|| format!("the times lie {:.0} % off a straight line: read the {instead}", residual_share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_typical_of_all_pairs_and_doubted_beyond_its_bound() {
        let share = residual_share([(11.0, 10.0), (90.0, 100.0)]).unwrap();
        assert!((share - 0.1).abs() < 1e-12);
        assert_eq!(residual_share([]), None);
        assert_eq!(doubt(0.1, 0.1, "levels"), None);
        assert_eq!(doubt(0.2, 0.1, "cells").unwrap(), "the times lie 20 % off a straight line: read the cells");
    }
}
