//! The part of a load at a rate that was due and never begun, since it ended before a user was free: those requests had
//! waited longest, so a percentile of the others is too low.
//!
//! It does not say why users were missing.

use tollgate_facts::results::Percentiles;

/// Least share of intended starts that must have been begun.
pub(crate) const SENT_SHARE_MIN: f64 = 0.99;
/// Largest part of the answers beyond a percentile that may be missing.
const MISSING_PART_MAX: f64 = 0.1;

/// Intended starts, and those that were never begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unsent {
    pub(crate) intended: u64,
    pub(crate) unsent: u64,
}

/// Printed percentiles that are too low without the starts that were never begun.
#[derive(Debug, PartialEq)]
pub(crate) struct Lacking {
    /// Their names, in words.
    percentiles: String,
    /// The share that should have been begun for the highest of them.
    pub(crate) sent_share_min: f64,
}

impl Unsent {
    /// The share that was begun, 0 to 1.
    pub(crate) fn sent_share(self) -> f64 {
        self.intended.saturating_sub(self.unsent) as f64 / self.intended.max(1) as f64
    }

    /// Whether too little was begun for any figure to be read.
    pub(crate) fn is_too_much(self) -> bool {
        self.sent_share() < SENT_SHARE_MIN
    }

    /// The percentiles that are too low without the missing starts; each missing start counts as `each` of these times.
    pub(crate) fn lacking(self, times: Percentiles, each: u64) -> Option<Lacking> {
        let missing = self.unsent as f64 / (self.intended * each).max(1) as f64;
        let Percentiles { p50, p90, p95, p99, p999, .. } = times;
        let printed = [
            (p50, 0.5, "the median"),
            (p90, 0.1, "p90"),
            (p95, 0.05, "p95"),
            (p99, 0.01, "p99"),
            (p999, 0.001, "p99.9"),
        ];
        let lacks = |(time, beyond, name): (Option<f64>, f64, &'static str)| {
            let most = beyond * MISSING_PART_MAX;
            (time.is_some() && self.unsent > 0 && missing >= most).then_some((most * each as f64, name))
        };
        let lacking: Vec<(f64, &str)> = printed.into_iter().filter_map(lacks).collect();
        let ((most, highest), others) = lacking.split_last()?;
        let others: Vec<&str> = others.iter().map(|(_, name)| *name).collect();
        let percentiles =
            if others.is_empty() { (*highest).to_owned() } else { format!("{} and {highest}", others.join(", ")) };
        Some(Lacking { percentiles, sent_share_min: 1.0 - most })
    }

    /// Says that they lack these `things`, which were never `begun`.
    pub(crate) fn told(self, lacking: &Lacking, things: &str, begun: &str) -> String {
        let (Unsent { intended, unsent }, Lacking { percentiles, .. }) = (self, lacking);
        format!(
            "{unsent} of {intended} {things} waited until the load ended and were never {begun}: the slowest ones, missing \
             from {percentiles}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_stands_where_less_than_a_tenth_of_what_is_beyond_it_is_missing() {
        let printed =
            Percentiles { p50: Some(1.0), p95: Some(1.8), p99: Some(2.0), p999: Some(2.2), ..Percentiles::default() };
        let few = Percentiles { p99: None, p999: None, ..printed };
        let check = |unsent: u64, each: u64, times: Percentiles, expected: Option<(&str, f64)>| {
            let unsent = Unsent { intended: 60_000, unsent };
            let found = unsent.lacking(times, each).map(|found| (found.percentiles, found.sent_share_min));
            match (found, expected) {
                (None, None) => {}
                (Some((names, bound)), Some((expected, least))) => {
                    assert_eq!(names, expected);
                    assert!((bound - least).abs() < 1e-9 && unsent.sent_share() <= bound + 1e-9, "{bound}");
                }
                other => panic!("{unsent:?} {other:?}"),
            }
        };
        check(0, 1, printed, None);
        check(5, 1, printed, None);
        check(7, 1, printed, Some(("p99.9", 0.9999)));
        check(61, 1, printed, Some(("p99 and p99.9", 0.9999)));
        // A server that stands still for the last 0.7 s of a minute.
        check(500, 1, printed, Some(("p95, p99 and p99.9", 0.9999)));
        check(299, 1, few, None);
        check(301, 1, few, Some(("p95", 0.995)));
        // Of three steps the first one alone would have been late.
        check(17, 3, printed, None);
        check(19, 3, printed, Some(("p99.9", 0.9997)));
        assert_eq!(Unsent { intended: 0, unsent: 0 }.lacking(printed, 1), None);
    }

    #[test]
    fn more_than_one_in_a_hundred_is_too_much() {
        assert!(!Unsent { intended: 1000, unsent: 10 }.is_too_much());
        assert!(Unsent { intended: 1000, unsent: 11 }.is_too_much());
    }
}
