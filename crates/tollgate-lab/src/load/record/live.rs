//! Live counts of a load for progress displays: each worker counts for itself, and another thread reads at any time.
//!
//! It does not measure: results come from recorders. These counts are 1 % wide, and a reading may miss the latest
//! answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::places::{PLACES, place, within};

/// Counts of one worker, the only writer: each is one load and one store, without a lock.
#[derive(Debug)]
pub(crate) struct LiveCounter {
    answered: [AtomicU64; PLACES],
    failed: AtomicU64,
}

impl Default for LiveCounter {
    fn default() -> LiveCounter {
        LiveCounter { answered: [const { AtomicU64::new(0) }; PLACES], failed: AtomicU64::new(0) }
    }
}

impl LiveCounter {
    /// Counts a valid answer.
    #[inline]
    pub(super) fn answered(&self, response_ns: u64) {
        add(&self.answered[place(response_ns)]);
    }

    /// Counts a failed request.
    pub(super) fn failed(&self) {
        add(&self.failed);
    }
}

/// Adds one, without an atomic read-modify-write, as no other thread writes here.
#[inline]
fn add(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// The counts of all workers of a load.
#[derive(Debug, Clone, Default)]
pub struct LiveCounters(Vec<Arc<LiveCounter>>);

impl LiveCounters {
    pub(crate) fn new(counters: impl Iterator<Item = Arc<LiveCounter>>) -> LiveCounters {
        LiveCounters(counters.collect())
    }

    /// Reads the sum of all workers.
    pub fn read(&self) -> LiveReading {
        let mut reading = LiveReading::default();
        for counter in &self.0 {
            for (sum, count) in reading.answered.iter_mut().zip(&counter.answered) {
                *sum += count.load(Ordering::Relaxed);
            }
            reading.failed += counter.failed.load(Ordering::Relaxed);
        }
        reading
    }
}

/// Counts at one moment, or between two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveReading {
    answered: Vec<u64>,
    /// Failed requests.
    pub failed: u64,
}

impl Default for LiveReading {
    fn default() -> LiveReading {
        LiveReading { answered: vec![0; PLACES], failed: 0 }
    }
}

impl LiveReading {
    /// Adds `count` valid answers that took `time`.
    pub fn add(&mut self, count: u64, time: Duration) {
        self.answered[place(time.as_nanos() as u64)] += count;
    }

    /// Returns the counts since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &LiveReading) -> LiveReading {
        let pairs = self.answered.iter().zip(&earlier.answered);
        let answered = pairs.map(|(now, before)| now.saturating_sub(*before)).collect();
        LiveReading { answered, failed: self.failed.saturating_sub(earlier.failed) }
    }

    /// Number of valid answers.
    pub fn answered(&self) -> u64 {
        self.answered.iter().sum()
    }

    /// Returns the time within which this share of the valid answers came, to 1 %; absent if there are none.
    pub fn within(&self, share: f64) -> Option<Duration> {
        let rank = ((self.answered() as f64 * share).ceil() as u64).max(1);
        let mut counted = 0;
        let found = self.answered.iter().position(|count| {
            counted += count;
            counted >= rank
        });
        found.map(|place| Duration::from_nanos(within(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_read_together_and_a_percentile_is_right_to_one_percent() {
        let workers = [(); 2].map(|()| Arc::new(LiveCounter::default()));
        let counters = LiveCounters::new(workers.iter().map(Arc::clone));
        assert_eq!((counters.read().answered(), counters.read().within(0.5)), (0, None));
        (1..=500).for_each(|us: u64| workers[0].answered(us * 1_000));
        let before = counters.read();
        (501..=1_000).for_each(|us: u64| workers[1].answered(us * 1_000));
        workers[1].failed();
        let all = counters.read();
        let since = all.since(&before);
        assert_eq!((all.answered(), all.failed, since.answered(), since.failed), (1_000, 1, 500, 1));
        for (reading, share, expected_us) in [(&all, 0.5, 500.0), (&all, 0.99, 990.0), (&since, 0.5, 750.0)] {
            let found_us = reading.within(share).unwrap().as_secs_f64() * 1e6;
            assert!((found_us / expected_us - 1.0).abs() < 0.01, "{share}: {found_us}");
        }
        let mut same = before.clone();
        (501..=1_000).for_each(|us| same.add(1, Duration::from_micros(us)));
        assert_eq!(LiveReading { failed: 1, ..same }, all);
    }
}
