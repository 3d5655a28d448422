//! The load model: how many ask at the same time, and until when. Closed: each user waits for its answer before it asks
//! again, so that a slow subject is asked less; the report says so.
//!
//! An open model (a rate, whatever the subject does) is not built yet.

use std::time::Duration;

/// A closed load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// Users who ask at the same time.
    pub users: usize,
    /// When they stop.
    pub end: End,
}

/// When a trial is over: at the end of the first whole unit of work at which either bound is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// After so long.
    pub after: Option<Duration>,
    /// After so many units of work.
    pub units: Option<u64>,
}

impl End {
    /// At the first whole unit of work after `slice`.
    pub fn after(slice: Duration) -> End {
        End { after: Some(slice), units: None }
    }

    /// Whether a trial of this age and work is over. Without any bound it is over at once.
    pub fn is_reached(self, age: Duration, units: u64) -> bool {
        self.after.is_some_and(|after| age >= after)
            || self.units.is_some_and(|most| units >= most)
            || (self.after.is_none() && self.units.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_over_at_the_first_bound() {
        let check = |end: End, seconds: u64, units: u64, expected: bool| {
            assert_eq!(end.is_reached(Duration::from_secs(seconds), units), expected, "{end:?} {seconds} {units}");
        };
        let both = End { after: Some(Duration::from_secs(2)), units: Some(10) };
        check(both, 1, 9, false);
        check(both, 2, 0, true);
        check(both, 0, 10, true);
        check(End { after: None, units: None }, 0, 0, true);
    }
}
