//! Rules about users whose connections are open for one trial: whether all of them came to be there, and asked often enough
//! for a steady state.

use super::bounds::ANSWERS_PER_USER_MIN;
use super::seen::LoadSeen;
use super::settling::told;
use tollgate_facts::rules::{Finding, marked, marked_above};

pub(super) fn few_rounds(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let answers = evidence.answers_per_user.filter(|answers| *answers > 0.0 && *answers < ANSWERS_PER_USER_MIN)?;
    let reason =
        format!("each user was answered {answers:.1} times in a trial: its start and its end, no steady state");
    let remedy = "read the CPU per request instead of times and throughput, take fewer users, or a longer extent";
    Some(marked(reason, remedy, (answers, ANSWERS_PER_USER_MIN)))
}

pub(super) fn settling(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let (reason, count) = told(evidence.settling, "before trials, while connections were opened")?;
    let remedy = "they are in no figure; raise the subject's backlog and limits of connections, or use fewer users";
    Some(marked(reason, remedy, (count as f64, 0.0)))
}

pub(super) fn warm_up(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let seconds = crate::plan::WARM_UP_MOST.as_secs();
    let reason = format!("after {seconds} s of warm-up response times still changed, or were too few to tell");
    marked_above(reason, "warm the subject up by hand, then run again", (f64::from(evidence.unsteady_starts), 0.0))
}

#[cfg(test)]
mod tests {
    use super::super::Evidence;
    use super::super::tests::{evidence, sound};
    use super::*;
    use crate::load::answer::failure::ErrorClass;
    use crate::load::record::recorder::{ErrorTally, Tally};
    use tollgate_facts::results::Verdict;

    #[test]
    fn fewer_than_ten_answers_for_each_user_are_no_steady_state() {
        let check = |answers: Option<f64>, expected: bool| {
            let cell = sound();
            let found = few_rounds(&Evidence { answers_per_user: answers, ..evidence(&cell) }.closed());
            assert_eq!(found.map(|found| found.verdict), expected.then_some(Verdict::Marked), "{answers:?}");
        };
        check(Some(1.05), true);
        check(Some(9.9), true);
        check(Some(10.0), false);
        check(Some(0.0), false);
        check(None, false);
    }

    #[test]
    fn what_fails_while_connections_are_opened_is_told() {
        let cell = sound();
        let mut before = Tally::default();
        let mut tally = Tally { requests: 1, ..Tally::default() };
        before.add(&tally);
        let of = |before: &Tally| settling(&Evidence { settling: before, ..evidence(&cell) }.closed());
        assert!(of(&before).is_none());
        tally.errors.push(ErrorTally { class: ErrorClass::Status(503), count: 1, example: "503, full".to_owned() });
        before.add(&tally);
        let found = of(&before).unwrap();
        assert!(found.reason.starts_with("1 of 3 requests failed before trials"), "{}", found.reason);
        assert!(found.reason.contains("status-503: 1"), "{}", found.reason);
    }
}
