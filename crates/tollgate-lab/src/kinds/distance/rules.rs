//! Rules about a batch: whether it stored all documents, and whether its link added the delay asked.

use crate::judge::bounds::{LINK_OFF_US, LINK_SHARE_MAX};
use crate::judge::held_up::steal;
use crate::judge::trend::Trend;
use crate::judge::{few_blocks, over_trials, told};
use crate::probe::system::Ticks;
use tollgate_facts::results::{Cell, Validity};
use tollgate_facts::rules::{self, Finding, Rule, marked, refused};

/// Largest deviation of a link's delay, as a share of the delay asked; a cell beyond it is refused, one with a smaller
/// deviation marked: its name is inaccurate, but times are compared with the delay measured.
pub(crate) const LINK_REFUSED_SHARE: f64 = 0.25;

/// Input of the rules for one cell of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchEvidence<'a> {
    /// The cell.
    pub(crate) cell: &'a Cell,
    /// Documents that its trials were asked for.
    pub(crate) asked: u64,
    /// Ticks of all cores during its trials.
    pub(crate) ticks: Ticks,
    /// Course of its trials in their order.
    pub(crate) over: Option<Trend>,
}

type BatchCheck = fn(&BatchEvidence<'_>) -> Option<Finding>;

/// All rules in the order of the report.
const RULES: &[(Rule, BatchCheck)] = &[
    (rules::DOCUMENTS, documents),
    (rules::STEADY, |evidence| over_trials(evidence.over)),
    (rules::LINK, link),
    (rules::SAMPLES, |evidence| few_blocks(evidence.cell)),
    (rules::STEAL, |evidence| steal(evidence.ticks)),
];

/// The names of all rules.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(rule, _)| rule.name)
}

/// The findings of the rules for a cell; a single `ok` without findings.
pub(crate) fn judge(evidence: &BatchEvidence<'_>) -> Vec<Validity> {
    let found = RULES.iter().filter_map(|(rule, check)| Some((rule.name, check(evidence)?)));
    told(evidence.cell, found, RULES.len())
}

/// Refuses a cell unless each waiting document is stored, once.
fn documents(evidence: &BatchEvidence<'_>) -> Option<Finding> {
    let stored = evidence.cell.batch?.documents;
    let reason = format!("{stored} of {} documents were stored", evidence.asked);
    let remedy = "let nobody else work on these tables; `tollgate generate` says what is wrong with a document";
    (stored != evidence.asked).then(|| refused(reason, remedy, (stored as f64, evidence.asked as f64)))
}

fn link(evidence: &BatchEvidence<'_>) -> Option<Finding> {
    let batch = evidence.cell.batch?;
    let (asked_us, added_us) = (batch.asked_us?, batch.added_median_us?);
    let (off_us, bound) = ((added_us - asked_us).abs(), LINK_OFF_US.max(asked_us * LINK_SHARE_MAX));
    let found = if off_us > bound.max(asked_us * LINK_REFUSED_SHARE) { refused } else { marked };
    let reason = format!(
        "the link added {added_us:.0} µs to a round trip in the median block, where {asked_us:.0} µs were asked"
    );
    let remedy = "stop what else runs on this machine; `tollgate link verify` shows which delays it keeps";
    (off_us > bound).then(|| found(reason, remedy, (off_us, bound)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::results::{BatchFound, Verdict};

    fn check(fault: impl FnOnce(&mut Cell, &mut BatchFound), steal: u64, expected: &[(&str, Verdict)]) {
        let mut cell = crate::judge::tests::sound();
        let added_median_us = Some(1010.0);
        let mut batch = BatchFound { documents: 640, asked_us: Some(1000.0), added_median_us, ..BatchFound::default() };
        fault(&mut cell, &mut batch);
        cell.batch = Some(batch);
        let ticks = Ticks { total: 1000, idle: 500, steal, interrupts: 0 };
        let found = judge(&BatchEvidence { cell: &cell, asked: 640, ticks, over: None });
        let names: Vec<(&str, Verdict)> = found.iter().map(|doubt| (doubt.rule.as_str(), doubt.verdict)).collect();
        assert_eq!(names, expected, "{found:?}");
    }

    #[test]
    fn a_sound_batch_is_ok() {
        check(|_, _| {}, 0, &[("all", Verdict::Ok)]);
        check(|_, batch| (batch.asked_us, batch.added_median_us) = (None, None), 0, &[("all", Verdict::Ok)]);
    }

    #[test]
    fn a_document_that_is_not_stored_refuses_the_cell() {
        check(|_, batch| batch.documents = 639, 0, &[("documents", Verdict::Refused)]);
    }

    #[test]
    fn a_link_that_is_off_by_more_than_a_tenth_marks_the_cell_and_by_a_quarter_refuses_it() {
        let added = |added_us: f64| move |_: &mut Cell, batch: &mut BatchFound| batch.added_median_us = Some(added_us);
        check(added(1100.0), 0, &[("all", Verdict::Ok)]);
        check(added(1100.1), 0, &[("link", Verdict::Marked)]);
        check(added(899.0), 0, &[("link", Verdict::Marked)]);
        check(added(1250.0), 0, &[("link", Verdict::Marked)]);
        check(added(1250.1), 0, &[("link", Verdict::Refused)]);
        check(added(749.0), 0, &[("link", Verdict::Refused)]);
        let short = |_: &mut Cell, batch: &mut BatchFound| batch.asked_us = Some(980.0);
        check(short, 0, &[("all", Verdict::Ok)]);
    }

    #[test]
    fn few_blocks_and_stolen_time_are_marked() {
        check(|cell, _| cell.rounds = 7, 11, &[("samples", Verdict::Marked), ("steal", Verdict::Marked)]);
    }
}
