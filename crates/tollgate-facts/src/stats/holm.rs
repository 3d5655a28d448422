//! Holm's step-down adjustment: several claims from one run, and still at most 5 % runs with a false one.
//!
//! Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979) 65-70.

/// The adjusted probabilities, in the order given: those below alpha are significant. A NaN counts as 1.
pub fn adjust(probabilities: &[f64]) -> Vec<f64> {
    let clean = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| clean(probabilities[a]).total_cmp(&clean(probabilities[b])));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        let remaining = (probabilities.len() - rank) as f64;
        largest = largest.max(clean(probabilities[index]) * remaining).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    fn check(given: &[f64], expected: &[f64]) {
        let adjusted = adjust(given);
        assert_eq!(adjusted.len(), expected.len());
        for (got, expected) in adjusted.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{adjusted:?}");
        }
    }

    #[test]
    fn adjusted_as_in_holms_own_scheme() {
        check(&[], &[]);
        check(&[0.03], &[0.03]);
        check(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
        check(&[0.6, 0.7], &[1.0, 1.0]);
        check(&[f64::NAN, 0.01], &[1.0, 0.02]);
    }

    #[test]
    fn among_true_equals_a_family_is_wrong_in_at_most_30_of_400() {
        let mut noise = Noise::of(11);
        let wrong = (0..400)
            .filter(|_| {
                let family: Vec<f64> = (0..15).map(|_| noise.uniform()).collect();
                adjust(&family).iter().any(|&p| p < 0.05)
            })
            .count();
        assert!(wrong <= 30, "{wrong}");
    }
}
