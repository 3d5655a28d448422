//! Growth of throughput with the users of a run: the law fitted for each variant, its intervals from resampled blocks,
//! and the reason if it is not identified.
//!
//! It deliberately does not extrapolate, and fits no levels with errors. The law itself is in
//! [`crate::stats::scalability`].

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::results::{Cell, Estimate, RunResult, Scaling, Trial, Validity, Verdict};
use crate::rules::FEW_ROUNDS;
use crate::stats::scalability::{self, Law};
use crate::stats::{ALPHA, by_key};

/// Fewest error-free levels of a fit.
pub const LEVELS_MIN: usize = 6;
/// Fewest blocks of each level of a fit: with fewer, intervals from resampled blocks cover their truth too seldom.
pub const BLOCKS_MIN: usize = 8;
/// Resamplings behind an interval.
const RESAMPLINGS: usize = 200;
/// Share of the resamplings that must have a knee for one to be said.
const WITH_KNEE_MIN: f64 = 0.95;
/// Throughput beyond the knee must have fallen by this share, or noise may have done it.
const FALL_MIN: f64 = 0.03;
/// An interval whose ends differ by more than this factor identifies nothing.
const SPREAD_MAX: f64 = 3.0;
/// The levels may typically lie off the law by this share.
const RESIDUAL_SHARE_MAX: f64 = 0.15;

/// Logarithms of the throughput of each block of a level.
type Blocks = Vec<f64>;

/// The scaling of every variant; empty where no users are swept over levels enough for a line.
pub fn scalings(run: &RunResult, seed: u64) -> Vec<Scaling> {
    if run.experiment.factor != "concurrency" || run.experiment.levels.len() < LEVELS_MIN {
        return Vec::new();
    }
    // What is offered at a rate says nothing of how far users get.
    let closed = run.experiment.variants.iter().filter(|variant| variant.model.is_none());
    closed.map(|variant| of(run, &variant.name, seed)).collect()
}

fn of(run: &RunResult, variant: &str, seed: u64) -> Scaling {
    // Where trials were too short for their users, throughput is too low, and more so with more users: a knee of our own
    // making.
    let is_short = |found: &Validity| found.verdict == Verdict::Refused || found.rule == FEW_ROUNDS.name;
    let is_used = |level: &&u64| {
        let is_clean = |cell: &Cell| cell.errors.is_empty() && cell.requests > 0;
        run.cell(variant, **level).is_some_and(is_clean) && !run.findings(variant, **level).any(is_short)
    };
    let used = run.experiment.levels.iter().filter(is_used);
    let levels = used.map(|level| (*level, blocks(&run.trials_of(variant, *level))));
    scaling(variant, &levels.filter(|(_, blocks)| !blocks.is_empty()).collect::<Vec<_>>(), seed)
}

/// The throughput of each block, its trials together.
fn blocks(trials: &[&Trial]) -> Blocks {
    let rate = |trials: Vec<&Trial>| {
        let requests: f64 = trials.iter().map(|trial| trial.requests as f64).sum();
        requests / trials.iter().map(|trial| trial.duration_ms / 1e3).sum::<f64>()
    };
    let rates = by_key(trials.iter().map(|trial| (trial.block, *trial))).into_values().map(rate);
    rates.filter(|rate| rate.is_finite() && *rate > 0.0).map(f64::ln).collect()
}

fn scaling(variant: &str, levels: &[(u64, Blocks)], seed: u64) -> Scaling {
    let points: Vec<(f64, f64)> = levels.iter().map(|(level, blocks)| (*level as f64, typical(blocks))).collect();
    let best = points.iter().copied().reduce(|best, point| if point.1 > best.1 { point } else { best });
    let scaling = Scaling {
        variant: variant.to_owned(),
        levels: levels.iter().map(|(level, _)| *level).collect(),
        best_level: best.map(|(users, _)| users as u64),
        ..Scaling::default()
    };
    if levels.len() < LEVELS_MIN {
        let doubt = format!("{} levels without errors, and a fit takes {LEVELS_MIN}", levels.len());
        return Scaling { doubt: Some(doubt), ..scaling };
    }
    let Some(law) = scalability::fit(&points) else {
        return Scaling { doubt: Some("no law goes through these levels".to_owned()), ..scaling };
    };
    let again = resampled(levels, seed);
    let n = levels.iter().map(|(_, blocks)| blocks.len()).min().unwrap_or(0) as u32;
    let part = |of: fn(&Law) -> f64| Some(interval(of(&law), again.iter().map(of).collect(), n));
    let knees: Vec<f64> = again.iter().filter_map(Law::knee).collect();
    let with_knee = knees.len() as f64 / again.len().max(1) as f64;
    let scaling = Scaling {
        residual_share: Some(law.residual_share),
        lambda: part(|law| law.lambda),
        alpha: part(|law| law.alpha),
        beta: part(|law| law.beta),
        knee: law.knee().filter(|_| with_knee >= WITH_KNEE_MIN).map(|knee| interval(knee, knees, n)),
        ..scaling
    };
    let doubt = few_blocks(levels).or_else(|| doubt(&scaling, &law, &points));
    Scaling { knee: scaling.knee.filter(|_| doubt.is_none()), doubt, ..scaling }
}

/// The reason why too few blocks at a level were measured for the spread between them to be known.
fn few_blocks(levels: &[(u64, Blocks)]) -> Option<String> {
    let (level, blocks) = levels.iter().min_by_key(|(_, blocks)| blocks.len())?;
    let count = blocks.len();
    let noun = if count == 1 { "block" } else { "blocks" };
    (count < BLOCKS_MIN).then(|| {
        format!("{count} {noun} at {level} users, and an interval of the law takes {BLOCKS_MIN} at each level")
    })
}

/// The first reason why the law is not identified by these levels.
fn doubt(scaling: &Scaling, law: &Law, points: &[(f64, f64)]) -> Option<String> {
    let ((first, _), (last, at_last)) = (points.first().copied()?, points.last().copied()?);
    let most = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let is_wide = |estimate: Option<Estimate>| {
        estimate.is_none_or(|estimate| !(estimate.low > 0.0 && estimate.high / estimate.low <= SPREAD_MAX))
    };
    Some(match scaling.knee.map(|knee| knee.mean) {
        _ if law.residual_share > RESIDUAL_SHARE_MAX => {
            format!("the levels lie {:.0} % off the law: read them", law.residual_share * 100.0)
        }
        _ if at_last > most * (1.0 - FALL_MIN) => {
            format!("throughput does not fall up to {last} users, so the levels do not reach past the knee")
        }
        None => "what every pair of users costs (beta) may as well be nothing".to_owned(),
        Some(knee) if knee >= last => format!("the knee lies beyond {last} users"),
        Some(knee) if knee < first => {
            format!("the knee lies below {first} users, where nothing was measured: take lower levels, too")
        }
        Some(_) if is_wide(scaling.lambda) => {
            format!("{first} users fill the subject already, so what one does (lambda) is not seen")
        }
        Some(_) if is_wide(scaling.knee) => "the blocks disagree on where the knee lies: take more".to_owned(),
        Some(_) => return None,
    })
}

/// Laws through the levels, each made anew of blocks drawn from its own.
fn resampled(levels: &[(u64, Blocks)], seed: u64) -> Vec<Law> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut law = |_| {
        let points: Vec<(f64, f64)> =
            levels.iter().map(|(level, blocks)| (*level as f64, drawn(blocks, &mut random).exp())).collect();
        scalability::fit(&points)
    };
    (0..RESAMPLINGS).filter_map(&mut law).collect()
}

/// The mean of equally many blocks, drawn from these. Such means vary by sqrt((n - 1) / n) of the deviation of means of
/// n new blocks, so the distance from their own mean is stretched accordingly.
fn drawn(blocks: &[f64], random: &mut ChaCha8Rng) -> f64 {
    let count = blocks.len() as f64;
    let own = blocks.iter().sum::<f64>() / count;
    let drawn = blocks.iter().map(|_| blocks[random.random_range(0..blocks.len())]).sum::<f64>() / count;
    let stretch = if blocks.len() > 1 { (count / (count - 1.0)).sqrt() } else { 1.0 };
    own + (drawn - own) * stretch
}

/// The geometric mean, from logarithms.
fn typical(logarithms: &[f64]) -> f64 {
    (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp()
}

/// The interval that contains all but [`ALPHA`] of the values.
fn interval(mean: f64, mut values: Vec<f64>, n: u32) -> Estimate {
    values.sort_by(f64::total_cmp);
    let at =
        |share: f64| values.get(((values.len().max(1) - 1) as f64 * share).round() as usize).copied().unwrap_or(mean);
    Estimate { mean, low: at(ALPHA / 2.0), high: at(1.0 - ALPHA / 2.0), n }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    /// Eight blocks at each level of a law, with noise of 2 %.
    fn levels(law: (f64, f64, f64), users: &[u64], seed: u64) -> Vec<(u64, Blocks)> {
        levels_of(8, law, users, seed)
    }

    fn levels_of(count: u32, law: (f64, f64, f64), users: &[u64], seed: u64) -> Vec<(u64, Blocks)> {
        let mut noise = Noise::of(seed);
        let law = Law { lambda: law.0, alpha: law.1, beta: law.2, residual_share: 0.0 };
        let mut level = |users: &u64| {
            let blocks = (0..count).map(|_| law.at(*users as f64).ln() + 0.02 * noise.normal()).collect();
            (*users, blocks)
        };
        users.iter().map(&mut level).collect()
    }

    const USERS: [u64; 10] = [1, 5, 10, 20, 40, 80, 160, 320, 640, 1280];

    #[test]
    fn a_known_law_is_identified_and_its_knee_lies_in_the_interval() {
        let covering = covering(20);
        assert!(covering >= 17, "{covering} of 20");
    }

    #[test]
    #[ignore = "takes half a minute without optimization"]
    fn the_knee_lies_in_its_interval_in_at_least_90_of_100_runs() {
        let covering = covering(100);
        assert!(covering >= 90, "{covering} of 100");
    }

    /// Number of runs, of a law that is identified in all of them, whose interval contains the knee.
    fn covering(seeds: u64) -> u32 {
        let truth = (0.98_f64 / 1e-5).sqrt();
        let mut covering = 0;
        for seed in 0..seeds {
            let found = scaling("v", &levels((1000.0, 0.02, 1e-5), &USERS, seed), seed);
            assert_eq!(found.doubt, None, "seed {seed}: {found:?}");
            let knee = found.knee.unwrap();
            covering += u32::from((knee.low..=knee.high).contains(&truth));
        }
        covering
    }

    #[test]
    fn a_law_of_fewer_than_eight_blocks_at_any_level_is_not_identified() {
        let law = (1000.0, 0.02, 1e-5);
        let check = |levels: &[(u64, Blocks)], expected: Option<&str>| {
            let found = scaling("v", levels, 1);
            assert_eq!(found.doubt.as_deref(), expected, "{found:?}");
            assert_eq!(found.knee.is_none(), expected.is_some());
        };
        check(&levels_of(8, law, &USERS, 1), None);
        let alone = "1 block at 1 users, and an interval of the law takes 8 at each level";
        check(&levels_of(1, law, &USERS, 1), Some(alone));
        let mut short = levels_of(8, law, &USERS, 1);
        short[3].1.pop();
        check(&short, Some("7 blocks at 20 users, and an interval of the law takes 8 at each level"));
    }

    #[test]
    fn drawn_blocks_vary_by_as_much_as_means_of_blocks_do() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for count in [2, 3, 8] {
            let mut noise = Noise::of(count);
            let values: Vec<f64> = (0..count).map(|_| 7.0 + 0.02 * noise.normal()).collect();
            let drawn: Vec<f64> = (0..4_000).map(|_| drawn(&values, &mut random)).collect();
            let spread = |values: &[f64]| crate::stats::standard_deviation(values).unwrap();
            let got = spread(&drawn) / (spread(&values) / (count as f64).sqrt());
            assert!((got - 1.0).abs() < 0.05, "{got} of {count} blocks");
        }
    }

    #[test]
    fn what_the_levels_do_not_show_is_not_said() {
        let check = |law: (f64, f64, f64), users: &[u64], expected: &str| {
            let found = scaling("v", &levels(law, users, 1), 1);
            let doubt = found.doubt.clone().unwrap_or_default();
            assert!(doubt.contains(expected) && found.knee.is_none(), "{found:?}");
        };
        check((1000.0, 0.02, 1e-5), &USERS[..5], "5 levels without errors");
        check((1000.0, 0.02, 1e-5), &USERS[..7], "does not fall up to 160 users");
        check((1000.0, 0.1, 0.0), &USERS, "does not fall up to 1280 users");
        // Full from the first level on: whatever one user does, twenty see the same.
        let full = (1e6, 0.99, 1e-4);
        let found = scaling("v", &levels(full, &[20, 40, 80, 160, 320, 640, 1280, 2560], 1), 1);
        assert!(found.doubt.is_some() && found.best_level.is_some_and(|level| level <= 160), "{found:?}");
    }

    #[test]
    fn levels_whose_trials_were_too_short_for_their_users_are_in_no_fit() {
        let mut run = crate::fixture::mediation();
        let last = *run.experiment.levels.last().unwrap();
        let levels = |run: &RunResult| of(run, "pass-through-1k", 1).levels;
        assert_eq!(levels(&run).last(), Some(&last));
        let like = crate::fixture::protocol().validity[0].clone();
        let name = "pass-through-1k".to_owned();
        run.validity = vec![crate::results::Validity {
            variant: name,
            level: last,
            rule: FEW_ROUNDS.name.to_owned(),
            verdict: Verdict::Marked,
            ..like
        }];
        assert!(!levels(&run).contains(&last));
    }

    #[test]
    fn blocks_are_throughput_of_both_trials_together() {
        let trial = |block: u32, requests: u64, duration_ms: f64| Trial {
            block,
            requests,
            duration_ms,
            ..crate::fixture::protocol().trials[0].clone()
        };
        let trials = [trial(0, 100, 500.0), trial(0, 300, 500.0), trial(1, 0, 500.0)];
        let found = blocks(&trials.iter().collect::<Vec<_>>());
        assert!((found[0] - 400_f64.ln()).abs() < 1e-12 && found.len() == 1);
    }
}
