//! Differences between starts of a server beyond those of its blocks: one-way analysis of variance with random starts.
//!
//! An interval over blocks takes them for independent; where a start has a mood of its own (where its memory lies,
//! which core its threads found), blocks of a start share it and the interval is too narrow. Starts are independent of
//! each other, and Student's interval over their means is right however starts and blocks vary. So it is the one that is
//! printed wherever there are two: deliberately without a test of whether starts differ, which sees too little in few.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::{Estimate, Interval, estimate, mean, mean_interval};

/// Fewest starts whose spread is informative.
pub const STARTS_MIN: usize = 2;

/// Blocks whose spread is below this share of their size are equal up to rounding.
const ROUNDING_SHARE: f64 = 1e-12;

/// The spread between starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// Standard deviation of the starts' means beyond that explained by blocks; 0 where blocks explain all of it.
    pub deviation: f64,
    /// Probability that means differ this much if all starts were alike.
    pub p: f64,
    /// Starts behind it.
    pub starts: usize,
}

/// The spread between starts, each with the values of its blocks. Absent for fewer than [`STARTS_MIN`] starts, where
/// none has two blocks, and where nothing varies.
pub fn between(starts: &[Vec<f64>]) -> Option<Between> {
    among(&counted(starts).collect::<Vec<_>>())
}

/// The same of groups with at least one value each; all count, even those with few values beside the others.
pub fn among(starts: &[&Vec<f64>]) -> Option<Between> {
    if starts.len() < STARTS_MIN || starts.iter().any(|values| values.iter().any(|value| !value.is_finite())) {
        return None;
    }
    let count = starts.len() as f64;
    let all: Vec<f64> = starts.iter().flat_map(|values| values.iter().copied()).collect();
    if all.len() == starts.len() {
        return None;
    }
    let (total, grand) = (all.len() as f64, mean(&all)?);
    let (mut within, mut between) = (0.0, 0.0);
    for values in starts {
        let own = mean(values)?;
        within += values.iter().map(|value| (value - own).powi(2)).sum::<f64>();
        between += values.len() as f64 * (own - grand).powi(2);
    }
    let (of_blocks, of_starts) = (within / (total - count), between / (count - 1.0));
    let rounding = all.iter().fold(1.0_f64, |largest, value| largest.max(value.abs())) * ROUNDING_SHARE;
    if of_blocks.max(of_starts).sqrt() <= rounding {
        return None;
    }
    // Of starts with unequal numbers of blocks, the number that stands for all of them.
    let squares: f64 = starts.iter().map(|values| (values.len() as f64).powi(2)).sum();
    let blocks = (total - squares / total) / (count - 1.0);
    let p = match of_blocks.sqrt() <= rounding {
        true => 0.0,
        false => FisherSnedecor::new(count - 1.0, total - count).ok()?.sf(of_starts / of_blocks),
    };
    let deviation = ((of_starts - of_blocks) / blocks).max(0.0).sqrt();
    Some(Between { deviation, p, starts: starts.len() })
}

/// The mean of the starts that [`between`] counts, one value each.
pub fn means(starts: &[Vec<f64>]) -> Vec<f64> {
    counted(starts).filter_map(|values| mean(values)).collect()
}

/// Student's interval over the starts, of confidence 1 - `alpha`; absent where there are too few of them.
pub fn interval(starts: &[Vec<f64>], alpha: f64) -> Option<Interval> {
    let means = means(starts);
    mean_interval(&means, alpha).filter(|_| means.len() >= STARTS_MIN)
}

/// Mean of non-negative values with its 95 % interval, as in results: over the starts, or over the blocks of a single
/// one.
pub fn estimate_over(starts: &[Vec<f64>]) -> Estimate {
    let all: Vec<f64> = starts.concat();
    let over_blocks = estimate(&all);
    let found = match interval(starts, super::ALPHA) {
        Some(Interval { mean, low, high, .. }) => Estimate { mean, low, high, ..over_blocks },
        None => over_blocks,
    };
    found.above_zero()
}

/// Starts with at least half as many blocks as the one in the middle: one that hardly began is not comparable.
fn counted(starts: &[Vec<f64>]) -> impl Iterator<Item = &Vec<f64>> {
    let mut sizes: Vec<usize> = starts.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    let middle = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    starts.iter().filter(move |values| !values.is_empty() && values.len() * 2 >= middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;
    use crate::stats::{ALPHA, estimate_above_zero};

    const WITHIN: f64 = 0.05;

    fn starts(noise: &mut Noise, count: usize, blocks: usize, between: f64) -> Vec<Vec<f64>> {
        let one = |noise: &mut Noise| {
            let mood = between * noise.normal();
            (0..blocks).map(|_| mood + WITHIN * noise.normal()).collect()
        };
        (0..count).map(|_| one(noise)).collect()
    }

    #[test]
    fn a_textbook_example_comes_out_as_printed() {
        // Mean squares 7 and 3, of 2 and 6 degrees of freedom: p = (1 + F / 3) ^ -3.
        let found = between(&[vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 7.0], vec![4.0, 5.0, 6.0]]).unwrap();
        assert!((found.p - (16.0_f64 / 9.0).powi(-3)).abs() < 1e-9, "{found:?}");
        assert!((found.deviation - (4.0_f64 / 3.0).sqrt()).abs() < 1e-9 && found.starts == 3, "{found:?}");
    }

    #[test]
    fn starts_that_are_alike_are_said_to_differ_in_at_most_30_of_400() {
        for blocks in [2, 5, 21] {
            let mut noise = Noise::of(blocks as u64);
            let wrong = (0..400).filter(|_| between(&starts(&mut noise, 3, blocks, 0.0)).unwrap().p < ALPHA).count();
            assert!(wrong <= 30, "{wrong} of 400 at {blocks} blocks");
        }
    }

    #[test]
    fn starts_that_differ_are_found_with_their_spread() {
        let mut noise = Noise::of(9);
        let (mut found_in, mut deviations) = (0, Vec::new());
        for _ in 0..400 {
            let found = between(&starts(&mut noise, 6, 10, 2.0 * WITHIN)).unwrap();
            found_in += u32::from(found.p < ALPHA);
            deviations.push(found.deviation.powi(2));
        }
        assert!(found_in >= 380, "{found_in} of 400");
        let typical = mean(&deviations).unwrap().sqrt();
        assert!((typical / (2.0 * WITHIN) - 1.0).abs() < 0.1, "{typical}");
    }

    #[test]
    fn an_interval_over_starts_is_students_over_their_means() {
        let three = [vec![0.5, 1.5, 4.0], vec![2.0, 3.0, 4.0], vec![3.0, 5.0], vec![9.0]];
        let found = interval(&three, ALPHA).unwrap();
        assert_eq!((found.mean, found.n), (3.0, 3), "a start that hardly began is left out");
        assert!((found.high - found.mean - 4.302_653 / 3.0_f64.sqrt()).abs() < 1e-5, "{found:?}");
        let stored = estimate_over(&three);
        // On the logarithm: it is a time.
        let factor = ((found.high - 3.0) / 3.0).exp();
        assert_eq!((stored.mean, stored.low, stored.high, stored.n), (3.0, 3.0 / factor, 3.0 * factor, 9));
        assert_eq!(interval(&three[..1], ALPHA), None);
        assert_eq!(estimate_over(&three[..1]), estimate_above_zero(&three[0]));
    }

    /// Of 2,000 runs of this many starts and blocks whose starts have this spread by that of blocks, the number of
    /// intervals that cover the truth: over starts, and over blocks.
    fn covering(count: usize, blocks: usize, between: f64) -> (usize, usize) {
        let mut noise = Noise::of((count * 100 + blocks) as u64);
        let covers = |interval: Option<Interval>| interval.is_some_and(|found| found.low <= 0.0 && 0.0 <= found.high);
        let (mut over_starts, mut over_blocks) = (0, 0);
        for _ in 0..2_000 {
            let run = starts(&mut noise, count, blocks, between * WITHIN);
            over_starts += usize::from(covers(interval(&run, ALPHA)));
            over_blocks += usize::from(covers(mean_interval(&run.concat(), ALPHA)));
        }
        (over_starts, over_blocks)
    }

    #[test]
    fn intervals_over_starts_cover_the_truth_in_1_860_of_2_000_runs_however_much_starts_differ() {
        for (count, blocks) in [(2, 8), (3, 8), (4, 4), (6, 6)] {
            for between in [0.0, 1.0, 2.0] {
                let (over_starts, over_blocks) = covering(count, blocks, between);
                assert!(over_starts >= 1_860, "{over_starts} of {count} starts of {blocks} blocks at {between}");
                assert!(between < 1.0 || over_blocks < 1_600, "{over_blocks} over blocks at {between}");
            }
        }
    }

    #[test]
    fn starts_whose_blocks_are_equal_differ_for_certain_or_not_at_all() {
        let found = between(&[vec![0.1; 4], vec![0.1; 4], vec![0.2; 4]]).unwrap();
        assert_eq!((found.p, found.starts), (0.0, 3));
        // What is left of a sum's rounding is no spread.
        let alike = vec![0.1 / 3.0; 3];
        assert_eq!(between(&[alike.clone(), alike.clone(), alike]), None);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(between(&[vec![1.0, 2.0]]), None);
        assert_eq!(between(&[vec![1.0], vec![3.0], vec![1.0]]), None);
        assert_eq!(between(&[vec![1.0, 1.0], vec![1.0, 1.0], vec![1.0, 1.0]]), None);
        assert_eq!(between(&[vec![1.0, f64::NAN], vec![1.0, 2.0], vec![1.0, 2.0]]), None);
    }
}
