//! The intended starts of an open load, from its start on: constant ones in turns, Poisson ones drawn from the seed.
//!
//! It does not wait, and does not know the time.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::traffic::model::{Arrivals, Load, Rate};

/// The intended starts of one lane, in order.
#[derive(Debug)]
pub(crate) struct Schedule<'l> {
    load: &'l Load,
    rate: Rate,
    random: ChaCha8Rng,
    count: u64,
    /// Number of earlier starts, of all lanes.
    due: f64,
}

impl<'l> Schedule<'l> {
    /// The starts of `load` at this rate, none if it is not above zero.
    pub(crate) fn new(load: &'l Load, rate: Rate) -> Schedule<'l> {
        let mut random = ChaCha8Rng::seed_from_u64(rate.seed);
        // Lanes are streams of one seed: they never overlap.
        random.set_stream(u64::from(load.lane.index));
        Schedule { load, rate, random, count: 0, due: 0.0 }
    }

    /// Returns the number of starts of all lanes before the next one of this lane.
    fn next_due(&mut self) -> f64 {
        let lane = self.load.lane;
        match self.rate.arrivals {
            Arrivals::Constant => {
                let number = self.count as f64 * f64::from(lane.count) + f64::from(lane.index);
                // A rate that grows from nothing has its first in the middle of what is due until the second.
                if self.load.stages.is_some() { number + 0.5 } else { number }
            }
            Arrivals::Poisson => {
                // In (0, 1]: the logarithm of 0 is no time.
                let even = 1.0 - self.random.random::<f64>();
                self.due - even.ln() * f64::from(lane.count)
            }
        }
    }
}

impl Iterator for Schedule<'_> {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let rate = self.rate.per_second;
        if self.load.stages.is_none() && (rate.is_nan() || rate <= 0.0) {
            return None;
        }
        self.due = self.next_due();
        let at = match &self.load.stages {
            Some(stages) => stages.reaches(self.due)?,
            None => Duration::try_from_secs_f64(self.due / rate).ok()?,
        };
        if self.load.end.is_reached(at, self.count) {
            return None;
        }
        self.count += 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::traffic::model::{End, Lane, Pace};
    use crate::traffic::stages::Stages;

    fn open(arrivals: Arrivals, end: End) -> Load {
        Load::at_a_rate(8, Rate { per_second: 1000.0, arrivals, seed: 7 }, end)
    }

    /// The starts of a load that is at a rate.
    fn starts(load: &Load) -> Vec<Duration> {
        let Pace::Open(rate) = load.pace else { panic!("an open load stays one") };
        Schedule::new(load, rate).collect()
    }

    /// The starts of all lanes in microseconds, in order.
    fn starts_us(open: &Load, lanes: usize) -> Vec<u64> {
        let lane = |index| starts(&open.share(index, lanes));
        let mut starts: Vec<u64> = (0..lanes).flat_map(lane).map(|at| at.as_micros() as u64).collect();
        starts.sort_unstable();
        starts
    }

    #[test]
    fn constant_starts_are_equally_far_apart_however_many_lanes_share_them() {
        let expected: Vec<u64> = (0..100).map(|number| number * 1000).collect();
        for lanes in [1, 2, 4] {
            let open = open(Arrivals::Constant, End::after(Duration::from_millis(100)));
            assert_eq!(starts_us(&open, lanes), expected, "{lanes}");
        }
        assert_eq!(starts_us(&open(Arrivals::Constant, End { after: None, units: Some(3) }), 1), [0, 1000, 2000]);
        assert!(starts_us(&open(Arrivals::Constant, End { after: None, units: None }), 1).is_empty());
    }

    #[test]
    fn poisson_starts_have_the_rate_and_the_spread_of_independent_users() {
        for lanes in [1, 3] {
            let end = End::after(Duration::from_secs(100));
            let starts = starts_us(&open(Arrivals::Poisson, end), lanes);
            let count = starts.len() as f64;
            // 100,000 are expected; four standard deviations are 1,265.
            assert!((count - 100_000.0).abs() < 1265.0, "{count}");
            let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            // An exponential distribution's standard deviation is its mean.
            assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{} of {mean}", variance.sqrt());
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_starts_and_each_lane_its_own() {
        let end = End { after: None, units: Some(20) };
        let draw = |seed, index| {
            let rate = Rate { per_second: 1000.0, arrivals: Arrivals::Poisson, seed };
            starts(&Load { lane: Lane { index, count: 2 }, ..Load::at_a_rate(8, rate, end) })
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(2, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
    }

    #[test]
    fn a_rate_that_is_none_has_no_starts() {
        for per_second in [0.0, -1.0, f64::NAN, f64::MIN_POSITIVE] {
            let rate = Rate { per_second, arrivals: Arrivals::Poisson, seed: 7 };
            let open = Load::at_a_rate(8, rate, End::after(Duration::from_secs(1)));
            assert!(starts(&open).is_empty(), "{per_second}");
        }
    }

    #[test]
    fn in_stages_as_many_are_due_as_were_asked_for_whatever_the_lanes() {
        // 0 to 200 per second in 1 s, 1 s at 200, and down: 100 + 200 + 100.
        let stages: Arc<Stages> = Arc::new("1s:200/s,1s:200/s,1s:0/s".parse().unwrap());
        let due = |arrivals: Arrivals, lanes: usize| -> Vec<f64> {
            let open = Load { stages: Some(Arc::clone(&stages)), ..open(arrivals, End::after(stages.lasts())) };
            let lane = |index| starts(&open.share(index, lanes));
            let mut all: Vec<f64> = (0..lanes).flat_map(lane).map(|at| at.as_secs_f64()).collect();
            all.sort_unstable_by(f64::total_cmp);
            all
        };
        let within = |due: &[f64], from: f64, until: f64| due.iter().filter(|at| (from..until).contains(*at)).count();
        for lanes in [1, 3] {
            let constant = due(Arrivals::Constant, lanes);
            assert_eq!(
                [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)].map(|(from, until)| within(&constant, from, until)),
                [100, 200, 100]
            );
            assert_eq!(within(&constant, 0.0, 0.5), 25);
            // Four standard deviations of 400 are 80.
            let drawn = due(Arrivals::Poisson, lanes);
            assert!((320..480).contains(&drawn.len()), "{}", drawn.len());
        }
    }
}
