//! What a run knows beside its result and what its kind keeps of each cell.

use tollgate_facts::results::{RunResult, Validity};
use tollgate_facts::threshold::{self, Threshold};
use tollgate_facts::toll;

/// What is told apart from trials.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// How many trials there are that the result does not keep one by one.
    pub(crate) further: usize,
    /// Faults that belong to no number, such as a death.
    pub(crate) faults: Vec<Validity>,
}

/// Adds to a result that has its cells the tolls, what is doubted of them, and what comes of the thresholds.
pub(crate) fn judge(thresholds: &[Threshold], result: &mut RunResult) {
    result.tolls = toll::compute(result);
    toll::add_doubts(&mut result.validity, &result.tolls);
    result.thresholds = threshold::judge(thresholds, result);
}
