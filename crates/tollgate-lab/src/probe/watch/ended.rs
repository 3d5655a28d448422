//! CPU time of processes of a tree that ended since the last look: it goes to their parents when these wait for them,
//! and part of it was seen while they lived.
//!
//! It reads nothing by itself; children that nobody waits for are not counted.

use std::collections::BTreeMap;

use super::same;
use crate::probe::process::{self, Found, Stat};
use crate::probe::system::TICK_NS;

/// Rounding in the accounts of parents, which are coarser than clocks: a difference up to this is carried on.
const ROUNDING_NS: u64 = 2 * TICK_NS;

/// CPU time that was counted already, and that parents will get.
#[derive(Debug, Default)]
pub(in crate::probe) struct Ended {
    /// By the id of the living parent.
    counted_ns: BTreeMap<u32, u64>,
}

impl Ended {
    /// Returns the CPU time, not counted before, of processes that ended since `known`; `found` exist now.
    ///
    /// An ended process that was not waited for stays among `found`, as its parent will get its time.
    pub(in crate::probe) fn since(
        &mut self,
        known: &mut BTreeMap<u32, Found>,
        found: &mut BTreeMap<u32, Found>,
    ) -> u64 {
        let told = |(process, now): (&u32, &Found)| {
            let told_before = same(known, *process, now).map_or(0, |before| before.stat.children_ns);
            (*process, now.stat.children_ns.saturating_sub(told_before))
        };
        let told: Vec<(u32, u64)> = found.iter().map(told).collect();
        let mut gone = std::mem::take(known);
        gone.retain(|process, _| !found.contains_key(process));
        self.told(gone, found, &told, process::stat)
    }

    /// Returns the CPU time of ended processes that was not counted before. `gone` existed at the last look and do not
    /// now, `there` do; `told` is the time that each of these got since then, and `stat` reads a process.
    fn told(
        &mut self,
        mut gone: BTreeMap<u32, Found>,
        there: &mut BTreeMap<u32, Found>,
        told: &[(u32, u64)],
        stat: impl Fn(u32) -> Option<Stat>,
    ) -> u64 {
        // One that lives on has left the tree with its parent's end, and one that nobody waited for is not told of yet.
        let mut waiting = BTreeMap::new();
        gone.retain(|process, known| {
            let Some(now) = stat(*process).filter(|stat| stat.started_ticks == known.stat.started_ticks) else {
                return true;
            };
            if now.is_ended() {
                waiting.insert(*process, std::mem::take(known));
            }
            false
        });
        for known in gone.values() {
            if let Some(parent) = told_of(known, &gone, there) {
                *self.counted_ns.entry(parent).or_default() += known.cpu_ns.unwrap_or(0) + known.stat.children_ns;
            }
        }
        self.counted_ns.retain(|parent, _| there.contains_key(parent));
        there.append(&mut waiting);
        told.iter().map(|(parent, told_ns)| self.less_counted(*parent, *told_ns)).sum()
    }

    fn less_counted(&mut self, parent: u32, told_ns: u64) -> u64 {
        let counted_ns = self.counted_ns.remove(&parent).unwrap_or(0);
        let left_ns = counted_ns.saturating_sub(told_ns).min(ROUNDING_NS);
        if left_ns > 0 {
            self.counted_ns.insert(parent, left_ns);
        }
        told_ns.saturating_sub(counted_ns)
    }
}

/// Returns the process that gets the time of an ended one: its parent, or the nearest living ancestor.
fn told_of(known: &Found, gone: &BTreeMap<u32, Found>, there: &BTreeMap<u32, Found>) -> Option<u32> {
    let mut parent = known.stat.parent;
    // A chain of parents has no circle; the bound is that of a damaged one.
    for _ in 0..gone.len() + 1 {
        if there.contains_key(&parent) {
            return Some(parent);
        }
        parent = gone.get(&parent)?.stat.parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn known(parent: u32, cpu_ms: u64, children_ms: u64) -> Found {
        let stat = Stat { started_ticks: 7, parent, children_ns: children_ms * MS, ..Stat::default() };
        Found { stat, cpu_ns: Some(cpu_ms * MS), ..Found::default() }
    }

    fn check<const GONE: usize>(ended: &mut Ended, gone: [(u32, Found); GONE], told_ms: u64, expected_ms: u64) {
        let mut there = BTreeMap::from([(1, known(0, 5, 0))]);
        let found = ended.told(gone.into(), &mut there, &[(1, told_ms * MS)], |_| None);
        assert_eq!(found, expected_ms * MS);
    }

    #[test]
    fn of_what_a_parent_is_told_that_which_was_seen_is_left_out() {
        let mut ended = Ended::default();
        // Begun and ended between two looks.
        check(&mut ended, [], 50, 50);
        // Seen with 300 ms at the last look, 310 ms in the end.
        check(&mut ended, [(2, known(1, 300, 0))], 310, 10);
        // A child and its own child, which it had waited for in part.
        check(&mut ended, [(2, known(1, 100, 40)), (3, known(2, 30, 0))], 200, 30);
    }

    #[test]
    fn what_nobody_waits_for_hides_nothing_later() {
        let mut ended = Ended::default();
        check(&mut ended, [(2, known(1, 5000, 0))], 0, 0);
        check(&mut ended, [], 100, 80);
        check(&mut ended, [], 100, 100);
        // Its parent is none of ours any more.
        check(&mut ended, [(2, known(9, 5000, 0))], 40, 40);
    }
}
