//! The rule of the generator's own delay: which percentiles of response time, and whether the mean, contain too much of
//! it, by each answer's own record of how long it lay unread and how late its request was begun.
//!
//! Other percentiles remain readable.

use super::at_rate::GENERATOR_REMEDY;
use tollgate_facts::results::{DELAY_SHARE_MAX, Percentiles, is_delayed};
use tollgate_facts::rules::{Finding, marked_above};

/// Finds the percentiles that contain too much of the generator's own delay, and the mean if it does, where they are
/// known without it.
pub(crate) fn own_delay(response_ms: Percentiles, undelayed_ms: Option<Percentiles>) -> Option<Finding> {
    let of = |times: Percentiles| {
        let named = |(quantile, time): (f64, _)| (format!("p{}", (quantile * 1e3).round() / 10.0), time);
        let percentiles = times.by_quantile().into_iter().rev().map(named);
        percentiles.chain([("the mean".to_owned(), Some(times.mean))])
    };
    let off = of(response_ms).zip(of(undelayed_ms?)).filter_map(|((name, time_ms), (_, undelayed_ms))| {
        let (time_ms, undelayed_ms) = (time_ms?, undelayed_ms?);
        is_delayed(time_ms, undelayed_ms).then_some((name, time_ms, undelayed_ms))
    });
    let off: Vec<(String, f64, f64)> = off.collect();
    let told = |(name, time_ms, undelayed_ms): &(String, f64, f64)| {
        format!("{name} ({time_ms:.3} ms, {undelayed_ms:.3} without it)")
    };
    let all: Vec<String> = off.iter().map(told).collect();
    let reason = format!("the load generator's own delay is in {}", all.join(", "));
    let share = off.iter().map(|(_, time_ms, undelayed_ms)| time_ms / undelayed_ms.max(f64::MIN_POSITIVE) - 1.0);
    marked_above(reason, GENERATOR_REMEDY, (share.fold(0.0, f64::max), DELAY_SHARE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_percentile_that_is_the_generators_is_named_and_no_other() {
        let times = |p50: f64, p99: f64, p999: f64| Percentiles {
            p50: Some(p50),
            p99: Some(p99),
            p999: Some(p999),
            ..Percentiles::default()
        };
        let check = |undelayed: Percentiles, expected: &str| {
            let found = own_delay(times(1.0, 2.1, 9.0), Some(undelayed));
            assert_eq!(found.map(|found| found.reason).unwrap_or_default(), expected);
        };
        check(times(0.96, 2.05, 8.6), "");
        check(times(0.96, 1.2, 8.6), "the load generator's own delay is in p99 (2.100 ms, 1.200 without it)");
        check(
            times(0.96, 1.2, 3.0),
            "the load generator's own delay is in p99 (2.100 ms, 1.200 without it), p99.9 (9.000 ms, 3.000 without it)",
        );
        assert_eq!(own_delay(times(1.0, 2.1, 9.0), None), None);
        // Waking up takes any program that.
        assert_eq!(own_delay(times(0.05, 0.06, 0.07), Some(times(0.035, 0.045, 0.055))), None);
    }

    #[test]
    fn a_mean_that_is_the_generators_is_named_though_no_percentile_is() {
        // One pause of a second, in one of a thousand answers.
        let times = |mean: f64| Percentiles { mean, p50: Some(1.0), p99: Some(1.2), ..Percentiles::default() };
        let found = own_delay(times(2.0), Some(times(1.0))).unwrap();
        assert_eq!(found.reason, "the load generator's own delay is in the mean (2.000 ms, 1.000 without it)");
        assert_eq!(own_delay(times(1.04), Some(times(1.0))), None);
    }

    #[test]
    fn it_is_marked_by_the_largest_share() {
        let times = |p99: f64| Percentiles { p50: Some(1.0), p99: Some(p99), ..Percentiles::default() };
        let found = own_delay(times(3.0), Some(times(2.0))).unwrap();
        assert!((found.value - 0.5).abs() < 1e-9 && found.bound < 0.06, "{found:?}");
    }
}
