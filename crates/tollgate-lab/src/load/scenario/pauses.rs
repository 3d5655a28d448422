//! Think times of users.

use std::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::traffic::scenario::{Distribution, Think};

/// An exponential think time is at most this multiple of its mean.
const MEANS_MAX: f64 = 10.0;

/// Draws a think time.
pub(super) fn drawn(pause: Think, thinking: &mut ChaCha8Rng) -> Duration {
    let time = Duration::from_millis(pause.ms.into());
    match pause.distribution {
        Distribution::Constant => time,
        Distribution::Exponential => {
            let share: f64 = thinking.random_range(0.0..1.0);
            time.mul_f64((-(1.0 - share).ln()).min(MEANS_MAX))
        }
    }
}

/// Draws the remaining think time of a user found amid an iteration: the rest of its current pause, more likely a long
/// one, and all later ones.
pub(super) fn left(pauses: impl Iterator<Item = Think> + Clone, thinking: &mut ChaCha8Rng) -> Duration {
    let whole_ms: f64 = pauses.clone().map(|pause| f64::from(pause.ms)).sum();
    let mut before_ms = thinking.random_range(0.0..whole_ms.max(f64::MIN_POSITIVE));
    let mut left = Duration::ZERO;
    for pause in pauses {
        let mean_ms = f64::from(pause.ms);
        left += match pause.distribution {
            _ if before_ms >= mean_ms => Duration::ZERO,
            // Of an exponential time as much is left as if it had just begun.
            Distribution::Constant => Duration::from_secs_f64((mean_ms - before_ms) / 1e3),
            Distribution::Exponential => drawn(pause, thinking),
        };
        before_ms = (before_ms - mean_ms).max(0.0);
    }
    left
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    const USERS: u32 = 20_000;

    fn mean_left_ms(pauses: &[(u32, Distribution)]) -> f64 {
        let pauses: Vec<Think> = pauses.iter().map(|&(ms, distribution)| Think { ms, distribution }).collect();
        let mut thinking = ChaCha8Rng::seed_from_u64(1);
        let all: Duration = (0..USERS).map(|_| left(pauses.iter().copied(), &mut thinking)).sum();
        all.as_secs_f64() * 1e3 / f64::from(USERS)
    }

    #[test]
    fn whoever_is_found_thinking_has_as_much_left_as_renewal_theory_says() {
        use Distribution::{Constant, Exponential};
        let check = |pauses: &[(u32, Distribution)], expected_ms: f64| {
            let found_ms = mean_left_ms(pauses);
            assert!((found_ms / expected_ms - 1.0).abs() < 0.02, "{pauses:?}: {found_ms}, not {expected_ms}");
        };
        // Half of a constant time, all of an exponential one.
        check(&[(400, Constant)], 200.0);
        check(&[(400, Exponential)], 400.0);
        // A quarter of the users in the first pause, who have the second one before them.
        check(&[(100, Constant), (300, Constant)], 200.0);
        check(&[(100, Exponential), (300, Constant)], 0.25 * 400.0 + 0.75 * 150.0);
        assert!(mean_left_ms(&[(0, Constant)]) < 1e-9);
    }
}
