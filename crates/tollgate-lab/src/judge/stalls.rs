//! The rule of stalls: whether the generator was held up too long for the answers that it timed. Its heartbeat rings
//! each millisecond, so even with few beats the late share of them is the share of the time in which answers were seen
//! late.
//!
//! It does not find out which answers those were.

use hdrhistogram::Histogram;

use super::cells;
use tollgate_facts::results::Percentiles;
use tollgate_facts::rules::{Finding, marked_above};

/// Shortest stall: beats are a millisecond apart.
const STALL_MS_MIN: f64 = 1.0;
/// Longest stall, as a share of the answers' time, that leaves them readable.
const STALL_SHARE_MAX: f64 = 0.1;
/// Largest ratio of late beats to answers at the same share. An answer delayed by a stall took as long as the stall was
/// late. Beyond this ratio the stall was longer than its part of the answers: users who wait meet it once each.
const STALL_TIMES_MAX: f64 = 2.0;

/// Largest share of the time that stalls may take: users who wait ask less by it at most.
const HELD_UP_SHARE_MAX: f64 = 0.05;

/// Remedy against stalls.
const REMEDY: &str = "stop what else runs on this machine, or give the generator a core of its own";

/// Finds stalls that were too long for these answers. Where each answer's own unread time is known, only stalls count
/// that were long enough to reduce the load.
pub(crate) fn stalled(
    beats: Option<&Histogram<u64>>,
    response_ms: Percentiles,
    undelayed_ms: Option<Percentiles>,
) -> Option<Finding> {
    let beats = beats.filter(|beats| !beats.is_empty())?;
    match undelayed_ms {
        Some(_) => of_the_time(beats),
        None => beside_the_slowest(beats, response_ms).or_else(|| at_the_same_share(beats, response_ms)),
    }
}

/// Checks the late share of the time, since each beat that falls due in a stall is late.
fn of_the_time(beats: &Histogram<u64>) -> Option<Finding> {
    let late = beats.len() - beats.count_between(0, (STALL_MS_MIN * cells::NS_PER_MS) as u64);
    let share = late as f64 / beats.len() as f64;
    let reason = format!("the load generator was stalled by more than 1 ms for {:.1} % of the time", share * 100.0);
    marked_above(reason, REMEDY, (share, HELD_UP_SHARE_MAX))
}

/// Compares the highest percentile that has enough beats with the slowest answers, whichever answers the stalls
/// delayed.
fn beside_the_slowest(beats: &Histogram<u64>, response_ms: Percentiles) -> Option<Finding> {
    let printed = cells::percentiles(beats).by_quantile();
    let (stall_ms, at) = printed.into_iter().find_map(|(quantile, stall_ms)| Some((stall_ms?, name(quantile))))?;
    let slowest = slowest(response_ms);
    let bound_ms = bound_ms(slowest.map_or(0.0, |(_, slowest_ms)| slowest_ms));
    let beside = slowest.map(|(of, slowest_ms)| format!(", beside a {of} of {slowest_ms:.2} ms")).unwrap_or_default();
    let reason = format!("the load generator stalled for {stall_ms:.1} ms ({at}){beside}");
    marked_above(reason, REMEDY, (stall_ms, bound_ms))
}

/// Compares each printed percentile of the answers, the highest first, with the beats at the same one.
fn at_the_same_share(beats: &Histogram<u64>, response_ms: Percentiles) -> Option<Finding> {
    response_ms.by_quantile().into_iter().find_map(|(quantile, time_ms)| {
        let (time_ms, at) = (time_ms?, name(quantile));
        let stall_ms = beats.value_at_quantile(quantile) as f64 / cells::NS_PER_MS;
        let bound_ms = bound_ms(time_ms);
        let reason =
            format!("the load generator stalled for {stall_ms:.1} ms ({at}), where answers took {time_ms:.2} ms");
        marked_above(reason, REMEDY, (stall_ms, bound_ms)).filter(|_| stall_ms <= STALL_TIMES_MAX * time_ms)
    })
}

/// The name of a quantile: `p99.9` of 0.999.
fn name(quantile: f64) -> String {
    format!("p{}", (quantile * 1e3).round() / 10.0)
}

fn bound_ms(time_ms: f64) -> f64 {
    STALL_MS_MIN.max(STALL_SHARE_MAX * time_ms)
}

/// The 99th percentile, or with few answers the highest one available.
fn slowest(times: Percentiles) -> Option<(&'static str, f64)> {
    let named = [("p99", times.p99), ("p95", times.p95), ("p90", times.p90), ("median", times.p50)];
    named.into_iter().find_map(|(name, time_ms)| Some((name, time_ms?)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// So many milliseconds of beats, and stalls of so many.
    pub(crate) fn beats(all: u64, stalls_ms: &[u64]) -> Histogram<u64> {
        let mut beats = Histogram::new_with_bounds(1_000, 60_000_000_000, 2).unwrap();
        let late = stalls_ms.iter().flat_map(|stall_ms| 0..*stall_ms).map(|beat_ms| beat_ms * 1_000_000 + 500_000);
        late.clone().for_each(|late_ns| beats.record(late_ns).unwrap());
        beats.record_n(100_000, all - late.count() as u64).unwrap();
        beats
    }

    /// The quantile of the answers by whose beats it is marked, in words; empty where it is not.
    fn check(beats: &Histogram<u64>, response_ms: Percentiles, expected: &str) {
        let found = stalled(Some(beats), response_ms, None);
        match &found {
            Some(Finding { reason, value, bound, .. }) => {
                assert!(value > bound && !expected.is_empty() && reason.contains(expected), "{found:?}");
            }
            None => assert_eq!(expected, "", "{response_ms:?}"),
        }
    }

    #[test]
    fn a_heartbeat_later_than_a_tenth_of_the_slowest_answers_is_marked() {
        let slowest = |p99: Option<f64>| Percentiles { p50: Some(1.0), p99, max: 200.0, ..Percentiles::default() };
        // Two stalls of 18 ms are 36 of 30,000 beats, and one in a thousand is 2.5 ms late or later.
        let late = beats(30_000, &[18, 18]);
        check(&late, slowest(Some(20.0)), "(p99.9), beside a p99 of 20.00 ms");
        check(&late, slowest(Some(30.0)), "");
        check(&late, Percentiles::default(), "(p99.9)");
        // Too few beats for that: three in a hundred are late.
        check(&beats(3_000, &[100]), slowest(Some(20.0)), "(p99), beside");
        check(&beats(30_000, &[]), slowest(Some(0.2)), "");
        check(&Histogram::new(2).unwrap(), slowest(Some(0.2)), "");
        assert!(stalled(None, slowest(Some(0.2)), None).is_none());
    }

    #[test]
    fn each_percentile_that_is_printed_is_held_against_the_beats_at_the_same_one() {
        // A quick cell: 8,000 answers, and two stalls of 15 ms, in which one answer in eighty came.
        let quick = beats(1_600, &[15, 15]);
        let times = |p99| Percentiles { p50: Some(4.0), p95: Some(6.0), p99: Some(p99), ..Percentiles::default() };
        check(&quick, times(15.0), "(p99), where answers took 15.00 ms");
        check(&beats(1_600, &[]), times(15.0), "");
        // Answers that take long by themselves bear it.
        check(&quick, times(90.0), "");
        // 5,000 a second for 10 s, and one stall of 50 ms.
        let open = beats(10_000, &[50]);
        let times = |p999| Percentiles { p50: Some(0.3), p99: Some(0.9), p999, ..Percentiles::default() };
        check(&open, times(Some(40.4)), "(p99.9), where answers took 40.40 ms");
        check(&open, times(None), "");
        check(&beats(10_000, &[5]), times(Some(0.9)), "");
    }

    #[test]
    fn a_stall_that_few_of_many_answers_met_is_not_in_their_percentiles() {
        // Two users who wait: a stall of 40 ms is a fortieth of the time, and two answers of thousands.
        let times = Percentiles { p50: Some(0.2), p95: Some(0.4), p99: Some(0.9), ..Percentiles::default() };
        check(&beats(1_600, &[40]), times, "");
        // As many as its share of the time, and they show it.
        check(&beats(1_600, &[40]), Percentiles { p99: Some(22.0), ..times }, "(p99), where");
    }

    #[test]
    fn where_each_answer_tells_how_late_it_was_read_only_the_time_counts_for_which_nothing_was_asked() {
        let times = Percentiles { p50: Some(1.0), p99: Some(20.0), ..Percentiles::default() };
        let held_up = |beats: &Histogram<u64>| stalled(Some(beats), times, Some(times)).map(|found| found.reason);
        // Of each stall all beats are late by more than a millisecond but the last one.
        assert_eq!(held_up(&beats(1_000, &[40])), None);
        let reason = "the load generator was stalled by more than 1 ms for 10.0 % of the time";
        assert_eq!(held_up(&beats(1_000, &[51, 51])).as_deref(), Some(reason));
        assert!(stalled(Some(&beats(1_000, &[40])), times, None).is_some());
    }

    #[test]
    fn a_generator_that_is_late_all_the_time_is_marked_by_the_median_too() {
        let mut beats = beats(1_600, &[]);
        beats.record_n(3_000_000, 1_800).unwrap();
        let times = |p50| Percentiles { p50: Some(p50), p99: Some(90.0), ..Percentiles::default() };
        check(&beats, times(20.0), "(p50), where answers took 20.00 ms");
        check(&beats, times(40.0), "");
    }
}
