//! Whether response times went one way while a load lasted: then its figures are those of so long a load.
//!
//! By M. G. Kendall's rank correlation (A new measure of rank correlation, Biometrika 30, 1938) of ten parts: a trend is a
//! change that most pairs of parts agree on, and that is large. It deliberately knows nothing of what a load offered.

use tollgate_facts::results::load::CoursePoint;

/// Parts of a load, each of as many points.
const PARTS: usize = 10;
/// Kendall's tau of parts that change by chance is beyond it in 1 of 60 loads, in either direction …
const TAU_MIN: f64 = 0.6;
/// … and then they hardly change by more than this share of their mean.
pub(super) const CHANGE_SHARE_MAX: f64 = 0.5;

/// How response times went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trend {
    /// In the first and in the last parts, in milliseconds.
    pub(super) from_ms: f64,
    pub(super) to_ms: f64,
    /// What lies between, as a share of the mean of all parts; negative where answers became faster.
    pub(super) change: f64,
}

/// The trend of a course; absent where there is none, or where it is too short to tell.
pub(super) fn trend(course: &[CoursePoint]) -> Option<Trend> {
    let parts: Vec<f64> = (0..PARTS).filter_map(|part| mean_ms(&course[part_of(course.len(), part)])).collect();
    if parts.len() < PARTS {
        return None;
    }
    let pairs =
        parts.iter().enumerate().flat_map(|(place, one)| parts[place + 1..].iter().map(move |other| other - one));
    let agreed: f64 = pairs.map(|change| if change == 0.0 { 0.0 } else { change.signum() }).sum();
    let tau = agreed / (PARTS * (PARTS - 1) / 2) as f64;
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len() as f64;
    let (from_ms, to_ms) = (mean(&parts[..2]), mean(&parts[PARTS - 2..]));
    let change = (to_ms - from_ms) / mean(&parts);
    let is_one = tau.abs() >= TAU_MIN && change.abs() > CHANGE_SHARE_MAX && tau.signum() == change.signum();
    is_one.then_some(Trend { from_ms, to_ms, change })
}

fn part_of(points: usize, part: usize) -> std::ops::Range<usize> {
    points * part / PARTS..points * (part + 1) / PARTS
}

/// The mean of all answers in these points.
fn mean_ms(points: &[CoursePoint]) -> Option<f64> {
    let weighed = points.iter().filter_map(|point| Some((point.response_time_ms?, point.requests_per_second)));
    let (sum, weight) = weighed.fold((0.0, 0.0), |(sum, all), (ms, weight)| (sum + ms * weight, all + weight));
    (weight > 0.0).then(|| sum / weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(times_ms: impl IntoIterator<Item = f64>) -> Vec<CoursePoint> {
        let point = |(place, ms): (usize, f64)| CoursePoint {
            until_s: (place + 1) as f64 * 0.05,
            requests_per_second: 1000.0,
            response_time_ms: Some(ms),
        };
        times_ms.into_iter().enumerate().map(point).collect()
    }

    /// One server that takes a millisecond, asked by Poisson arrivals at this share of what it can do, `n` times.
    fn queue(load: f64, n: usize, seed: u64) -> Vec<CoursePoint> {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let (mut at, mut free) = (0.0_f64, 0.0_f64);
        let mut bins: Vec<(f64, f64)> = Vec::new();
        for _ in 0..n {
            at -= (1.0 - random.random_range(0.0..1.0_f64)).ln() / load;
            free = at.max(free) + 1.0;
            let bin = (free / 50.0) as usize;
            bins.resize(bins.len().max(bin + 1), (0.0, 0.0));
            bins[bin].0 += 1.0;
            bins[bin].1 += free - at;
        }
        let point = |(place, (count, sum)): (usize, &(f64, f64))| CoursePoint {
            until_s: (place + 1) as f64 * 0.05,
            requests_per_second: count * 20.0,
            response_time_ms: (*count > 0.0).then(|| sum / count),
        };
        bins.iter().enumerate().map(point).collect()
    }

    #[test]
    fn what_grows_or_falls_all_the_time_is_a_trend() {
        let found = trend(&course((0..40).map(|place| 1.0 + f64::from(place)))).unwrap();
        assert!(found.from_ms < 6.0 && found.to_ms > 35.0 && found.change > 1.0, "{found:?}");
        assert!(trend(&course((0..40).map(|place| 40.0 - f64::from(place)))).unwrap().change < -1.0);
    }

    #[test]
    fn neither_what_is_constant_nor_one_part_nor_a_few_points_are() {
        assert_eq!(trend(&course([1.0; 40])), None);
        assert_eq!(trend(&course((0..40).map(|place| if place == 39 { 50.0 } else { 1.0 }))), None);
        assert_eq!(trend(&course((0..9).map(f64::from))), None);
        assert_eq!(trend(&[]), None);
    }

    #[test]
    fn a_queue_that_cannot_be_steady_is_seen_and_one_that_can_is_not() {
        for load in [1.05, 1.2, 1.5, 2.0] {
            let unseen = (0..40).filter(|seed| trend(&queue(load, 5_000, *seed)).is_none()).count();
            assert_eq!(unseen, 0, "of 40 at {load}");
        }
        for load in [0.3, 0.6, 0.8] {
            let seen = (0..100).filter(|seed| trend(&queue(load, 5_000, *seed)).is_some()).count();
            assert!(seen <= 2, "{seen} of 100 at {load}");
        }
    }
}
