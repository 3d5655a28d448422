//! The estimate that belongs to Wilcoxon's signed ranks: the middle of the means of all pairs, which one wild block cannot
//! move, and the interval of all centres that the signed ranks do not reject.
//!
//! Source: J. L. Hodges, E. L. Lehmann, Estimates of location based on rank tests, Annals of Mathematical Statistics 34
//! (1963). It never decides a toll; it is shown beside Student's mean.

use super::signed_rank;

/// A centre with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centre {
    /// The middle of the means of all pairs.
    pub middle: f64,
    /// Lower end; none where so few values reject no centre at all.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// The centre of `values` with its interval of confidence 1 - `alpha` or a little more, as ranks come in steps. Absent
/// for no values, for too many, and for values that are not finite.
pub fn centre(values: &[f64], alpha: f64) -> Option<Centre> {
    if values.is_empty() || values.len() > signed_rank::EXACT_MAX || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (place, one) in values.iter().enumerate() {
        means.extend(values[place..].iter().map(|other| (one + other) / 2.0));
    }
    means.sort_by(f64::total_cmp);
    let left_out = signed_rank::rejected_sums(values.len(), alpha);
    let ends = left_out.map(|count| (means[count - 1], means[means.len() - count]));
    let middle = signed_rank::median(means)?;
    Some(Centre { middle, low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    #[test]
    fn the_middle_is_that_of_all_pairs_and_the_interval_that_of_the_printed_tables() {
        let found = centre(&[1.0, 2.0, 3.0, 4.0, 5.0, 100.0], 0.05).unwrap();
        // Of 21 means the eleventh; six values reject only the outermost one on either side.
        assert_eq!((found.middle, found.low, found.high), (3.5, Some(1.0), Some(100.0)));
        // The table of Wilcoxon's critical values: 8 values 3, 16 values 29, 25 values 89.
        for (values, critical) in [(8, 3), (16, 29), (25, 89)] {
            assert_eq!(signed_rank::rejected_sums(values, 0.05), Some(critical + 1), "{values}");
        }
        assert_eq!(signed_rank::rejected_sums(5, 0.05), None);
        let few = centre(&[1.0, 3.0], 0.05).unwrap();
        assert_eq!((few.middle, few.low, few.high), (2.0, None, None));
        assert_eq!(centre(&[], 0.05), None);
        assert_eq!(centre(&[f64::NAN], 0.05), None);
    }

    #[test]
    fn of_400_intervals_at_least_370_cover_the_truth_whatever_the_curve() {
        let check = |name: &str, draw: fn(&mut Noise) -> f64| {
            for n in [8, 16, 32] {
                let mut noise = Noise::of(n as u64);
                let covers = |_: &u32| {
                    let values: Vec<f64> = (0..n).map(|_| 0.1 + draw(&mut noise)).collect();
                    let Centre { low, high, .. } = centre(&values, 0.05).unwrap();
                    low.unwrap() <= 0.1 && 0.1 <= high.unwrap()
                };
                let covering = (0..400).filter(covers).count();
                assert!(covering >= 370, "{name}: {covering} of 400 at n = {n}");
            }
        };
        check("bell", |noise| 0.05 * noise.normal());
        // One block in ten is wild.
        check("wild", |noise| noise.normal() * if noise.uniform() < 0.1 { 1.0 } else { 0.05 });
        check("flat", |noise| noise.uniform() - 0.5);
    }

    #[test]
    fn one_wild_block_does_not_move_it() {
        let mut noise = Noise::of(3);
        let mut values: Vec<f64> = (0..16).map(|_| 0.01 * noise.normal()).collect();
        values[7] = 5.0;
        assert!(centre(&values, 0.05).unwrap().middle.abs() < 0.01);
        assert!(crate::stats::mean(&values).unwrap() > 0.3);
    }
}
