//! The course over time: answers and their response times in bins of equal width, from which the cut of a warm-up is found.

use std::time::{Duration, Instant};

/// Width of a bin.
pub const BIN: Duration = Duration::from_millis(50);

/// Recording of the course over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Course {
    /// None, only the distribution.
    #[default]
    Unrecorded,
    /// In bins of [`BIN`], by completion of answers.
    Binned,
    /// In [`PARTS`] equal parts of a time, by the due time of units of work: the steps of one are together.
    Parts(Duration),
}

/// Parts of the time.
pub(crate) const PARTS: usize = 10;

/// Answers and their total response time in nanoseconds, for each bin.
#[derive(Debug, Clone)]
pub(crate) struct Bins {
    start: Instant,
    width_ns: u64,
    /// Whether answers are assigned by due time.
    is_by_due: bool,
    sums: Vec<(u64, u64)>,
}

impl Bins {
    /// Creates empty bins from `start` on; absent if no course is wanted.
    pub(crate) fn new(course: Course, start: Instant) -> Option<Bins> {
        let (width, sums) = match course {
            Course::Unrecorded => return None,
            Course::Binned => (BIN, Vec::with_capacity(64)),
            Course::Parts(lasting) => (lasting / PARTS as u32, vec![(0, 0); PARTS]),
        };
        let is_by_due = matches!(course, Course::Parts(_));
        Some(Bins { start, width_ns: (width.as_nanos() as u64).max(1), is_by_due, sums })
    }

    /// Restarts the first bin now, when measurement begins.
    pub(crate) fn begin(&mut self, start: Instant) {
        self.start = start;
    }

    /// Number of answers and total response time of each bin.
    pub(crate) fn sums(&self) -> &[(u64, u64)] {
        &self.sums
    }

    /// Returns the mean response time of each bin in nanoseconds; an empty bin repeats the one before it, or at the
    /// beginning the first filled one.
    pub(crate) fn course_ns(&self) -> Vec<f64> {
        let mean = |(count, sum): &(u64, u64)| (*count > 0).then(|| *sum as f64 / *count as f64);
        let mut last = self.sums.iter().find_map(mean).unwrap_or_default();
        let repeated = |bin| {
            last = mean(bin).unwrap_or(last);
            last
        };
        self.sums.iter().map(repeated).collect()
    }

    /// Adds the bins of another worker; workers begin at the same moment to within a bin.
    pub(crate) fn merge(&mut self, other: &Bins) {
        if self.sums.len() < other.sums.len() {
            self.sums.resize(other.sums.len(), (0, 0));
        }
        for (own, other) in self.sums.iter_mut().zip(&other.sums) {
            own.0 += other.0;
            own.1 += other.1;
        }
    }

    /// Adds an answer, if bins are by completion.
    pub(crate) fn answered(&mut self, finished: Instant, response_ns: u64) {
        if !self.is_by_due {
            self.add(finished, response_ns, usize::MAX);
        }
    }

    /// Adds a whole unit of work, if bins are by due time.
    pub(crate) fn ended(&mut self, due: Instant, response_ns: u64) {
        if self.is_by_due {
            self.add(due, response_ns, PARTS - 1);
        }
    }

    fn add(&mut self, at: Instant, response_ns: u64, most: usize) {
        let since_ns = at.saturating_duration_since(self.start).as_nanos() as u64;
        let index = ((since_ns / self.width_ns) as usize).min(most);
        if self.sums.len() <= index {
            self.sums.resize(index + 1, (0, 0));
        }
        self.sums[index].0 += 1;
        self.sums[index].1 += response_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_time_are_all_there_and_hold_what_was_due_in_them() {
        let start = Instant::now();
        let mut bins = Bins::new(Course::Parts(Duration::from_millis(100)), start).unwrap();
        for (due_ms, response_ms) in [(15, 10), (90, 410), (99, 300)] {
            bins.ended(start + Duration::from_millis(due_ms), response_ms * 1_000_000);
            bins.answered(start, 1);
        }
        let mut expected = [(0, 0); PARTS];
        (expected[1], expected[9]) = ((1, 10_000_000), (2, 710_000_000));
        assert_eq!(bins.sums(), expected);
    }

    #[test]
    fn bins_without_an_answer_repeat_the_one_before_or_the_first() {
        let start = Instant::now();
        let mut bins = Bins::new(Course::Binned, start).unwrap();
        assert!(bins.course_ns().is_empty());
        let mut answered = |after_ms: u64, response_ms: u64| {
            bins.answered(start + Duration::from_millis(after_ms), response_ms * 1_000_000);
        };
        answered(120, 120);
        answered(210, 90);
        let course_ms: Vec<f64> = bins.course_ns().iter().map(|ns| ns / 1e6).collect();
        assert_eq!(course_ms, [120.0, 120.0, 120.0, 120.0, 90.0]);
    }
}
