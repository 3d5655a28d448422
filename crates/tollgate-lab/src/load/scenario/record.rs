//! What is written down of a scenario beside what every load has: each step's own times and failures, and whole iterations.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::load::answer::failure::Failure;
use crate::load::record::recorder::{ErrorTally, count_error, times};

/// What was recorded of a scenario.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// One for each step, in their order.
    pub steps: Vec<StepRecord>,
    /// Whole iterations: response times of their steps added up, time to think left out.
    pub iterations: Histogram<u64>,
    /// Iterations that a failure ended.
    pub failed: u64,
    iterations_ns: u64,
}

/// What was recorded of one step.
#[derive(Debug, Clone)]
pub struct StepRecord {
    /// Its name.
    pub name: String,
    /// Valid answers: from the intended start to the last byte.
    pub response: Histogram<u64>,
    /// Failures by class.
    pub failures: Vec<ErrorTally>,
}

impl Stepped {
    /// Nothing of these steps yet.
    pub(in crate::load) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Stepped {
        let step = |name: &str| StepRecord { name: name.to_owned(), response: times(), failures: Vec::new() };
        Stepped { steps: names.map(step).collect(), iterations: times(), failed: 0, iterations_ns: 0 }
    }

    /// A valid answer to a step.
    pub(in crate::load) fn answer(&mut self, step: usize, time: Duration) {
        self.steps[step].response.saturating_record(time.as_nanos() as u64);
    }

    /// A failure of a step, which ends the iteration.
    pub(in crate::load) fn failure(&mut self, step: usize, failure: &Failure) {
        count_error(&mut self.steps[step].failures, failure.class, 1, &failure.text);
        self.failed += 1;
    }

    /// A whole iteration.
    pub(in crate::load) fn iteration(&mut self, time: Duration) {
        self.iterations.saturating_record(time.as_nanos() as u64);
        self.iterations_ns += time.as_nanos() as u64;
    }

    /// Mean time of an iteration; absent where there was none.
    pub(in crate::load) fn mean(&self) -> Option<Duration> {
        self.iterations_ns.checked_div(self.iterations.len()).map(Duration::from_nanos)
    }

    /// Forgets everything and keeps the memory.
    pub(in crate::load) fn reset(&mut self) {
        for step in &mut self.steps {
            step.response.reset();
            step.failures.clear();
        }
        self.iterations.reset();
        (self.failed, self.iterations_ns) = (0, 0);
    }

    /// Adds what another worker or trial recorded of the same steps.
    pub(in crate::load) fn add(&mut self, other: &Stepped) {
        const SAME: &str = "all histograms have the same bounds";
        for (own, other) in self.steps.iter_mut().zip(&other.steps) {
            own.response.add(&other.response).expect(SAME);
            for error in &other.failures {
                count_error(&mut own.failures, error.class, error.count, &error.example);
            }
        }
        self.iterations.add(&other.iterations).expect(SAME);
        self.failed += other.failed;
        self.iterations_ns += other.iterations_ns;
    }
}
