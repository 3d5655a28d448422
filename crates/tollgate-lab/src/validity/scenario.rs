//! Rules about scenarios: whether their trials were as long as they were to be.

use super::{Evidence, Finding};
use crate::results::{Cell, Verdict};

/// What to do where the content of answers is not looked at.
pub(super) fn how_contents_are_checked(cell: &Cell) -> &'static str {
    match cell.played {
        Some(_) => "give each step an `assert`, a `status` or an `extract`",
        None => "say by `key` or `contains` what an answer must hold",
    }
}

/// Trials that rows cut short are shorter than a slice, and their users fewer than the level says.
pub(super) fn rows(evidence: &Evidence<'_>) -> Option<Finding> {
    let cut = evidence.cell.played.as_ref()?.trials_out_of_rows;
    (cut > 0).then(|| Finding {
        verdict: Verdict::Marked,
        reason: format!("in {cut} of {} trials rows came to an end, and users left", evidence.cell.trials),
        remedy: "give the feed more rows, or `end = \"again\"`: what is short is mostly its start and its end",
        value: f64::from(cut),
        bound: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{evidence, sound};
    use super::*;
    use crate::results::{Percentiles, Played};

    #[test]
    fn trials_whose_rows_came_to_an_end_are_marked() {
        let check = |trials_out_of_rows: u32, expected: bool| {
            let (iterations, failed, steps) = (100, 0, Vec::new());
            let iteration_time_ms = Percentiles::default();
            let played = Played { iterations, failed, trials_out_of_rows, iteration_time_ms, steps };
            let mut cell = sound();
            cell.played = Some(played);
            let found = rows(&evidence(&cell)).map(|found| found.verdict);
            assert_eq!(found, expected.then_some(Verdict::Marked), "{trials_out_of_rows}");
        };
        check(0, false);
        check(1, true);
        assert!(rows(&evidence(&sound())).is_none());
    }
}
