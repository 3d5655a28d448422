//! What is written down of a scenario beside what every load has: each step's own times and failures, and whole iterations.

use std::time::{Duration, Instant};

use crate::load::answer::Verdict;
use crate::load::answer::failure::Failure;
use crate::load::record::recorder::{ErrorTally, Recorder, Times, count_error, nanoseconds};
use crate::load::user::Answer;

/// What was recorded of a scenario.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// One for each step, in their order.
    pub steps: Vec<StepRecord>,
    /// Whole iterations: response times of their steps added up, time to think left out.
    pub iterations: Times,
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
    pub response: Times,
    /// Failures by class.
    pub failures: Vec<ErrorTally>,
}

impl Stepped {
    /// Nothing of these steps yet.
    pub(in crate::load) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Stepped {
        let step = |name: &str| StepRecord { name: name.to_owned(), response: Times::default(), failures: Vec::new() };
        Stepped { steps: names.map(step).collect(), iterations: Times::default(), failed: 0, iterations_ns: 0 }
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
        for (own, other) in self.steps.iter_mut().zip(&other.steps) {
            own.response.add(&other.response);
            for error in &other.failures {
                count_error(&mut own.failures, error.class, error.count, &error.example);
            }
        }
        self.iterations.add(&other.iterations);
        self.failed += other.failed;
        self.iterations_ns += other.iterations_ns;
    }
}

impl Recorder {
    /// Sees to it that it knows these steps; what it has of them is kept.
    pub(super) fn with_steps<'n>(&mut self, names: impl Iterator<Item = &'n str> + Clone) {
        let known = self.stepped.iter().flat_map(|stepped| &stepped.steps).map(|step| step.name.as_str());
        if !known.eq(names.clone()) {
            self.stepped = Some(Box::new(Stepped::of(names)));
        }
    }

    /// A valid answer to a step of a scenario.
    pub(super) fn step_answered(&mut self, step: usize, intended: Instant, answer: &Answer, verdict: Verdict) {
        self.judged(intended, answer, verdict);
        if let Some(stepped) = &mut self.stepped {
            stepped.steps[step].response.saturating_record(nanoseconds(answer.finished, intended));
        }
    }

    /// A failed step of a scenario, which ends the iteration.
    pub(super) fn step_failed(&mut self, step: usize, failure: &Failure, intended: Instant, finished: Instant) {
        self.failure(failure, intended, finished);
        if let Some(stepped) = &mut self.stepped {
            count_error(&mut stepped.steps[step].failures, failure.class, 1, &failure.text);
            stepped.failed += 1;
        }
    }

    /// A whole iteration, whose steps were answered in this time.
    pub(super) fn iterated(&mut self, time: Duration) {
        self.tally.units += 1;
        if let Some(stepped) = &mut self.stepped {
            stepped.iterations.saturating_record(time.as_nanos() as u64);
            stepped.iterations_ns += time.as_nanos() as u64;
        }
    }

    /// As one value for the trial, the mean of its iterations.
    pub(super) fn close_iterations(&mut self) {
        let stepped = self.stepped.as_deref();
        let mean_ns = stepped.and_then(|stepped| stepped.iterations_ns.checked_div(stepped.iterations.len()));
        self.tally.unit_times = mean_ns.map(Duration::from_nanos).into_iter().collect();
    }
}
