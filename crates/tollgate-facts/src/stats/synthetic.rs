//! Noise with known properties and a fixed seed, for tests that hold the statistics against the truth.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A source of noise.
pub struct Noise {
    random: ChaCha8Rng,
}

impl Noise {
    /// The source that this seed begins.
    pub fn of(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        self.random.random::<f64>()
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
