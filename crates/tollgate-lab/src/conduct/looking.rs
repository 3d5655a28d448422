//! Looks at a run under way: whether its tolls are narrow enough for it to stop.
//!
//! It does not look at the size of tolls: a run that stops as soon as something is significant finds something in too
//! many runs.

use tollgate_facts::results::{Figure, RunResult, TollVerdict};
use tollgate_facts::stats::sequential;

/// Whether the run may stop after this many blocks of each level; notes the look, if one is due.
pub(crate) fn is_enough(run: &mut RunResult, blocks: u32) -> bool {
    let (Some(looks), Some(number)) = (&mut run.settings.looks, sequential::interim_look(blocks)) else { return false };
    // Bytes hardly vary, of what is refused or joint nothing is claimed, and a processor that counts instructions makes no
    // run longer.
    let mut claimed = run
        .tolls
        .iter()
        .filter(|toll| toll.figure != Figure::Bytes && !toll.figure.is_second_ruler())
        .filter(|toll| !matches!(toll.verdict, TollVerdict::Refused | TollVerdict::Joint))
        .peekable();
    let is_any = claimed.peek().is_some();
    looks.done = number;
    looks.is_reached = is_any && claimed.all(|toll| (toll.high / toll.low).sqrt() - 1.0 <= looks.width);
    looks.is_reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;
    use tollgate_facts::results::Looks;

    #[test]
    fn a_run_stops_at_a_look_at_which_all_its_claims_are_narrow() {
        let check = |blocks: u32, width: f64, spoil: fn(&mut RunResult), expected: (bool, u32)| {
            let mut run = fixture::protocol();
            for toll in &mut run.tolls {
                (toll.low, toll.high, toll.verdict) = (toll.ratio / 1.01, toll.ratio * 1.01, TollVerdict::Dearer);
            }
            spoil(&mut run);
            run.settings.looks = Some(Looks { width, done: 0, is_reached: false, alpha: 0.015 });
            let is_enough = is_enough(&mut run, blocks);
            assert_eq!((is_enough, run.settings.looks.unwrap().done), expected, "{blocks} {width}");
        };
        check(8, 0.02, |_| {}, (true, 1));
        check(9, 0.02, |_| {}, (false, 0));
        check(32, 0.005, |_| {}, (false, 3));
        check(16, 0.02, |run| run.tolls[0].high *= 1.1, (false, 2));
        // Nothing is claimed of a joint one, however wide.
        let joint = |run: &mut RunResult| (run.tolls[0].high, run.tolls[0].verdict) = (9.0, TollVerdict::Joint);
        check(16, 0.02, joint, (true, 2));
        let counted = |run: &mut RunResult| (run.tolls[0].high, run.tolls[0].figure) = (9.0, Figure::Instructions);
        check(16, 0.02, counted, (true, 2));
        check(64, 0.02, |run| run.tolls.clear(), (false, 4));
    }

    #[test]
    fn a_run_whose_blocks_were_given_is_not_looked_at() {
        assert!(!is_enough(&mut fixture::protocol(), 8));
    }
}
