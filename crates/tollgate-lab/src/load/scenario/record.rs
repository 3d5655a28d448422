//! Records of a scenario beside those of every load: times and failures of each step, and whole iterations.

use std::time::{Duration, Instant};

use crate::load::answer::Verdict;
use crate::load::answer::failure::Failure;
use crate::load::record::recorder::{ErrorTally, Recorder, Times, count_error, nanoseconds};
use crate::load::user::Answer;

/// Record of a scenario.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// One for each step, in their order.
    pub steps: Vec<StepRecord>,
    /// Whole iterations: sum of their steps' response times, without think time.
    pub iterations: Times,
    /// Failed iterations.
    pub failed: u64,
    iterations_ns: u64,
}

/// Record of one step.
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
    /// Creates an empty record of these steps.
    pub(in crate::load) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Stepped {
        let step = |name: &str| StepRecord { name: name.to_owned(), response: Times::default(), failures: Vec::new() };
        Stepped { steps: names.map(step).collect(), iterations: Times::default(), failed: 0, iterations_ns: 0 }
    }

    /// Forgets everything but keeps the memory.
    pub(in crate::load) fn reset(&mut self) {
        for step in &mut self.steps {
            step.response.reset();
            step.failures.clear();
        }
        self.iterations.reset();
        (self.failed, self.iterations_ns) = (0, 0);
    }

    /// Adds the record of another worker or trial of the same steps.
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
    /// Makes sure that it has a record of these steps; keeps one of the same steps.
    pub(super) fn with_steps<'n>(&mut self, names: impl Iterator<Item = &'n str> + Clone) {
        let known = self.stepped.iter().flat_map(|stepped| &stepped.steps).map(|step| step.name.as_str());
        if !known.eq(names.clone()) {
            self.stepped = Some(Box::new(Stepped::of(names)));
        }
    }

    /// Records a valid answer to a step of a scenario.
    pub(super) fn step_answered(&mut self, step: usize, intended: Instant, answer: &Answer, verdict: Verdict) {
        self.judged(intended, answer, verdict);
        if let Some(stepped) = &mut self.stepped {
            stepped.steps[step].response.saturating_record(nanoseconds(answer.finished, intended));
        }
    }

    /// Records a failed step of a scenario, which ends the iteration.
    pub(super) fn step_failed(&mut self, step: usize, failure: &Failure, intended: Instant, finished: Instant) {
        self.failure(failure, intended, finished);
        if let Some(stepped) = &mut self.stepped {
            count_error(&mut stepped.steps[step].failures, failure.class, 1, &failure.text);
            stepped.failed += 1;
        }
    }

    /// Records a whole iteration with the total response time of its steps.
    pub(super) fn iterated(&mut self, time: Duration) {
        self.tally.units += 1;
        if let Some(stepped) = &mut self.stepped {
            stepped.iterations.saturating_record(time.as_nanos() as u64);
            stepped.iterations_ns += time.as_nanos() as u64;
        }
    }

    /// Records the mean of all iterations, as one value for the trial.
    pub(super) fn close_iterations(&mut self) {
        let stepped = self.stepped.as_deref();
        let mean_ns = stepped.and_then(|stepped| stepped.iterations_ns.checked_div(stepped.iterations.len()));
        self.tally.unit_times = mean_ns.map(Duration::from_nanos).into_iter().collect();
    }
}
