//! The interval of a percentile of answers that come in bunches: Woodruff's, over clusters.
//!
//! R. S. Woodruff, Confidence intervals for medians and other position measures, JASA 47 (1952): the share of answers
//! beyond the percentile has a standard error, and the ends of that share's interval, read back through the distribution,
//! are those of the percentile. Answers that wait in one queue are late together, so that the error is that of a ratio over
//! clusters: blocks, starts, or stretches of a load's time. Neighbours may still be alike: the widest interval of clusters
//! as they are, in pairs and in fours is taken. It deliberately knows no times: shares come out, the caller reads them back.

use super::{ALPHA, interval};

/// Fewer clusters with an answer say too little of their own spread.
pub const CLUSTERS_MIN: usize = 6;
/// Fewest clusters left when neighbours are taken together: fewer make any interval wide.
const JOINED_MIN: usize = 8;
/// Numbers of neighbours that are taken together.
const JOINED: [usize; 3] = [1, 2, 4];
/// An interval that takes more than this part of the share on its side has no end there. Of 1,000 loads of 600 answers
/// of an M/M/1 queue at 0.7, 884 intervals of p90 contained the truth with any end, and 90 % of them with this one; the
/// others are loads without the burst that others have.
const END_SHARE_MAX: f64 = 0.6;

/// The answers of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cluster {
    /// Answers.
    pub answers: f64,
    /// Those of them that took longer than the percentile.
    pub beyond: f64,
}

/// The shares of all answers (0 to 1) at which the ends of the 95 % interval are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// The lower end.
    pub low: f64,
    /// The upper end; absent where too few answers lie beyond the percentile to say how far it may be off.
    pub high: Option<f64>,
}

/// The ends of the interval of this quantile, of clusters in their order. Absent where too few of them have an answer, or
/// where they differ so much that there is no lower end either.
pub fn shares(quantile: f64, clusters: &[Cluster]) -> Option<Shares> {
    let clusters: Vec<Cluster> = clusters.iter().copied().filter(|cluster| cluster.answers > 0.0).collect();
    let count = clusters.len();
    if count < CLUSTERS_MIN {
        return None;
    }
    let sum = |of: fn(&Cluster) -> f64| clusters.iter().map(of).sum::<f64>();
    let (answers, beyond) = (sum(|cluster| cluster.answers), sum(|cluster| cluster.beyond));
    let half_over = |joined: usize| {
        let groups = count / joined;
        // The ratio estimator's residual of each group.
        let mut residuals = vec![0.0; groups];
        for (place, cluster) in clusters.iter().enumerate() {
            residuals[place * groups / count] += cluster.beyond - beyond / answers * cluster.answers;
        }
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let freedom = (groups - 1) as f64;
        interval::quantile(1.0 - ALPHA / 2.0, freedom) * (groups as f64 / freedom * squares).sqrt() / answers
    };
    // Never less than that of independent answers, of which clusters are alike by chance.
    let independent =
        interval::quantile(1.0 - ALPHA / 2.0, answers - 1.0) * (quantile * (1.0 - quantile) / answers).sqrt();
    let joined = JOINED.into_iter().filter(|joined| *joined == 1 || count / joined >= JOINED_MIN);
    let half = joined.map(half_over).fold(independent, f64::max);
    let has_end = |share: f64| half <= END_SHARE_MAX * share;
    has_end(quantile).then(|| Shares { low: quantile - half, high: has_end(1.0 - quantile).then_some(quantile + half) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    const LOADS: usize = 1_000;
    const STRETCHES: usize = 40;

    /// Answers as they came: when, and after how long.
    type Answers = Vec<(f64, f64)>;

    fn exponential(noise: &mut Noise) -> f64 {
        -(1.0 - noise.uniform()).ln()
    }

    fn independent(noise: &mut Noise, count: usize) -> Answers {
        (0..count).map(|place| (place as f64, exponential(noise))).collect()
    }

    /// Exponential, each much like the one before: normal ones with a correlation of 0.9, by their squares in pairs.
    fn correlated(noise: &mut Noise, count: usize) -> Answers {
        let (mut one, mut other) = (noise.normal(), noise.normal());
        let next = |before: f64, noise: &mut Noise| 0.9 * before + (1.0_f64 - 0.81).sqrt() * noise.normal();
        let draw = |place: usize| {
            (one, other) = (next(one, noise), next(other, noise));
            (place as f64, (one * one + other * other) / 2.0)
        };
        (0..count).map(draw).collect()
    }

    /// One server at a utilisation of 0.7, which begins without a queue: its times are exponential with a mean of 1 / 0.3.
    fn queued(noise: &mut Noise, count: usize) -> Answers {
        let (mut at, mut free) = (0.0_f64, 0.0_f64);
        let draw = |_| {
            at += exponential(noise) / 0.7;
            free = at.max(free) + exponential(noise);
            (free, (free - at) * 0.3)
        };
        (0..count).map(draw).collect()
    }

    /// Of [`LOADS`] loads and each quantile, the number of intervals with the truth, and of those without an upper end.
    fn covering(draw: fn(&mut Noise, usize) -> Answers, count: usize, quantiles: &[f64]) -> Vec<(usize, usize)> {
        let mut noise = Noise::of(count as u64);
        let mut found = vec![(0, 0); quantiles.len()];
        for _ in 0..LOADS {
            let answers = draw(&mut noise, count);
            let mut times: Vec<f64> = answers.iter().map(|(_, time)| *time).collect();
            times.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| times[((share * count as f64).ceil() as usize).clamp(1, count) - 1];
            let lasting = answers.last().unwrap().0 * (1.0 + 1e-9);
            for (quantile, (holding, open)) in quantiles.iter().zip(&mut found) {
                let (percentile, truth) = (at(*quantile), -(1.0 - quantile).ln());
                let mut clusters = [Cluster::default(); STRETCHES];
                for (when, time) in &answers {
                    let cluster = &mut clusters[(when / lasting * STRETCHES as f64) as usize];
                    cluster.answers += 1.0;
                    cluster.beyond += f64::from(u8::from(*time > percentile));
                }
                // Where there is none nothing wrong is said.
                let Shares { low, high } = shares(*quantile, &clusters).unwrap_or(Shares { low: 0.0, high: None });
                *open += usize::from(high.is_none());
                *holding += usize::from(at(low) <= truth && high.is_none_or(|high| truth <= at(high)));
            }
        }
        found
    }

    #[test]
    fn of_1000_loads_at_least_900_intervals_hold_the_truth_however_answers_come_in_bunches() {
        let check = |draw, count: usize, expected: &[(f64, usize)]| {
            let quantiles: Vec<f64> = expected.iter().map(|(quantile, _)| *quantile).collect();
            for ((quantile, open_max), (holding, open)) in expected.iter().zip(covering(draw, count, &quantiles)) {
                assert!(holding >= 900, "{holding} hold the {quantile} of {count}");
                assert!(open <= *open_max, "{open} of the {quantile} of {count} have no upper end");
            }
        };
        check(independent, 600, &[(0.5, 0), (0.9, 5)]);
        check(independent, 3_000, &[(0.5, 0), (0.9, 0), (0.99, 60)]);
        check(correlated, 3_000, &[(0.5, 0), (0.9, 100), (0.99, LOADS)]);
        // Of so few answers that wait for each other, not even a burst may have come.
        check(queued, 600, &[(0.5, 20), (0.9, LOADS)]);
        check(queued, 3_000, &[(0.5, 0), (0.9, 500), (0.99, LOADS)]);
    }

    #[test]
    fn of_independent_answers_it_is_about_as_wide_as_the_binomial_one() {
        let mut noise = Noise::of(5);
        let mut all = 0.0;
        for _ in 0..200 {
            let cluster = |_| {
                let beyond = (0..100).filter(|_| noise.uniform() < 0.1).count();
                Cluster { answers: 100.0, beyond: beyond as f64 }
            };
            let clusters: Vec<Cluster> = (0..40).map(cluster).collect();
            let Shares { low, high } = shares(0.9, &clusters).unwrap();
            all += (high.unwrap() - low) / 2.0;
        }
        let wider = all / 200.0 / (1.96 * (0.1 * 0.9 / 4_000.0_f64).sqrt());
        assert!((1.0..1.35).contains(&wider), "{wider}");
    }

    #[test]
    fn too_few_clusters_have_none_and_too_few_answers_beyond_no_upper_end() {
        let alike = |count: usize, answers: f64, beyond: f64| vec![Cluster { answers, beyond }; count];
        assert_eq!(shares(0.5, &alike(5, 100.0, 50.0)), None);
        let mut with_empty = alike(5, 100.0, 50.0);
        with_empty.extend(alike(30, 0.0, 0.0));
        assert_eq!(shares(0.5, &with_empty), None, "nothing was answered in the others");
        let found = shares(0.5, &alike(6, 100.0, 50.0)).unwrap();
        assert!(found.low > 0.45 && found.high.is_some_and(|high| high < 0.55), "{found:?}");
        // All that is beyond came in one of ten blocks.
        let mut burst = alike(9, 1_000.0, 0.0);
        burst.push(Cluster { answers: 1_000.0, beyond: 100.0 });
        let found = shares(0.99, &burst).unwrap();
        assert!(found.high.is_none() && found.low < 0.98, "{found:?}");
        // Half of the blocks are slow, and the other half quick: the median is anywhere.
        let mut halves = alike(4, 100.0, 0.0);
        halves.extend(alike(4, 100.0, 100.0));
        assert_eq!(shares(0.5, &halves), None);
    }
}
