//! The interactive response time law, N = X (R + Z), for thinking users observed in windows of time: the number of
//! users must match throughput, response time and drawn think time.
//!
//! Little's law compares the records with the clock, whatever users do. This law compares the users with their plan: if
//! they come together, or are all at one step when a window opens or closes, or think longer than drawn, the number
//! differs. For each user, response times and pauses of all requests begun in a window add up to its length, plus the
//! rest of a cycle at its end, less such a rest at its beginning; for steady users both have the same mean. The spread
//! between trials shows how far they differ by chance.
//!
//! Source: P. J. Denning, J. P. Buzen, The operational analysis of queueing network models, Computing Surveys 10
//! (1978).

use std::time::Duration;

use derive_more::AddAssign;
use tollgate_facts::results::InteractiveLaw;
use tollgate_facts::stats;

use super::recorder::Tally;

/// Smallest bound.
const SHARE_MAX: f64 = 0.02;
/// Fewest trials for a meaningful spread.
const TRIALS_MIN: usize = 8;
/// Fewest requests for the law.
const REQUESTS_MIN: u64 = 300;
/// Share of laws that chance alone breaks, by Student's t: one in a thousand. In simulations of steady users it was 2
/// of 78,600, since the rest of a cycle at the end of one trial is the beginning of the next.
const ALPHA: f64 = 0.001;
/// Bound from which on an unbroken law proves nothing.
const TELLING_BOUND_MAX: f64 = 0.1;

/// Cycles of thinking users: requests begun in a window, each with the drawn pause after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign)]
pub struct Cycles {
    /// Number of cycles.
    pub count: u64,
    /// Sum of response times, also of failures.
    response: Duration,
    /// Sum of pauses.
    thinking: Duration,
}

impl Cycles {
    /// Adds a request's response time, and the pause drawn after it.
    pub(crate) fn add(&mut self, response: Duration, thinking: Duration) {
        *self += Cycles { count: 1, response, thinking };
    }
}

/// Returns the users of one trial by response times and pauses, relative to those present.
pub(crate) fn share(tally: &Tally) -> Option<f64> {
    let cycles_ns = (tally.cycles.response + tally.cycles.thinking).as_nanos() as f64;
    (tally.busy_ns > 0).then(|| cycles_ns / tally.busy_ns as f64)
}

/// Computes the law for this many users, from the counts of all trials and the share in each; absent if users did not
/// think, or sent too few requests.
pub(crate) fn law(tally: &Tally, users: u64, shares: &[f64]) -> Option<InteractiveLaw> {
    let Cycles { count, response, thinking } = tally.cycles;
    if count < REQUESTS_MIN || shares.len() < TRIALS_MIN {
        return None;
    }
    let by_chance = stats::mean_interval(shares, ALPHA)?;
    let (share, bound) = (share(tally)?, SHARE_MAX.max((by_chance.high - by_chance.low) / 2.0));
    let (off, requests) = ((share - 1.0).abs(), count as f64);
    let holds = match off <= bound {
        false => Some(false),
        true => (bound < TELLING_BOUND_MAX).then_some(true),
    };
    Some(InteractiveLaw {
        users,
        found: users as f64 * share,
        requests_per_second: requests * users as f64 / tally.busy_ns as f64 * 1e9,
        response_time_ms: response.as_secs_f64() * 1e3 / requests,
        thinking_ms: thinking.as_secs_f64() * 1e3 / requests,
        off,
        bound,
        holds,
    })
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use super::*;
    use tollgate_facts::fixture::Noise;

    const TRIALS: usize = 16;
    const WINDOW_S: f64 = 1.0;

    /// Distribution of think times.
    #[derive(Clone, Copy)]
    enum Pause {
        Constant,
        Exponential,
    }

    /// Arrival of users.
    #[derive(Clone, Copy, PartialEq)]
    enum Coming {
        /// At any step, and they go on from trial to trial.
        Steady,
        /// All at the start of each trial.
        Together,
    }

    /// Users who think for 0.5 s, at one server that answers in order.
    #[derive(Clone, Copy)]
    struct Simulated {
        users: usize,
        pause: Pause,
        service_s: f64,
        /// One answer in ten takes nine times as long as the mean, and the others a tenth of it.
        is_varied: bool,
        coming: Coming,
        /// Time that users think longer than drawn.
        overslept: f64,
    }

    const STEADY: Simulated = Simulated {
        users: 200,
        pause: Pause::Exponential,
        service_s: 0.001,
        is_varied: false,
        coming: Coming::Steady,
        overslept: 0.0,
    };

    impl Simulated {
        fn think(&self, noise: &mut Noise) -> f64 {
            match self.pause {
                Pause::Constant => 0.5,
                Pause::Exponential => -0.5 * (1.0 - noise.uniform()).ln(),
            }
        }

        fn serve(&self, noise: &mut Noise) -> f64 {
            match (self.is_varied, noise.uniform() < 0.1) {
                (false, _) => self.service_s,
                (true, true) => self.service_s * 9.1,
                (true, false) => self.service_s * 0.1,
            }
        }

        /// Returns each user with the nanosecond of its next request.
        fn come(&self, noise: &mut Noise, from_s: f64) -> BinaryHeap<Reverse<(u64, usize)>> {
            let at = |user| {
                let after_s = match (self.coming, self.pause) {
                    (Coming::Together, _) => 0.0,
                    (Coming::Steady, Pause::Constant) => 0.5 * noise.uniform(),
                    (Coming::Steady, Pause::Exponential) => self.think(noise),
                };
                Reverse((((from_s + after_s) * 1e9) as u64, user))
            };
            (0..self.users).map(at).collect()
        }

        fn law(&self, seed: u64) -> InteractiveLaw {
            let mut noise = Noise::of(seed);
            let (mut all, mut shares) = (Tally::default(), Vec::new());
            let mut due = self.come(&mut noise, 0.0);
            let (mut free_s, mut opens_s) = (0.0_f64, 0.0);
            for trial in 0..TRIALS {
                // Before the first window users have all asked; a quarter of a window lies before each.
                let lead_s = if trial == 0 { 0.75 } else { 0.25 };
                match self.coming {
                    Coming::Steady => opens_s += lead_s,
                    Coming::Together => due = self.come(&mut noise, opens_s),
                }
                let closes_s = opens_s + WINDOW_S;
                let busy_ns = (self.users as f64 * WINDOW_S * 1e9) as u64;
                let mut tally = Tally { busy_ns, ..Tally::default() };
                let closes_ns = (closes_s * 1e9) as u64;
                while due.peek().is_some_and(|Reverse((at, _))| *at < closes_ns) {
                    let Reverse((at, user)) = due.pop().unwrap();
                    let at_s = at as f64 / 1e9;
                    free_s = free_s.max(at_s) + self.serve(&mut noise);
                    let (response_s, drawn_s) = (free_s - at_s, self.think(&mut noise));
                    if at_s >= opens_s {
                        tally.cycles.add(Duration::from_secs_f64(response_s), Duration::from_secs_f64(drawn_s));
                    }
                    due.push(Reverse((((free_s + drawn_s * (1.0 + self.overslept)) * 1e9) as u64, user)));
                }
                shares.push(share(&tally).unwrap());
                all.add(&tally);
                opens_s = closes_s;
            }
            law(&all, self.users as u64, &shares).unwrap()
        }
    }

    #[test]
    fn steady_users_obey_the_law_up_to_an_overload_and_at_a_server_of_high_variance() {
        for pause in [Pause::Constant, Pause::Exponential] {
            for (load, is_varied) in [(0.2, false), (0.7, false), (0.7, true), (1.5, true)] {
                let service_s = load * 0.5 / STEADY.users as f64;
                for seed in 0..10 {
                    let law = Simulated { pause, service_s, is_varied, ..STEADY }.law(seed);
                    assert!(law.holds != Some(false), "{load} {is_varied}: {law:?}");
                    let found = law.requests_per_second * (law.response_time_ms + law.thinking_ms) / 1e3;
                    assert!((found / law.found - 1.0).abs() < 1e-6, "{law:?}");
                }
            }
        }
    }

    #[test]
    fn users_who_come_together_in_each_trial_break_it() {
        for (users, pause) in [(50, Pause::Exponential), (200, Pause::Exponential), (200, Pause::Constant)] {
            let law = Simulated { users, pause, coming: Coming::Together, ..STEADY }.law(1);
            // The cycle in which the window closes counts whole, and none was under way when it opened.
            assert!(law.holds == Some(false) && law.off > 0.1 && law.found > users as f64, "{law:?}");
        }
    }

    #[test]
    fn users_who_think_longer_than_drawn_break_it() {
        let law = Simulated { overslept: 0.15, ..STEADY }.law(1);
        assert!(law.holds == Some(false) && (law.off - 0.13).abs() < 0.03, "{law:?}");
    }

    #[test]
    fn of_few_trials_or_requests_and_of_users_who_do_not_think_there_is_no_law() {
        let mut tally = Tally { busy_ns: 300_000_000, ..Tally::default() };
        (0..300).for_each(|_| tally.cycles.add(Duration::from_millis(1), Duration::ZERO));
        assert_eq!(law(&tally, 1, &[1.0; 7]), None);
        let found = law(&tally, 1, &[1.0; 8]).unwrap();
        assert_eq!((found.holds, found.bound, found.requests_per_second), (Some(true), SHARE_MAX, 1000.0));
        assert_eq!(law(&tally, 1, &[0.2, 1.8, 0.2, 1.8, 0.2, 1.8, 0.2, 1.8]).unwrap().holds, None);
        tally.cycles.count = 299;
        assert_eq!(law(&tally, 1, &[1.0; 8]), None);
        assert_eq!(law(&Tally::default(), 1, &[1.0; 8]), None);
    }
}
