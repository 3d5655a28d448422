//! The cross-check that trusts no bell curve: Wilcoxon's signed-rank test.
//!
//! The probability is exact, ties included (the distribution over all signs of the ranks that occurred), as blocks are
//! few. It never decides a toll; where it disagrees with Student t, the toll is marked.

/// Largest number of values for which the exact distribution is computed; beyond, its normal limit (error below 1e-3).
pub const EXACT_MAX: usize = 200;

/// Two-sided probability of signed ranks at least as lopsided by chance. Zeros are left out; 1 if nothing is left.
///
/// With five values or fewer it cannot fall below 0.05: see [`can_tell`].
pub fn probability(differences: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0 && d.is_finite()).collect();
    if sorted.is_empty() {
        return 1.0;
    }
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let ranks = doubled_ranks(&sorted);
    let positive: u64 = sorted.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let total: u64 = ranks.iter().sum();
    let smaller = positive.min(total - positive);
    if ranks.len() > EXACT_MAX {
        return normal_limit(smaller, &ranks);
    }
    (2.0 * share_at_most(smaller, &ranks)).min(1.0)
}

/// Whether this many values could show a difference at `alpha` at all.
pub fn can_tell(n: usize, alpha: f64) -> bool {
    2.0 * 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX)) < alpha
}

/// Number of the lowest sums of signed ranks that are together rarer than half of `alpha`: a centre is rejected beyond
/// as many means of pairs on either side. Absent if none is, as there are too few values, and beyond [`EXACT_MAX`]
/// values.
pub fn rejected_sums(n: usize, alpha: f64) -> Option<usize> {
    if n > EXACT_MAX {
        return None;
    }
    // Up to the middle, which is never rare.
    let shares = shares(1..=n, n * (n + 1) / 4);
    let mut below = 0.0;
    let is_rare = |share: &&f64| {
        below += **share;
        2.0 * below <= alpha
    };
    let rare = shares.iter().take_while(is_rare).count();
    (rare > 0).then_some(rare)
}

/// The middle value; the mean of the two middle ones for an even number. Absent for no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    Some(if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 })
}

/// Ranks of values sorted by size, ties sharing their mean rank; doubled, so that they stay whole numbers.
fn doubled_ranks(sorted: &[f64]) -> Vec<u64> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for tied in sorted.chunk_by(|a, b| a.abs().total_cmp(&b.abs()).is_eq()) {
        let first = ranks.len() as u64 + 1;
        let last = ranks.len() as u64 + tied.len() as u64;
        ranks.extend(std::iter::repeat_n(first + last, tied.len()));
    }
    ranks
}

/// Share of all sign patterns whose positive ranks sum to at most `bound`.
fn share_at_most(bound: u64, ranks: &[u64]) -> f64 {
    let whole = |rank: u64| usize::try_from(rank).expect("at most 200 ranks sum to a small number");
    shares(ranks.iter().map(|rank| whole(*rank)), whole(bound)).iter().sum()
}

/// For each sum up to `most`, the share of all sign patterns whose positive ranks have it.
fn shares(ranks: impl Iterator<Item = usize>, most: usize) -> Vec<f64> {
    let mut shares = vec![0.0_f64; most + 1];
    shares[0] = 1.0;
    for rank in ranks {
        for sum in (0..=most).rev() {
            let with = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = (shares[sum] + with) / 2.0;
        }
    }
    shares
}

fn normal_limit(smaller: u64, ranks: &[u64]) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    let total: f64 = ranks.iter().map(|&rank| rank as f64).sum();
    let variance: f64 = ranks.iter().map(|&rank| (rank as f64).powi(2)).sum::<f64>() / 4.0;
    // Half a rank up, which is 1 in doubled ranks: the sums are whole numbers, the bell curve is not.
    let z = (smaller as f64 + 1.0 - total / 2.0) / variance.sqrt();
    (2.0 * Normal::standard().cdf(z)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    fn check(differences: &[f64], expected: f64) {
        let got = probability(differences);
        assert!((got - expected).abs() < 1e-9, "expected {expected}, got {got} for {differences:?}");
    }

    #[test]
    fn probabilities_are_exact() {
        check(&[], 1.0);
        check(&[0.0, 0.0], 1.0);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], 2.0 / 32.0);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0 / 64.0);
        check(&[-1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4.0 / 64.0);
        // Sums of at most 5 out of ranks 1..8: (), 1, 2, 3, 4, 5, 1+2, 1+3, 1+4, 2+3.
        check(&[1.0, 2.0, 3.0, 4.0, -5.0, 6.0, 7.0, 8.0], 20.0 / 256.0);
    }

    #[test]
    fn ties_share_their_rank_and_stay_exact() {
        check(&[1.0, 1.0, 1.0, 1.0], 2.0 / 16.0);
        check(&[1.0, -1.0, 1.0, -1.0], 1.0);
    }

    #[test]
    fn brute_force_over_all_signs_agrees() {
        let mut noise = Noise::of(5);
        for n in 1..=10_usize {
            let values: Vec<f64> = (0..n).map(|_| (noise.normal() * 4.0).round() + 0.5).collect();
            let mut sorted = values.clone();
            sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            let ranks = doubled_ranks(&sorted);
            let total: u64 = ranks.iter().sum();
            let sum_of = |chosen: &dyn Fn(usize) -> bool| -> u64 {
                ranks.iter().enumerate().filter(|(i, _)| chosen(*i)).map(|(_, rank)| rank).sum()
            };
            let seen = sum_of(&|i| sorted[i] > 0.0);
            let seen = seen.min(total - seen);
            let patterns = 1_u32 << n;
            let as_far = (0..patterns).filter(|bits| sum_of(&|i| (bits >> i) & 1 == 1) <= seen).count();
            check(&values, (2.0 * as_far as f64 / f64::from(patterns)).min(1.0));
        }
    }

    #[test]
    fn the_normal_limit_continues_the_exact_distribution() {
        let mut noise = Noise::of(17);
        let values: Vec<f64> = (0..EXACT_MAX).map(|_| noise.normal() + 0.1).collect();
        let mut sorted = values.clone();
        sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let ranks = doubled_ranks(&sorted);
        let positive: u64 = sorted.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
        let smaller = positive.min(ranks.iter().sum::<u64>() - positive);
        assert!((normal_limit(smaller, &ranks) - probability(&values)).abs() < 1e-3);
    }

    #[test]
    fn few_values_cannot_tell() {
        assert!(!can_tell(5, 0.05));
        assert!(can_tell(6, 0.05));
    }

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_two() {
        assert_eq!(median(Vec::new()), None);
        assert_eq!(median(vec![3.0, 1.0, 100.0]), Some(3.0));
        assert_eq!(median(vec![4.0, 1.0, 100.0, 3.0]), Some(3.5));
    }

    #[test]
    fn among_equals_it_is_wrong_in_at_most_30_of_400() {
        let mut noise = Noise::of(23);
        let wrong =
            (0..400).filter(|_| probability(&(0..16).map(|_| noise.normal()).collect::<Vec<_>>()) < 0.05).count();
        assert!(wrong <= 30, "{wrong}");
    }
}
