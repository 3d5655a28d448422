//! Rules about a cell of commands: whether it was measured often enough, and on cores that were there.
//!
//! It deliberately has none about failures: a run that fails ends the measurement.

use crate::judge::held_up::steal;
use crate::judge::{few_blocks, told};
use crate::probe::system::Ticks;
use tollgate_facts::results::{Cell, Validity};
use tollgate_facts::rules;

/// What the rules find in a cell; a single `ok` where they find nothing.
pub(super) fn judge(cell: &Cell, ticks: Ticks) -> Vec<Validity> {
    let found = [(rules::SAMPLES, few_blocks(cell)), (rules::STEAL, steal(ticks))];
    let count = found.len();
    told(cell, found.into_iter().filter_map(|(rule, finding)| Some((rule.name, finding?))), count)
}
