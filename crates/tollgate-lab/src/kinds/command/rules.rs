//! Rules about a cell of commands: whether it has enough blocks, and had its cores to itself.
//!
//! There are none about failures: a run that fails ends the measurement.

use std::time::Duration;

use crate::judge::bounds::CORES_BUSY_MAX;
use crate::judge::held_up::steal;
use crate::judge::trend::Trend;
use crate::judge::{few_blocks, over_trials, told};
use crate::probe::system::Ticks;
use tollgate_facts::results::{Cell, Validity};
use tollgate_facts::rules::{self, Finding, Rule, marked_above};

/// With more than this of the cores' time used by other programs, a command waits for them.
const OTHERS_SHARE_MAX: f64 = 0.05;

const REMEDY: &str = "stop what else runs on this machine";

/// Input of the rules for one cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandEvidence<'a> {
    pub(super) cell: &'a Cell,
    /// Ticks of the commands' cores during its trials.
    pub(super) ticks: Ticks,
    /// CPU time of the command, and of the thread that starts it.
    pub(super) own: Duration,
    /// Course of its trials in their order.
    pub(super) over: Option<Trend>,
}

type CommandCheck = fn(&CommandEvidence<'_>) -> Option<Finding>;

/// All rules in the order of the report.
const RULES: &[(Rule, CommandCheck)] = &[
    (rules::STEADY, |evidence| over_trials(evidence.over)),
    (rules::SAMPLES, |evidence| few_blocks(evidence.cell)),
    (rules::JOINT, joint),
    (rules::OTHERS, others),
    (rules::STEAL, |evidence| steal(evidence.ticks)),
];

/// The names of all rules.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(rule, _)| rule.name)
}

/// The findings of the rules for a cell; a single `ok` without findings.
pub(super) fn judge(evidence: &CommandEvidence<'_>) -> Vec<Validity> {
    let found = RULES.iter().filter_map(|(rule, check)| Some((rule.name, check(evidence)?)));
    told(evidence.cell, found, RULES.len())
}

impl CommandEvidence<'_> {
    /// Share of the cores' time that other programs used, 0 to 1.
    fn others_share(&self) -> f64 {
        self.ticks.others_share(self.own.as_nanos() as f64)
    }
}

/// Marks cores that a command shared with others; a command that fills its cores alone is not marked.
fn joint(evidence: &CommandEvidence<'_>) -> Option<Finding> {
    let (busy, others) = (evidence.ticks.busy_share(), evidence.others_share());
    let reason = format!(
        "the command's cores were busy {:.0} % of the time, {:.0} % with other programs, so its time cannot be attributed to it",
        busy * 100.0,
        others * 100.0
    );
    marked_above(reason, REMEDY, (busy, CORES_BUSY_MAX)).filter(|_| others > OTHERS_SHARE_MAX)
}

fn others(evidence: &CommandEvidence<'_>) -> Option<Finding> {
    let share = evidence.others_share();
    let reason = format!("other programs used {:.0} % of the command's cores", share * 100.0);
    marked_above(reason, REMEDY, (share, OTHERS_SHARE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_that_other_programs_use_are_marked_and_a_command_that_fills_them_is_not() {
        let cell = crate::judge::tests::sound();
        let check = |idle: u64, steal: u64, own_ms: u64, expected: &[&str]| {
            let ticks = Ticks { total: 1000, idle, steal, interrupts: 0 };
            let found = judge(&CommandEvidence { cell: &cell, ticks, own: Duration::from_millis(own_ms), over: None });
            assert_eq!(found.iter().map(|found| found.rule.as_str()).collect::<Vec<_>>(), expected, "{found:?}");
            found
        };
        check(0, 0, 9_990, &["all"]);
        check(0, 5, 9_500, &["all"]);
        check(500, 0, 4_600, &["all"]);
        // More than was counted: ticks are hundredths of a second.
        check(500, 0, 5_100, &["all"]);
        check(500, 0, 4_400, &["others"]);
        check(0, 0, 6_600, &["joint", "others"]);
        check(0, 500, 4_900, &["steal"]);
        let found = check(10, 0, 6_600, &["joint", "others"]);
        assert!(found[0].reason.contains("busy 99 % of the time, 33 % with other programs"), "{found:?}");
    }
}
