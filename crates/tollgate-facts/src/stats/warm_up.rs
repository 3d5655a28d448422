//! The end of the warm-up: MSER-5 over a series of bins.
//!
//! The cut is where the remaining values vouch best for their own mean: the least sum of squares by the square of
//! their number, over means of five neighbouring bins. Source: K. P. White, An effective truncation heuristic for
//! bias reduction in simulation output, Simulation 69 (1997). It measures nothing and waits for nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mean;

/// Neighbouring bins that are averaged first, so that a single odd bin does not decide.
const BATCH: usize = 5;
/// Fewest batches that can show whether they are steady: of fewer, no cut that leaves enough lies in the second half.
const BATCHES_MIN: usize = 8;
/// Fewest batches that a cut must leave, besides a quarter of all: a few batches agree with each other by chance.
const BATCHES_LEFT_MIN: usize = 4;

/// The warm-up of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// Leave out this many bins at the start; the rest is steady.
    Cut {
        /// Bins, a multiple of five.
        bins: usize,
    },
    /// The best cut lies in the second half: no steady state was reached.
    NotSteady,
    /// Fewer than 40 bins: nothing can be said yet.
    TooShort,
}

/// Times that differ by less are the same.
const SAME_SHARE: f64 = 0.05;

/// Course of a series of times, after E. Barrett and others, Virtual machine warmup blows hot and cold (OOPSLA 2017).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// The same from the beginning.
    Flat,
    /// Longer at first, and then the same.
    WarmUp,
    /// Shorter at first, and then the same: something fills up, or wears off.
    Slowing,
    /// The same at no time.
    NoSteadyState,
}

/// The course of a series of times such as the mean response time of each 50 ms; absent if it is too short.
pub fn course(bins: &[f64]) -> Option<Course> {
    let cut = match mser5(bins) {
        WarmUp::TooShort => return None,
        WarmUp::NotSteady => return Some(Course::NoSteadyState),
        WarmUp::Cut { bins: cut } => cut,
    };
    let (at_first, then) = bins.split_at(cut);
    let Some((at_first, then)) = mean(at_first).zip(mean(then)) else { return Some(Course::Flat) };
    Some(match at_first / then {
        ratio if ratio > 1.0 + SAME_SHARE => Course::WarmUp,
        ratio if ratio < 1.0 / (1.0 + SAME_SHARE) => Course::Slowing,
        _ => Course::Flat,
    })
}

/// Finds the cut in a series such as answers in each 50 ms.
pub fn mser5(bins: &[f64]) -> WarmUp {
    let batches: Vec<f64> = bins.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if batches.len() < BATCHES_MIN || batches.iter().any(|value| !value.is_finite()) {
        return WarmUp::TooShort;
    }
    // From the end to the start, so that mean and squares (Welford's recurrence) are carried along: one pass.
    let (mut count, mut mean, mut squares) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut best = (f64::INFINITY, 0_usize);
    for (start, value) in batches.iter().enumerate().rev() {
        count += 1.0;
        let step = value - mean;
        mean += step / count;
        squares += step * (value - mean);
        if batches.len() - start >= BATCHES_LEFT_MIN.max(batches.len() / 4) {
            let score = squares / (count * count);
            if score <= best.0 {
                best = (score, start);
            }
        }
    }
    if best.1 * 2 >= batches.len() { WarmUp::NotSteady } else { WarmUp::Cut { bins: best.1 * BATCH } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    /// `rising` bins climb to 100, then the series stays there, with noise of 5.
    fn series(rising: usize, steady: usize, seed: u64) -> Vec<f64> {
        let mut noise = Noise::of(seed);
        (0..rising + steady)
            .map(|index| 100.0 * (index as f64 / rising.max(1) as f64).min(1.0) + 5.0 * noise.normal())
            .collect()
    }

    #[test]
    fn a_ramp_is_cut_where_it_ends() {
        for seed in 0..20 {
            match mser5(&series(60, 340, seed)) {
                WarmUp::Cut { bins } => assert!((50..=90).contains(&bins), "{bins} with seed {seed}"),
                other => panic!("{other:?} with seed {seed}"),
            }
        }
    }

    #[test]
    fn a_flat_series_loses_nothing() {
        assert_eq!(mser5(&[7.0; 100]), WarmUp::Cut { bins: 0 });
    }

    #[test]
    fn noise_alone_loses_little() {
        let cuts: Vec<usize> = (0..100)
            .filter_map(|seed| match mser5(&series(0, 400, 100 + seed)) {
                WarmUp::Cut { bins } => Some(bins),
                _ => None,
            })
            .collect();
        assert!(cuts.len() >= 80, "{} steady", cuts.len());
        assert!(cuts.iter().filter(|&&bins| bins <= 100).count() >= 70);
    }

    #[test]
    fn a_series_that_climbs_to_its_end_is_not_steady() {
        assert_eq!(mser5(&series(400, 0, 3)), WarmUp::NotSteady);
        // Of the fewest bins of which anything is said, too.
        let falling: Vec<f64> = (0..40).map(|bin| 50.0 * (-0.007 * f64::from(bin)).exp()).collect();
        assert_eq!(mser5(&falling), WarmUp::NotSteady);
        let stepped: Vec<f64> = (0..200).map(|index| if index < 150 { 10.0 } else { 100.0 }).collect();
        assert_eq!(mser5(&stepped), WarmUp::NotSteady);
    }

    #[test]
    fn each_course_is_told_by_its_name() {
        let check = |name: &str, at: fn(f64) -> f64, expected: Course| {
            let right = (0..100).filter(|seed| {
                let mut noise = Noise::of(1000 + seed);
                let bins: Vec<f64> =
                    (0..400).map(|bin| at(f64::from(bin) / 400.0) * (1.0 + 0.05 * noise.normal())).collect();
                course(&bins) == Some(expected)
            });
            let right = right.count();
            assert!(right >= 95, "{name}: {right} of 100");
        };
        check("flat", |_| 10.0, Course::Flat);
        check("compiled while it runs", |at| 10.0 + 20.0 * (-at * 20.0).exp(), Course::WarmUp);
        check("a burst of credit", |at| if at < 0.2 { 5.0 } else { 10.0 }, Course::Slowing);
        check("a leak", |at| 10.0 * (1.0 + at), Course::NoSteadyState);
        assert_eq!(course(&[1.0; 39]), None);
    }

    #[test]
    fn a_short_series_says_nothing() {
        assert_eq!(mser5(&[1.0; 39]), WarmUp::TooShort);
        assert_eq!(mser5(&[f64::NAN; 40]), WarmUp::TooShort);
    }
}
