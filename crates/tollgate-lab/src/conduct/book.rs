//! A run's own record, beside its result and its kind's record of each cell.

use tollgate_facts::results::{RunResult, Validity};
use tollgate_facts::threshold::{self, Threshold};
use tollgate_facts::toll;

/// Facts that are reported apart from trials.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// The number of trials that the result does not list one by one.
    pub(crate) further: usize,
    /// Faults that belong to no figure, such as the death of a subject.
    pub(crate) faults: Vec<Validity>,
}

/// Adds to a result with cells its tolls, the doubts about them, and the results of the thresholds.
pub(crate) fn judge(thresholds: &[Threshold], result: &mut RunResult) {
    result.tolls = toll::compute(result);
    toll::add_doubts(&mut result.validity, &result.tolls);
    result.thresholds = threshold::judge(thresholds, result);
}
