//! Service times of requests: always the same, or drawn from a distribution with a seed.
//!
//! The n-th request of a class has the n-th time, from every client at every time: two runs with one seed are served
//! alike. It deliberately does not wait.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Distributions of service times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ServiceTime {
    /// Always the same.
    Constant(Duration),
    /// Exponential, as of a server without memory.
    Exponential { mean: Duration },
    /// With a long tail: its logarithm is normal.
    Lognormal { median: Duration, sigma: f64 },
    /// One of ten takes ten times as long, as if a cache had missed.
    Bimodal { fast: Duration },
}

/// Longest service time, in microseconds: nothing that is tested takes longer.
pub(crate) const TIME_US_MAX: u64 = 10_000_000;
/// The share of slow requests, and how much slower they are.
const SLOW_SHARE: f64 = 0.1;
const SLOWER: u32 = 10;
/// Words of the generator's stream that belong to one position: two numbers of 64 bits.
const WORDS_EACH: u128 = 4;

impl ServiceTime {
    /// The time of the request with this position, from 0.
    pub(crate) fn of(self, seed: u64, position: u64) -> Duration {
        let most = Duration::from_micros(TIME_US_MAX);
        let scaled = |time: Duration, by: f64| time.mul_f64(by.min(most.as_secs_f64() / time.as_secs_f64().max(1e-9)));
        match self {
            ServiceTime::Constant(time) => time,
            ServiceTime::Exponential { mean } => scaled(mean, -evens(seed, position).0.ln()),
            ServiceTime::Lognormal { median, sigma } => {
                let (first, second) = evens(seed, position);
                // Box and Muller (1958): a normal number out of two even ones.
                let normal = (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos();
                scaled(median, (sigma * normal).exp())
            }
            ServiceTime::Bimodal { fast } if evens(seed, position).0 <= SLOW_SHARE => fast * SLOWER,
            ServiceTime::Bimodal { fast } => fast,
        }
    }
}

/// Whether a coin falls on the side that costs, the same for the same seed and position.
pub(crate) fn loses(seed: u64, position: u64) -> bool {
    evens(seed, position).0 <= 0.5
}

/// Two numbers of (0, 1], the same for the same seed and position.
fn evens(seed: u64, position: u64) -> (f64, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_word_pos(u128::from(position) * WORDS_EACH);
    // The logarithm of 0 is no time.
    let mut even = || 1.0 - random.random::<f64>();
    (even(), even())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWN: u64 = 40_000;

    fn sorted_us(time: ServiceTime) -> Vec<f64> {
        let mut times: Vec<f64> = (0..DRAWN).map(|position| time.of(3, position).as_secs_f64() * 1e6).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    fn check(time: ServiceTime, quantiles: &[(f64, f64)], mean_us: f64) {
        let times = sorted_us(time);
        for (share, expected_us) in quantiles {
            let found_us = times[(share * DRAWN as f64) as usize];
            assert!((found_us / expected_us - 1.0).abs() < 0.05, "{time:?} at {share}: {found_us}, not {expected_us}");
        }
        let found_us = times.iter().sum::<f64>() / DRAWN as f64;
        assert!((found_us / mean_us - 1.0).abs() < 0.02, "{time:?}: mean {found_us}, not {mean_us}");
    }

    #[test]
    fn what_is_drawn_has_the_quantiles_of_its_distribution() {
        let ms = Duration::from_millis(1);
        check(ServiceTime::Constant(ms), &[(0.01, 1000.0), (0.99, 1000.0)], 1000.0);
        let of_exponential = |share: f64| -1000.0 * (1.0 - share).ln();
        let quantiles = [0.1, 0.5, 0.9, 0.99].map(|share| (share, of_exponential(share)));
        check(ServiceTime::Exponential { mean: ms }, &quantiles, 1000.0);
        let normals = [(0.1, -1.281_6), (0.5, 0.0), (0.9, 1.281_6), (0.99, 2.326_3)];
        let quantiles = normals.map(|(share, normal): (f64, f64)| (share, 1000.0 * (0.5 * normal).exp()));
        let lognormal = ServiceTime::Lognormal { median: ms, sigma: 0.5 };
        check(lognormal, &quantiles, 1000.0 * 0.125_f64.exp());
        check(ServiceTime::Bimodal { fast: ms }, &[(0.5, 1000.0), (0.89, 1000.0), (0.92, 10_000.0)], 1900.0);
    }

    #[test]
    fn half_of_the_coins_cost_and_each_falls_as_it_fell_before() {
        let lost = (0..DRAWN).filter(|position| loses(3, *position)).count() as f64 / DRAWN as f64;
        assert!((lost - 0.5).abs() < 0.01, "{lost}");
        assert_eq!(
            (0..99).map(|at| loses(3, at)).collect::<Vec<_>>(),
            (0..99).map(|at| loses(3, at)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_seed_draws_the_same_for_a_position_and_another_one_something_else() {
        let time = ServiceTime::Exponential { mean: Duration::from_millis(1) };
        assert_eq!(time.of(1, 7), time.of(1, 7));
        assert_ne!(time.of(1, 7), time.of(1, 8));
        assert_ne!(time.of(1, 7), time.of(2, 7));
        assert_eq!(ServiceTime::Lognormal { median: Duration::ZERO, sigma: 3.0 }.of(1, 1), Duration::ZERO);
    }

    /// Waits of one queue with Poisson arrivals at this share of what it can do, by Lindley's recursion (1952), against
    /// what Pollaczek and Khinchine say.
    #[test]
    fn a_queue_of_what_is_drawn_waits_as_theory_says() {
        const CUSTOMERS: u64 = 60_000;
        let mean = Duration::from_millis(1);
        let check = |time: ServiceTime, busy: f64, expected: f64| {
            let arrivals = ServiceTime::Exponential { mean: mean.div_f64(busy) };
            let (mut wait_s, mut sum_s) = (0.0_f64, 0.0);
            for position in 0..CUSTOMERS {
                sum_s += wait_s;
                let (served, next) = (time.of(11, position), arrivals.of(12, position));
                wait_s = (wait_s + served.as_secs_f64() - next.as_secs_f64()).max(0.0);
            }
            let found = sum_s / CUSTOMERS as f64 / mean.as_secs_f64();
            // The mean of so many exponential waits at 0.8 has a standard error of 4.5 %; the seeds are fixed.
            assert!((found / expected - 1.0).abs() < 0.1, "{time:?} at {busy}: {found}, not {expected}");
        };
        for busy in [0.3, 0.6, 0.8] {
            check(ServiceTime::Exponential { mean }, busy, busy / (1.0 - busy));
            check(ServiceTime::Constant(mean), busy, busy / (2.0 * (1.0 - busy)));
        }
    }
}
