//! Sources of the variance of a toll's ratio: trials of a block (requests, and the machine from one slice to the next),
//! blocks of a start (their connections, slower moods), and starts of the servers.
//!
//! A nested analysis of variance of the stored trials, by moments: each level's mean square less what the level below
//! explains, and 0 where that is more. It corrects nothing: the interval includes all of it already.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::pair::{Logs, Over, Pair, log_ratios};
use crate::results::{Figure, RunResult, Toll, Trial};
use crate::stats::{self, ALPHA, between_starts, by_key, mean, standard_deviation};

/// Fewest blocks for shares.
const BLOCKS_MIN: usize = 4;

/// Shares of the variance of a ratio, together 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceShares {
    /// Spread between trials of one variant in one block.
    pub trials: f64,
    /// Further spread between blocks of a start.
    pub blocks: f64,
    /// Further spread between starts; absent of one.
    pub starts: Option<f64>,
    /// Whether blocks or starts differ by more than the level below them explains (F-tests, p < 0.05 each).
    pub is_seen: bool,
}

/// The shares of a toll. Absent if it is refused or exact, at equal rate, and if there are too few blocks, or none that
/// has a variant twice.
pub fn shares(run: &RunResult, toll: &Toll) -> Option<VarianceShares> {
    if !toll.is_shown() || toll.figure.is_at_rate() || stats::is_exact(toll.low, toll.high) {
        return None;
    }
    let over = run.experiment.variant(&toll.baseline).map_or(Over::Baseline, Over::of);
    let pair = Pair::new(run, &toll.variant, &toll.baseline, toll.level, over);
    let ratios = log_ratios(&pair.by_block(toll.figure));
    let [variant, baseline] = pair.trials.each_ref().map(|trials| of_trials(toll.figure, trials, over, &ratios));
    of(&pair.by_start(&ratios), variant? + baseline?)
}

/// The shares of the mean of these values, by start and block; each varies by `of_trials` by its trials alone.
fn of(starts: &[Vec<f64>], of_trials: f64) -> Option<VarianceShares> {
    let (count, blocks) = (starts.len() as f64, starts.iter().map(Vec::len).sum::<usize>());
    let freedom = blocks.checked_sub(starts.len()).filter(|freedom| *freedom > 0 && blocks >= BLOCKS_MIN)? as f64;
    let squares = |values: &Vec<f64>| Some((values.len() - 1) as f64 * standard_deviation(values)?.powi(2));
    let of_blocks = starts.iter().filter_map(squares).sum::<f64>() / freedom;
    let between = between_starts::between(starts);
    // Of each of two variants there is a pair of trials in each block; the sum of both variances has at least this freedom.
    let by_chance = FisherSnedecor::new(freedom, blocks as f64).ok()?.sf(of_blocks / of_trials.max(f64::MIN_POSITIVE));
    let trials = of_trials.min(of_blocks) / blocks as f64;
    let blocks = (of_blocks - of_trials).max(0.0) / blocks as f64;
    let starts = between.map(|between| between.deviation.powi(2) / count);
    let all = trials + blocks + starts.unwrap_or(0.0);
    (all > 0.0 && all.is_finite()).then(|| VarianceShares {
        trials: trials / all,
        blocks: blocks / all,
        starts: starts.map(|starts| starts / all),
        is_seen: by_chance < ALPHA || between.is_some_and(|between| between.p < ALPHA),
    })
}

/// Variance of the mean logarithm of a block by its trials alone.
fn of_trials(figure: Figure, trials: &[&Trial], over: Over, ratios: &Logs) -> Option<f64> {
    let counted = trials.iter().filter(|trial| ratios.contains_key(&trial.block));
    let logs = by_key(counted.filter_map(|trial| Some((trial.block, figure.of(trial, over)?.ln()))));
    let of_mean = |logs: &Vec<f64>| Some(standard_deviation(logs)?.powi(2) / logs.len() as f64);
    mean(&logs.values().filter_map(of_mean).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    /// The mean shares of many runs of six starts of six blocks, with these spreads of trials, blocks and starts.
    fn typical(trials: f64, blocks: f64, starts: f64) -> [f64; 3] {
        const RUNS: usize = 400;
        let mut noise = Noise::of(81);
        let mut sums = [0.0; 3];
        for _ in 0..RUNS {
            let mut run = Vec::new();
            for _ in 0..6 {
                let mood = starts * noise.normal();
                run.push((0..6).map(|_| mood + blocks * noise.normal() + trials * noise.normal()).collect());
            }
            let found = of(&run, trials.powi(2)).unwrap();
            let found = [found.trials, found.blocks, found.starts.unwrap()];
            sums.iter_mut().zip(found).for_each(|(sum, share)| *sum += share / RUNS as f64);
        }
        sums
    }

    #[test]
    fn each_level_has_its_share_of_the_variance_of_the_mean() {
        // Starts count a sixth of their variance, blocks and trials a 36th of theirs.
        let check = |deviations: [f64; 3], expected: [f64; 3]| {
            let [trials, blocks, starts] = deviations;
            let found = typical(trials, blocks, starts);
            let is_close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.1);
            assert!(is_close, "{found:?}, not {expected:?}");
        };
        check([0.1, 0.0, 0.0], [0.75, 0.08, 0.17]);
        check([0.01, 0.1, 0.01], [0.01, 0.77, 0.22]);
        check([0.1, 0.1, 0.2], [0.07, 0.07, 0.86]);
    }

    #[test]
    fn of_400_runs_whose_trials_explain_all_at_most_30_are_said_to_have_more() {
        let mut noise = Noise::of(82);
        let mut seen = |blocks: f64| {
            let mut one = || {
                let trials: Vec<f64> = (0..64).map(|_| noise.normal()).collect();
                let pairs =
                    trials.chunks(4).map(|four| ((four[0] - four[1]).powi(2) + (four[2] - four[3]).powi(2)) / 4.0);
                let of_trials = mean(&pairs.collect::<Vec<f64>>()).unwrap();
                let ratios = trials.chunks(4).map(|four| (four[0] + four[1] - four[2] - four[3]) / 2.0);
                let ratios = ratios.map(|ratio| ratio + blocks * noise.normal()).collect();
                of(&[ratios], of_trials).unwrap().is_seen
            };
            (0..400).filter(|_| one()).count()
        };
        let (none, much) = (seen(0.0), seen(3.0));
        assert!(none <= 30 && much >= 390, "{none} and {much} of 400");
    }

    #[test]
    fn one_start_has_no_share_of_starts_and_few_blocks_have_none() {
        let found = of(&[vec![0.0, 0.1, 0.2, 0.3, 0.1]], 0.001).unwrap();
        assert!(found.starts.is_none() && (found.trials + found.blocks - 1.0).abs() < 1e-12, "{found:?}");
        assert_eq!(of(&[vec![0.0, 0.1, 0.2]], 0.001), None);
        assert_eq!(of(&[vec![0.1; 5]], 0.0), None);
        assert_eq!(of(&[vec![0.1], vec![0.2], vec![0.1], vec![0.3]], 0.001), None);
    }
}
