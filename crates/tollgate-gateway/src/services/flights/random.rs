//! Draws from a seeded stream of numbers, so that the data set is the same on every machine and version.
//!
//! It does not use the distributions of `rand`: those may change between versions, the stream does not.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of draws.
pub(super) struct Draw(ChaCha8Rng);

impl Draw {
    pub(super) fn seeded(seed: u64) -> Draw {
        Draw(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from 0 to `bound`, exclusive.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    /// A number from `low` to `high`, inclusive.
    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`.
    pub(super) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u32) as usize]
    }
}
