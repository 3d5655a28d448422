//! Effect of regressions over the blocks on known tolls: the one on theft, which tolls have, and those that were tried
//! and are not done. The table is in docs/method.md.

use super::{tolls_of, trial};
use crate::fixture::Noise;
use crate::results::{Figure, Theft, Toll, Trial};
use crate::stats::{ALPHA, Interval, covariance, mean, mean_interval, straight};

const RUNS: u32 = 4_000;
/// Spread of the logarithm of a trial's time by itself.
const SPREAD: f64 = 0.03;
/// A toll of half as much again.
const HALF_MORE: f64 = 1.5;

/// A block: its log ratio, and the variant's excess of the regressor.
type Block = (f64, f64);
/// An interval of such blocks.
type Of = fn(&[Block]) -> Interval;

/// Number of runs whose interval contains the toll, and its mean width and error.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    runs: u32,
    width: f64,
    error: f64,
}

fn plain(run: &[Block]) -> Interval {
    mean_interval(&run.iter().map(|(ratio, _)| *ratio).collect::<Vec<f64>>(), ALPHA).unwrap()
}

/// The interval as tolls have it; the plain one if there is no slope.
fn without(run: &[Block]) -> Interval {
    let (values, more): (Vec<f64>, Vec<f64>) = run.iter().copied().unzip();
    let middle = |slope: f64| mean(&run.iter().map(|(ratio, more)| ratio - slope * more).collect::<Vec<f64>>());
    let found = covariance::slope(&values, &more);
    found.map_or_else(|| plain(run), |found| found.interval(middle(found.slope).unwrap(), 1.0, ALPHA))
}

fn narrower(run: &[Block]) -> Interval {
    let both = [plain(run), without(run)];
    both[usize::from(both[1].high - both[1].low < both[0].high - both[0].low)]
}

fn held<const N: usize>(toll: f64, ways: [Of; N], mut run: impl FnMut() -> Vec<Block>) -> [Held; N] {
    let mut all = [Held::default(); N];
    for _ in 0..RUNS {
        let run = run();
        for (held, found) in all.iter_mut().zip(ways.map(|way| way(&run))) {
            held.runs += u32::from(found.low <= toll && toll <= found.high);
            held.width += (found.high - found.low) / f64::from(RUNS);
            held.error += (found.mean - toll) / f64::from(RUNS);
        }
    }
    all
}

fn exponential(noise: &mut Noise) -> f64 {
    -(1.0 - noise.uniform()).ln()
}

/// A trial of 100 ms from which the host takes pieces of 8 ms at this rate of the time that passes: the increase of its
/// time (a logarithm), and the share that was taken as the kernel reports it, in ticks of 10 ms.
fn stolen(noise: &mut Noise, rate: f64) -> Block {
    let (mut taken, mut at) = (0.0, exponential(noise) * 8.0 / rate);
    while at < 100.0 {
        taken += exponential(noise) * 8.0;
        at += exponential(noise) * 8.0 / rate;
    }
    let share = f64::min(taken / 100.0, 0.9);
    (-(1.0 - share).ln(), (share * 10.0 + noise.uniform()).floor() / 10.0)
}

/// A block of two trials on either side, from which the host takes alike; the theft counts with the weight `effect`.
fn block(noise: &mut Noise, toll: f64, rate: f64, effect: f64) -> Block {
    let rate = exponential(noise) * rate;
    let mut side = || {
        let trials = [stolen(noise, rate), stolen(noise, rate)];
        let logs = trials.map(|(longer, _)| effect * longer + SPREAD * noise.normal());
        ((logs[0] + logs[1]) / 2.0, (trials[0].1 + trials[1].1) / 2.0)
    };
    let (variant, baseline) = (side(), side());
    (toll + variant.0 - baseline.0, variant.1 - baseline.1)
}

/// A block in which the host takes something from one trial of ten, and much of it.
fn rare(noise: &mut Noise, effect: f64) -> Block {
    let is_hit = noise.uniform() < 0.1;
    let more = if is_hit { 0.1 * exponential(noise) * noise.normal().signum() } else { 0.0 };
    // What it does is not the same each time.
    (SPREAD * noise.normal() + effect * more * (1.0 + 0.5 * noise.normal()), more)
}

#[test]
fn tolls_without_theft_are_covered_in_3_760_of_4_000_runs_whatever_it_does_and_the_narrower_of_two_intervals_is_not() {
    let mut covered_least = RUNS;
    for blocks in [8, 16, 32] {
        let mut noise = Noise::of(90 + blocks);
        let mut check = |toll: f64, width: (f64, f64), of_block: &dyn Fn(&mut Noise) -> Block| {
            let ways: [Of; 3] = [plain, without, narrower];
            let [before, after, narrower] = held(toll, ways, || (0..blocks).map(|_| of_block(&mut noise)).collect());
            let found = after.width / before.width;
            assert!(after.runs >= 3_760 && after.error.abs() < 0.002, "{blocks} blocks, {toll}: {after:?}");
            assert!((width.0..=width.1).contains(&found), "{blocks} blocks, {toll}: {found} times as wide");
            covered_least = covered_least.min(narrower.runs);
        };
        // All of the noise is theft's, a tenth of it, or none.
        for toll in [0.0, HALF_MORE.ln()] {
            check(toll, (0.40, 0.44), &|noise| block(noise, toll, 0.05, 1.0));
        }
        let lost = if blocks == 8 { 1.12 } else { 1.05 };
        check(0.0, (0.93, lost), &|noise| block(noise, 0.0, 0.05, 0.1));
        check(0.0, (1.0, lost), &|noise| block(noise, 0.0, 0.05, 0.0));
        check(0.0, (0.6, 0.75), &|noise| rare(noise, 1.0));
        check(0.0, (1.0, lost), &|noise| rare(noise, 0.0));
    }
    assert!(covered_least < 3_760, "{covered_least} of 4,000 by the narrower interval");
}

#[test]
fn a_regression_on_the_baselines_own_level_is_the_same_toll_and_claims_one_of_8_percent_of_equals() {
    let by_baseline: Of = |run| {
        let middle = mean(&run.iter().map(|(_, level)| *level).collect::<Vec<f64>>()).unwrap();
        let points: Vec<(f64, f64)> = run.iter().map(|(ratio, level)| (level - middle, *ratio)).collect();
        let found = straight::line(&points, |_| 1.0).unwrap().height;
        assert!((found.mean - plain(run).mean).abs() < 1e-12);
        Interval { low: found.low, high: found.high, ..plain(run) }
    };
    for blocks in [8, 16, 32] {
        let mut noise = Noise::of(93 + blocks);
        let mut of_block = || {
            // As much of what a baseline's blocks differ by is the machine's mood, which the variant meets as well.
            let [mood, variant, baseline] = [0.0; 3].map(|_: f64| SPREAD * noise.normal());
            (variant - baseline, mood + baseline)
        };
        let [before, after] = held(0.0, [plain, by_baseline], || (0..blocks).map(|_| of_block()).collect());
        assert!(before.runs >= 3_760 && after.runs <= 3_680 && after.width < before.width, "{before:?} {after:?}");
    }
}

#[test]
fn a_regression_on_what_the_generator_waited_for_its_core_loses_a_toll_of_cpu() {
    for (blocks, most) in [(8, 2_400), (16, 600), (32, 100)] {
        let mut noise = Noise::of(96 + blocks);
        let mut of_block = || {
            let crowd = 0.3 * exponential(&mut noise);
            let mut side = |cpu_us: f64| {
                let crowd = crowd * (1.0 + 0.5 * noise.normal()).max(0.0);
                // The generator waits when it is woken, the server while it runs.
                let waited = 150.0 * crowd;
                let took = (cpu_us * (1.0 + crowd) + waited) * (0.02 * noise.normal()).exp();
                (took.ln(), waited / took)
            };
            let (variant, baseline) = (side(400.0 * HALF_MORE), side(400.0));
            (variant.0 - baseline.0, variant.1 - baseline.1)
        };
        let [before, after] = held(HALF_MORE.ln(), [plain, without], || (0..blocks).map(|_| of_block()).collect());
        assert!(before.runs >= 3_600 && after.runs <= most, "{blocks} blocks: {before:?} {after:?}");
    }
}

/// Trials of blocks in which the host took these shares from the variant, whose times are longer by as much.
fn trials(shares: &[f64], blocks_of_a_start: usize, toll: f64) -> Vec<Trial> {
    let of_block = |(block, share): (usize, &f64)| {
        let start = (block / blocks_of_a_start) as u32;
        let noise = 0.01 * f64::from((block as u32 * 5) % 7) + 0.1 * f64::from(start);
        let of = |name: &str, place: u32, ratio: f64, stolen_share: f64| {
            let figure = 10.0 * ratio.exp();
            Trial { start, stolen_share, ..trial(name, block as u32, place, figure, figure, 10) }
        };
        let more = share - 0.05;
        [of("base", 0, 0.0, 0.05), of("other", 1, toll + more * 2.0 + noise, *share)]
    };
    shares.iter().enumerate().flat_map(of_block).collect()
}

const SHARES: [f64; 12] = [0.05, 0.0, 0.2, 0.05, 0.1, 0.0, 0.05, 0.15, 0.0, 0.05, 0.0, 0.05];

#[test]
fn time_and_cpu_are_without_theft_where_there_is_some_and_bytes_never_are() {
    let of = |trials: &[Trial]| tolls_of(&["base", "other"], trials, &[]);
    let all = of(&trials(&SHARES, 12, 0.4));
    let theft = |toll: &Toll| toll.theft;
    for toll in &all[..2] {
        let Theft { share, variance_before, variance_after, .. } = theft(toll).unwrap();
        assert!((share - 0.0541).abs() < 1e-3 && variance_after < 0.05 * variance_before, "{toll:?}");
        assert!((toll.ratio.ln() - 0.43).abs() < 0.01 && toll.high / toll.low < 1.04, "{toll:?}");
    }
    assert!(all[2].figure == Figure::Bytes && theft(&all[2]).is_none());
    // Over starts nothing is taken out: the slope's error would be in all of them alike.
    let over_starts = of(&trials(&SHARES, 4, 0.4)).remove(0);
    assert!(over_starts.between_starts.is_some_and(|between| between.is_interval_over_starts));
    assert_eq!(theft(&over_starts), None);
    // Too few blocks, and a host that steals little.
    assert_eq!(theft(&of(&trials(&SHARES[..7], 12, 0.4))[0]), None);
    let mut little = trials(&SHARES, 12, 0.4);
    little.iter_mut().for_each(|trial| trial.stolen_share /= 4.0);
    assert_eq!(theft(&of(&little)[0]), None);
}
