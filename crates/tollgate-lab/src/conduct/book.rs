//! What a run has measured so far, beside what its kind keeps of each cell.

use tollgate_facts::results::{Gap, GapKind, RunResult, Trial, Validity};
use tollgate_facts::threshold::{self, Threshold};
use tollgate_facts::toll;

/// Trials, and what is told apart from them.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// All trials that are kept one by one.
    pub(crate) trials: Vec<Trial>,
    /// How many others there are.
    pub(crate) further: usize,
    /// Faults that belong to no number, such as a death.
    pub(crate) faults: Vec<Validity>,
    /// Cells without figures.
    pub(crate) gaps: Vec<Gap>,
}

impl Book {
    /// Trials so far.
    pub(crate) fn trials(&self) -> usize {
        self.trials.len() + self.further
    }

    /// Those of one cell.
    pub(crate) fn of<'b>(&'b self, variant: &str, level: u64) -> Vec<&'b Trial> {
        self.trials.iter().filter(|trial| trial.level == level && trial.variant == variant).collect()
    }

    /// Adds a cell without figures; one that has figures has no gap.
    pub(crate) fn gap(&mut self, gap: Gap) {
        let is_known = self.gaps.iter().any(|known| known.variant == gap.variant && known.level == gap.level);
        if !is_known && self.of(&gap.variant, gap.level).is_empty() {
            self.gaps.push(gap);
        }
    }

    /// Errors of a variant begin at this level: what was known of a higher one is corrected, and what lies above stays
    /// empty, whatever was measured there before.
    pub(crate) fn onset(&mut self, variant: &str, level: u64, reason: String, levels: &[u64]) {
        self.gaps.retain(|gap| gap.variant != variant || (gap.kind == GapKind::TooLong && gap.level < level));
        let gap = |level, kind, reason| Gap { variant: variant.to_owned(), level, kind, reason };
        self.gaps.push(gap(level, GapKind::ErrorOnset, reason));
        for above in levels.iter().filter(|above| **above > level) {
            let reason = format!("errors began at {level} records");
            self.gaps.push(gap(*above, GapKind::AfterOnset, reason));
        }
    }

    /// Puts what it has into `result`, which has no cells yet.
    pub(crate) fn fill(&self, result: &mut RunResult) {
        result.trials.extend_from_slice(&self.trials[result.trials.len()..]);
        result.validity.clone_from(&self.faults);
        result.gaps.clone_from(&self.gaps);
        result.cells.clear();
        result.series.clear();
    }
}

/// Adds to a result that has its cells the tolls, what is doubted of them, and what comes of the thresholds.
pub(crate) fn judge(thresholds: &[Threshold], result: &mut RunResult) {
    result.tolls = toll::compute(result);
    toll::add_doubts(&mut result.validity, &result.tolls);
    result.thresholds = threshold::judge(thresholds, result);
}
