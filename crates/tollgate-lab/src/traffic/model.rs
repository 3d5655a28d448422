//! The load model: who sends requests, when, and until when. Closed: each of a number of users waits for its response
//! before the next request, so that a slow subject gets fewer; the report says so. Open: requests at a rate,
//! independent of the subject.
//!
//! It sends nothing.

use std::sync::Arc;
use std::time::Duration;

pub use tollgate_facts::results::Arrivals;

use super::stages::Stages;

/// The amount and the timing of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Concurrent users. At a rate, their maximum: there are as many as there are requests under way. Requests beyond
    /// it wait, which is reported as lateness; those that still wait at the end are counted as unsent.
    pub users: usize,
    /// The trigger of a request.
    pub pace: Pace,
    /// Changes of users or rate during the load, which lasts as long as they do; absent: constant.
    pub stages: Option<Arc<Stages>>,
    /// The end of requests.
    pub end: End,
    /// The part of the load that this is.
    pub lane: Lane,
}

/// The trigger of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// The response to its user's previous request (a closed load).
    Closed {
        /// Time over which the users arrive, evenly. Nothing counts meanwhile; the load's end is measured from the end
        /// of this time.
        ramp_up: Duration,
    },
    /// Its intended start (an open load). Response times count from there, even if it is sent late.
    Open(Rate),
}

/// A rate of requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Requests per second, all workers together.
    pub per_second: f64,
    /// The distribution of their intended starts.
    pub arrivals: Arrivals,
    /// Seed of the random draws.
    pub seed: u64,
}

/// A worker's part of a load. In an open load, lanes take turns with constant arrivals; with Poisson arrivals, each
/// draws its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Its number, from 0.
    pub index: u32,
    /// The number of parts.
    pub count: u32,
}

/// The end of a trial: the end of the first whole unit of work at which either bound is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Time after which it ends.
    pub after: Option<Duration>,
    /// Units of work after which it ends.
    pub units: Option<u64>,
}

impl Load {
    /// A load of concurrent users who wait for their responses.
    pub fn closed(users: usize, end: End) -> Load {
        Load { users, pace: Pace::Closed { ramp_up: Duration::ZERO }, stages: None, end, lane: Lane::WHOLE }
    }

    /// A load at a rate, with this maximum of users.
    pub fn at_a_rate(users: usize, rate: Rate, end: End) -> Load {
        Load { pace: Pace::Open(rate), ..Load::closed(users, end) }
    }

    /// The share of one of this many workers: users and units are divided, and each gets at least one user.
    #[must_use]
    pub fn share(&self, index: usize, workers: usize) -> Load {
        Load {
            users: share(self.users as u64, index, workers) as usize,
            end: End { units: self.end.units.map(|units| share(units, index, workers)), ..self.end },
            lane: Lane { index: index as u32, count: workers as u32 },
            ..self.clone()
        }
    }

    /// Time over which its users arrive.
    pub fn ramp_up(&self) -> Duration {
        match self.pace {
            Pace::Closed { ramp_up } => ramp_up,
            Pace::Open(_) => Duration::ZERO,
        }
    }

    /// Arrival of the user with this number, from the start of the ramp-up.
    pub fn comes_after(&self, user: usize) -> Duration {
        self.ramp_up().mul_f64(user as f64 / self.users.max(1) as f64)
    }
}

impl Lane {
    /// All of a load.
    pub const WHOLE: Lane = Lane { index: 0, count: 1 };

    /// The number among the users of all lanes, for the user with this number in this lane.
    pub(crate) fn user(self, number: usize) -> usize {
        number * self.count as usize + self.index as usize
    }
}

impl End {
    /// Ends at the first whole unit of work after `slice`.
    pub fn after(slice: Duration) -> End {
        End { after: Some(slice), units: None }
    }

    /// Whether a trial is over after this time and work. Without any bound it is over at once.
    pub fn is_reached(self, age: Duration, units: u64) -> bool {
        self.after.is_some_and(|after| age >= after)
            || self.units.is_some_and(|most| units >= most)
            || (self.after.is_none() && self.units.is_none())
    }
}

/// The share of the part with this number in `whole`; the first parts get the remainder.
pub(crate) fn share(whole: u64, index: usize, parts: usize) -> u64 {
    let parts = parts as u64;
    whole / parts + u64::from((index as u64) < whole % parts)
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

    #[test]
    fn shares_add_up_to_the_whole() {
        for (whole, parts) in [(10, 3), (2, 4), (0, 1), (401, 20)] {
            let shares: Vec<u64> = (0..parts).map(|index| share(whole, index, parts)).collect();
            assert_eq!(shares.iter().sum::<u64>(), whole);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn users_come_evenly_and_the_first_at_once() {
        let pace = Pace::Closed { ramp_up: Duration::from_secs(2) };
        let load = Load { pace, ..Load::closed(4, End::after(Duration::from_secs(1))) };
        let comes: Vec<u128> = (0..4).map(|user| load.comes_after(user).as_millis()).collect();
        assert_eq!(comes, [0, 500, 1000, 1500]);
    }

    #[test]
    fn a_share_has_its_lane_and_the_rate_of_all() {
        let end = End { after: None, units: Some(5) };
        let rate = Rate { per_second: 100.0, arrivals: Arrivals::Poisson, seed: 1 };
        let part = Load::at_a_rate(7, rate, end).share(1, 2);
        assert_eq!((part.users, part.end.units, part.lane), (3, Some(2), Lane { index: 1, count: 2 }));
        assert_eq!(part.pace, Pace::Open(rate));
    }
}
