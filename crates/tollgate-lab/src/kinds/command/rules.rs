//! Rules about a cell of commands: whether it was measured often enough, and on cores that were there.
//!
//! It deliberately has none about failures: a run that fails ends the measurement.

use crate::judge::bounds::BLOCKS_MIN;
use crate::judge::held_up::steal_finding;
use crate::probe::system::Ticks;
use tollgate_facts::results::{Cell, Validity};
use tollgate_facts::rules::{self, Finding, marked};

/// What the rules find in a cell; a single `ok` where they find nothing.
pub(super) fn judge(cell: &Cell, ticks: Ticks) -> Vec<Validity> {
    let found = [(rules::SAMPLES, samples(cell)), (rules::STEAL, steal_finding(ticks))];
    let of = |rule: &str, finding: Finding| finding.of(&cell.variant, cell.level, rule);
    let count = found.len();
    let mut doubts: Vec<Validity> =
        found.into_iter().filter_map(|(rule, finding)| Some(of(rule.name, finding?))).collect();
    if doubts.is_empty() {
        doubts.push(of(rules::ALL, Finding::nothing(count)));
    }
    doubts
}

fn samples(cell: &Cell) -> Option<Finding> {
    let blocks = cell.rounds;
    let reason = format!("only {blocks} whole blocks ({} trials)", cell.trials);
    let remedy = "run at least 8 blocks: intervals from fewer are wide";
    (blocks < BLOCKS_MIN).then(|| marked(reason, remedy, (f64::from(blocks), f64::from(BLOCKS_MIN))))
}
