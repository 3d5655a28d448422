//! How fast a variant was so far, from which follows how long its next trial lasts.
//!
//! It deliberately says nothing of figures: those are of the trials.

use std::collections::HashMap;
use std::time::Duration;

/// Answers per second by variant and level; without a level those of the warm-up.
#[derive(Debug, Default)]
pub(crate) struct Paces(HashMap<(usize, Option<u64>), f64>);

impl Paces {
    /// So many were answered within this time. What was known before of the same is forgotten.
    pub(crate) fn note(&mut self, variant: usize, level: Option<u64>, answers: u64, within: Duration) {
        let pace = answers as f64 / within.as_secs_f64();
        if pace.is_finite() && pace > 0.0 {
            self.0.insert((variant, level), pace);
        }
    }

    /// Answers per second at this level, or as near to it as is known.
    pub(crate) fn of(&self, variant: usize, level: u64) -> Option<f64> {
        self.0.get(&(variant, Some(level))).or_else(|| self.0.get(&(variant, None))).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_of_a_level_is_that_of_its_last_trial_and_before_it_that_of_the_warm_up() {
        let second = Duration::from_secs(1);
        let mut paces = Paces::default();
        assert_eq!(paces.of(0, 20), None);
        paces.note(0, None, 1000, second);
        paces.note(0, Some(20), 0, second);
        assert_eq!((paces.of(0, 20), paces.of(1, 20)), (Some(1000.0), None));
        paces.note(0, Some(20), 500, second);
        paces.note(0, Some(20), 300, second / 2);
        assert_eq!((paces.of(0, 20), paces.of(0, 40)), (Some(600.0), Some(1000.0)));
    }
}
