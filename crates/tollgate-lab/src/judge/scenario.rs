//! Rules about scenarios: whether their trials lasted as long as planned.

use super::at_rate::{GENERATOR_REMEDY, Punctuality};
use super::seen::LoadSeen;
use super::unsent::{SENT_SHARE_MIN, Unsent};
use tollgate_facts::results::{Cell, InteractiveLaw, IterationsOffered, Played};
use tollgate_facts::rules::{Finding, marked, marked_above, refused};

/// The remedy where the content of answers is not checked.
pub(super) fn how_contents_are_checked(cell: &Cell) -> &'static str {
    match cell.played {
        Some(_) => "give each step an `assert`, a `status` or an `extract`",
        None if cell.list_time_ms.is_some() => "use --detail TEMPLATE, or in a file `detail` and `key`",
        None => "use --expect-body TEXT, or in a file `contains` or an element of the `answer`",
    }
}

/// Marks trials that ran out of rows: they are shorter than a slice, with fewer users than the level says.
pub(super) fn rows(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let cut = evidence.cell.played.as_ref()?.trials_out_of_rows;
    let reason = format!("in {cut} of {} trials rows came to an end, and users left", evidence.cell.trials);
    let remedy = "give the feed more rows, or `end = \"again\"`: what is short is mostly its start and its end";
    marked_above(reason, remedy, (f64::from(cut), 0.0))
}

/// Finds iterations that were due and never begun, since all users were busy: marked in stages, refused at a rate that
/// was to be kept. Where the generator was late by itself, users were busy with its backlog.
pub(super) fn unstarted(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let played = evidence.cell.played.as_ref()?;
    let offered = played.offered.as_ref()?;
    let unsent = Unsent { intended: offered.intended, unsent: offered.unstarted };
    let remedy = |users| if punctuality(played, offered).own().is_some() { GENERATOR_REMEDY } else { users };
    if unsent.is_too_much() {
        let found = if played.staged.is_some() { marked } else { refused };
        let reason = format!("{} of {} iterations were due and never begun", offered.unstarted, offered.intended);
        let remedy = remedy("allow more users (`users_max`), or offer less");
        return Some(found(reason, remedy, (unsent.sent_share(), SENT_SHARE_MIN)));
    }
    // An iteration that is begun late is late in its first step.
    let of_steps = || unsent.lacking(evidence.cell.response_time_ms, (played.steps.len() as u64).max(1));
    let lacking = unsent.lacking(played.iteration_time_ms, 1).or_else(of_steps)?;
    let reason = unsent.told(&lacking, "iterations", "begun");
    let remedy = remedy("allow more users (`users_max`), or let trials go on longer (`slice_ms`)");
    Some(marked(reason, remedy, (unsent.sent_share(), lacking.sent_share_min)))
}

/// Finds iterations that were begun late: by the generator itself, which makes their times its own, or because all
/// users were busy, which their times rightly include.
pub(super) fn begun_late(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let played = evidence.cell.played.as_ref()?;
    let offered = played.offered.as_ref()?;
    let punctuality = punctuality(played, offered);
    if let Some(late) = punctuality.own() {
        let reason = late.told("iterations", "were given to users by the generator");
        return Some(refused(reason, GENERATOR_REMEDY, (late.late_ms, late.bound_ms)));
    }
    let late = punctuality.at_all()?;
    let remedy = "all users were at work: their times count from when each was due; allow more (`users_max`)";
    Some(marked(late.told("iterations", "were begun"), remedy, (late.late_ms, late.bound_ms)))
}

/// Marks users who were not steady, or did not think as long as drawn.
pub(super) fn interactive_law(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let law = evidence.cell.played.as_ref()?.interactive_law.filter(|law| law.holds == Some(false))?;
    let InteractiveLaw { users, found, requests_per_second, response_time_ms, thinking_ms, off, bound, .. } = law;
    let reason = format!(
        "{requests_per_second:.1} requests/s x ({response_time_ms:.3} ms response time + {thinking_ms:.1} ms thinking) find \
         {found:.1} users where {users} asked: {:.1} % off, beyond {:.1} %",
        off * 100.0,
        bound * 100.0
    );
    let remedy = "users were not steady, or did not think as long as drawn: longer trials (`slice_ms`), and a core for the \
                  generator";
    Some(marked(reason, remedy, (off, bound)))
}

fn punctuality(played: &Played, offered: &IterationsOffered) -> Punctuality {
    let IterationsOffered { lateness_ms, overdue_ms, .. } = *offered;
    Punctuality { lateness_ms, overdue_ms, response_ms: played.iteration_time_ms }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{evidence, sound};
    use super::*;
    use tollgate_facts::results::{Arrivals, Percentiles, StageUnit, Staged, Verdict};

    #[test]
    fn trials_whose_rows_came_to_an_end_are_marked() {
        let check = |trials_out_of_rows: u32, expected: bool| {
            let mut cell = sound();
            cell.played = Some(Played { trials_out_of_rows, ..Played::default() });
            let found = rows(&evidence(&cell).closed()).map(|found| found.verdict);
            assert_eq!(found, expected.then_some(Verdict::Marked), "{trials_out_of_rows}");
        };
        check(0, false);
        check(1, true);
        assert!(rows(&evidence(&sound()).closed()).is_none());
    }

    #[test]
    fn what_was_due_and_not_begun_or_begun_late_is_told_by_its_cause() {
        let check = |change: fn(&mut IterationsOffered), is_staged: bool, expected: &[Verdict]| {
            let times = |p50, p99| Percentiles { p50: Some(p50), p99: Some(p99), ..Percentiles::default() };
            let mut offered = IterationsOffered {
                arrivals: Arrivals::Constant,
                intended: 1000,
                unstarted: 0,
                users: 20.0,
                users_max: 200,
                lateness_ms: times(0.1, 0.9),
                overdue_ms: times(0.1, 0.9),
            };
            change(&mut offered);
            let staged = Staged { unit: StageUnit::PerSecond, times: 1, stages: Vec::new(), course: Vec::new() };
            let mut cell = sound();
            cell.response_time_ms = times(2.0, 9.0);
            cell.played = Some(Played {
                offered: Some(offered),
                staged: is_staged.then_some(staged),
                iteration_time_ms: times(2.0, 9.0),
                ..Played::default()
            });
            let evidence = evidence(&cell);
            let seen = evidence.closed();
            let found: Vec<Verdict> =
                [unstarted(&seen), begun_late(&seen)].into_iter().flatten().map(|found| found.verdict).collect();
            assert_eq!(found, expected);
        };
        check(|_| {}, false, &[]);
        // Of what is to be beyond the 99th percentile a tenth may be missing.
        check(|offered| (offered.intended, offered.unstarted) = (10_000, 9), false, &[]);
        check(|offered| offered.unstarted = 10, false, &[Verdict::Marked]);
        check(|offered| offered.unstarted = 11, false, &[Verdict::Refused]);
        check(|offered| offered.unstarted = 11, true, &[Verdict::Marked]);
        check(|offered| offered.lateness_ms.p99 = Some(1.1), false, &[Verdict::Marked]);
        // However many users its backlog called in the end, or in the mean.
        fn overdue(offered: &mut IterationsOffered) {
            (offered.lateness_ms.p99, offered.overdue_ms.p99) = (Some(1.1), Some(1.1));
        }
        check(overdue, true, &[Verdict::Refused]);
        fn overdue_at_their_limit(offered: &mut IterationsOffered) {
            overdue(offered);
            offered.users = 200.0;
        }
        check(overdue_at_their_limit, false, &[Verdict::Refused]);
    }
}
