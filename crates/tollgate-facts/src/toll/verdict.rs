//! Conclusions about a ratio: the word follows from the interval that is printed beside it.
//!
//! An interval that includes 1 is never called a difference, and one that excludes 1 never "no difference could be
//! shown". Whether such a one is claimed is Holm's to say. Deliberately not here: how interval and probability are made.

use crate::results::{RunResult, TollVerdict};
use crate::stats::{ALPHA, is_exact};

impl TollVerdict {
    /// The conclusion about a ratio with its interval and its adjusted probability; `band` is half the width of that of
    /// "no toll", as a share.
    pub(crate) fn of((low, high): (f64, f64), p_adjusted: f64, band: f64) -> TollVerdict {
        let is_inside = low >= 1.0 - band && high <= 1.0 + band;
        match (is_inside, low > 1.0, high < 1.0, p_adjusted < ALPHA) {
            (true, ..) => TollVerdict::NoToll,
            (false, true, _, true) => TollVerdict::Dearer,
            (false, _, true, true) => TollVerdict::Cheaper,
            (false, true, ..) | (false, _, true, _) => TollVerdict::Unconfirmed,
            (false, false, false, _) => TollVerdict::Unclear,
        }
    }

    /// Whether the ratio is the layer's own and may be part of a sentence: neither joint nor refused.
    pub fn is_plain(self) -> bool {
        !matches!(self, TollVerdict::Joint | TollVerdict::Refused)
    }

    /// Whether it shows that there is a difference, or that there is none.
    pub fn is_clear(self) -> bool {
        self.is_plain() && !matches!(self, TollVerdict::Unconfirmed | TollVerdict::Unclear)
    }
}

impl RunResult {
    /// The result with verdicts that follow from the intervals beside them. Older ones say "unclear" where an interval
    /// excludes 1, too.
    #[must_use]
    pub fn with_verdicts_as_printed(mut self) -> RunResult {
        let is_claim = |verdict: TollVerdict, low, high| verdict.is_plain() && !is_exact(low, high);
        let is_unconfirmed =
            |verdict: TollVerdict, low, high| verdict == TollVerdict::Unclear && (low > 1.0 || high < 1.0);
        let count = self.tolls.iter().filter(|toll| is_claim(toll.verdict, toll.low, toll.high)).count();
        for toll in self.tolls.iter_mut().filter(|toll| is_unconfirmed(toll.verdict, toll.low, toll.high)) {
            toll.verdict = TollVerdict::Unconfirmed;
            toll.note = Some(unconfirmed(count, toll.p_adjusted));
        }
        let count = self.comparisons.iter().filter(|found| is_claim(found.verdict, found.low, found.high)).count();
        for found in self.comparisons.iter_mut().filter(|found| is_unconfirmed(found.verdict, found.low, found.high)) {
            found.verdict = TollVerdict::Unconfirmed;
            found.note = Some(unconfirmed(count, found.p_adjusted));
        }
        self
    }
}

/// The reason why a ratio whose own interval excludes 1 is not claimed, among so many comparisons.
pub(crate) fn unconfirmed(comparisons: usize, p_adjusted: f64) -> String {
    format!(
        "its interval excludes 1, but among {comparisons} comparisons that can be chance (Holm: p = {p_adjusted:.2})"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_verdict_never_contradicts_the_interval_beside_it() {
        let check = |interval: (f64, f64), p_adjusted: f64, expected: TollVerdict| {
            assert_eq!(TollVerdict::of(interval, p_adjusted, 0.03), expected, "{interval:?}, p = {p_adjusted}");
        };
        check((1.05, 1.30), 0.01, TollVerdict::Dearer);
        check((1.05, 1.30), 0.08, TollVerdict::Unconfirmed);
        check((0.70, 0.95), 0.01, TollVerdict::Cheaper);
        check((0.70, 0.95), 0.08, TollVerdict::Unconfirmed);
        check((0.95, 1.30), 0.40, TollVerdict::Unclear);
        // However small its p: a claim beside an interval that includes 1 is none.
        check((0.95, 1.30), 0.01, TollVerdict::Unclear);
        check((0.98, 1.02), 0.90, TollVerdict::NoToll);
        check((1.01, 1.02), 0.01, TollVerdict::NoToll);
    }

    #[test]
    fn of_any_p_and_any_interval_no_difference_is_only_said_where_1_is_inside() {
        let ends = [0.5, 0.9, 0.97, 0.999, 1.0, 1.001, 1.03, 1.1, 2.0];
        for (low, high) in ends.iter().flat_map(|low| ends.iter().map(move |high| (*low, *high))) {
            for p in [0.0, 0.01, 0.049, 0.05, 0.5, 1.0] {
                let excludes = low > 1.0 || high < 1.0;
                let verdict = TollVerdict::of((low, high), p, 0.03);
                let is_claim = matches!(verdict, TollVerdict::Dearer | TollVerdict::Cheaper);
                assert!(!(excludes && verdict == TollVerdict::Unclear), "{low} {high} {p}");
                assert!(excludes || !(is_claim || verdict == TollVerdict::Unconfirmed), "{low} {high} {p}");
            }
        }
    }

    #[test]
    fn an_older_result_that_says_unclear_beside_an_interval_without_1_is_read_as_unconfirmed() {
        let mut run = fixture::protocol();
        let toll = &mut run.tolls[0];
        (toll.low, toll.high, toll.p_adjusted, toll.verdict) = (1.05, 1.30, 0.08, TollVerdict::Unclear);
        let unclear = &mut run.tolls[1];
        (unclear.low, unclear.high, unclear.verdict) = (0.95, 1.30, TollVerdict::Unclear);
        let read = run.clone().with_verdicts_as_printed();
        assert_eq!(read.tolls[0].verdict, TollVerdict::Unconfirmed);
        assert!(read.tolls[0].note.as_ref().is_some_and(|note| note.contains("p = 0.08")), "{:?}", read.tolls[0]);
        assert_eq!(read.tolls[1].verdict, TollVerdict::Unclear);
        assert_eq!(read.tolls[2..], run.tolls[2..]);
    }
}
