//! Coarse histograms, small enough for many parts of a load: time stretches of a single load, counted while it runs,
//! and blocks of a run.
//!
//! Times cannot be read back from them.

use std::time::Instant;

use hdrhistogram::Histogram;

use super::places::{OCTAVE_MAX, OCTAVE_MIN, PLACES, PLACES_BITS, place};
use super::recorder::nanoseconds;
use tollgate_facts::stats::percentile_interval::Cluster;

/// Most stretches of a load; at least half as many, however long it lasts.
const STRETCHES: usize = 64;
/// Initial length of a stretch in nanoseconds, as a power of two: a millisecond.
const WIDTH_BITS: u32 = 20;

/// Returns the share of times in the same place that are longer than this one.
fn beyond_within(ns: u64) -> f64 {
    let ns = ns.clamp(1 << OCTAVE_MIN, (1 << OCTAVE_MAX) - 1);
    let width = 1 << (ns.ilog2() - PLACES_BITS);
    1.0 - ((ns & (width - 1)) + 1) as f64 / width as f64
}

/// Counts all answers, and those that took longer than `ns`.
fn cluster(counts: &[u32], ns: u64) -> Cluster {
    let at = place(ns).min(counts.len().saturating_sub(1));
    let sum = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum::<u64>() as f64;
    let beyond = sum(&counts[at + 1..]) + f64::from(counts[at]) * beyond_within(ns);
    Cluster { answers: sum(counts), beyond }
}

/// A coarse distribution.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Coarse(Vec<u32>);

impl Default for Coarse {
    fn default() -> Coarse {
        Coarse(vec![0; PLACES])
    }
}

impl Coarse {
    /// Adds a histogram in nanoseconds.
    pub(crate) fn add(&mut self, times: &Histogram<u64>) {
        for value in times.iter_recorded() {
            self.0[place(value.value_iterated_to())] += value.count_at_value() as u32;
        }
    }

    /// Adds another distribution.
    pub(crate) fn join(&mut self, other: &Coarse) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own += other);
    }

    /// Counts all answers, and those that took longer than `ns`.
    pub(crate) fn cluster(&self, ns: u64) -> Cluster {
        cluster(&self.0, ns)
    }
}

/// The distribution of each stretch of a load. When the load outlasts the stretches, neighbours are merged: nothing is
/// allocated while it runs, and more than half of the stretches are always in use.
#[derive(Debug, Clone)]
pub(crate) struct Stretches {
    start: Instant,
    width_bits: u32,
    counts: Vec<u32>,
    /// Range of places in use.
    used: (usize, usize),
}

impl Default for Stretches {
    fn default() -> Stretches {
        let counts = vec![0; STRETCHES * PLACES];
        Stretches { start: Instant::now(), width_bits: WIDTH_BITS, counts, used: (PLACES, 0) }
    }
}

impl Stretches {
    /// Forgets everything, and touches its memory.
    pub(crate) fn reset(&mut self, start: Instant) {
        self.counts.fill(0);
        (self.start, self.width_bits, self.used) = (start, WIDTH_BITS, (PLACES, 0));
    }

    /// Starts counting time now.
    pub(crate) fn begin(&mut self, start: Instant) {
        self.start = start;
    }

    /// Adds an answer that finished at that time and took `ns`.
    #[inline]
    pub(crate) fn record(&mut self, finished: Instant, ns: u64) {
        let since_ns = nanoseconds(finished, self.start);
        while since_ns >> self.width_bits >= STRETCHES as u64 {
            self.double();
        }
        let place = place(ns);
        self.used = (self.used.0.min(place), self.used.1.max(place + 1));
        self.counts[(since_ns >> self.width_bits) as usize * PLACES + place] += 1;
    }

    /// Merges each two neighbours.
    fn double(&mut self) {
        let places = self.used.0..self.used.1.max(self.used.0);
        for stretch in 0..STRETCHES {
            let (from, to) = (stretch * PLACES, stretch / 2 * PLACES);
            for place in places.clone() {
                let count = std::mem::take(&mut self.counts[from + place]);
                self.counts[to + place] += count;
            }
        }
        self.width_bits += 1;
    }

    /// Adds those of another worker that began at the same time.
    pub(crate) fn add(&mut self, other: &Stretches) {
        if self.width_bits > other.width_bits {
            let mut other = other.clone();
            while self.width_bits > other.width_bits {
                other.double();
            }
            return self.add(&other);
        }
        while self.width_bits < other.width_bits {
            self.double();
        }
        self.used = (self.used.0.min(other.used.0), self.used.1.max(other.used.1));
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += other);
    }

    /// Of each stretch what was answered, and what of it took longer than this.
    pub(crate) fn clusters(&self, ns: u64) -> Vec<Cluster> {
        self.counts.chunks_exact(PLACES).map(|counts| cluster(counts, ns)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_beyond_a_time_is_counted_to_a_place() {
        let mut times = super::super::recorder::times();
        (1..=1_000).for_each(|us| times.record(us * 1_000).unwrap());
        let mut coarse = Coarse::default();
        coarse.add(&times);
        for us in [10_u64, 100, 499, 990] {
            let Cluster { answers, beyond } = coarse.cluster(us * 1_000);
            let expected = (1_000 - us) as f64;
            assert!((answers - 1_000.0).abs() < 0.5 && (beyond - expected).abs() <= 2.0, "{us}: {beyond}");
        }
        let mut twice = coarse.clone();
        twice.join(&coarse);
        assert!((twice.cluster(100_000).beyond - 2.0 * coarse.cluster(100_000).beyond).abs() < 1e-9);
    }

    #[test]
    fn however_long_a_load_lasts_it_has_32_to_64_stretches() {
        let start = Instant::now();
        for (answers, every_ms) in [(1_000_u64, 1_u64), (10_000, 7), (70, 100_000), (50, 1)] {
            let mut stretches = Stretches::default();
            stretches.reset(start);
            for number in 0..answers {
                // The second half is slow.
                let ns = if number < answers / 2 { 1_000_000 } else { 9_000_000 };
                stretches.record(start + Duration::from_millis(number * every_ms), ns);
            }
            let clusters = stretches.clusters(2_000_000);
            let with_answers = clusters.iter().filter(|cluster| cluster.answers > 0.0).count();
            assert!((32..=64).contains(&with_answers), "{with_answers} of {answers}");
            let sum = |of: fn(&Cluster) -> f64| clusters.iter().map(of).sum::<f64>();
            assert!((sum(|cluster| cluster.answers) - answers as f64).abs() < 0.5);
            assert!((sum(|cluster| cluster.beyond) - (answers / 2) as f64).abs() < 0.5);
            assert!(clusters[..with_answers / 2 - 1].iter().all(|cluster| cluster.beyond < 0.5));
        }
    }

    #[test]
    fn those_of_workers_are_one_whichever_saw_the_end() {
        let start = Instant::now();
        let of = |last_ms: u64| {
            let mut stretches = Stretches::default();
            stretches.reset(start);
            (0..=last_ms).for_each(|ms| stretches.record(start + Duration::from_millis(ms), 1_000_000));
            stretches
        };
        let (long, short) = (of(1_000), of(99));
        let (mut one, mut other) = (long.clone(), short.clone());
        one.add(&short);
        other.add(&long);
        assert_eq!(one.clusters(1), other.clusters(1));
        let answers: f64 = one.clusters(1).iter().map(|cluster| cluster.answers).sum();
        assert!((answers - 1_101.0).abs() < 0.5);
    }
}
