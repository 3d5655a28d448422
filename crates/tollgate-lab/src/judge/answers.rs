//! Rules about the outcome of requests: failures, failures of the generator itself, wrong contents, and connections
//! that had to be opened again.
//!
//! The same rules apply to a closed load and at equal rate, each to its own answers. They do not judge how long answers
//! took.

use std::collections::BTreeMap;

use tollgate_net::http1::client::ErrorClass as NetworkClass;

use super::bounds::{ERROR_SHARE_MAX, FRESH_SHARE_MAX};
use super::held_up::Shown;
use super::scenario;
use super::seen::LoadSeen;
use super::settling::classes;
use crate::load::answer::failure::ErrorClass;
use tollgate_facts::rules::{Finding, marked, marked_above, refused};

pub(super) fn errors(seen: &LoadSeen<'_>) -> Option<Finding> {
    let is_closed = seen.checked.is_some();
    let Shown { failed, asked, .. } = seen.shown;
    if is_closed && asked == 0 {
        return Some(refused("0 requests were answered".to_owned(), "let the run go on to its end", (0.0, 1.0)));
    }
    let share = failed as f64 / asked.max(1) as f64;
    let is_too_much = share > ERROR_SHARE_MAX;
    let found = if is_too_much { refused } else { marked };
    let reason = format!("{failed} of {asked} requests failed ({})", classes(seen.errors));
    let remedy = match (is_closed, is_too_much) {
        (true, true) => "find out why the subject fails; failures are cheaper than answers",
        (true, false) => "the failures are counted, their times are not among the answers'",
        (false, _) => {
            "find out why the subject fails; its failures are counted, their times are not among the answers'"
        }
    };
    (failed > 0).then(|| found(reason, remedy, (share, ERROR_SHARE_MAX)))
}

/// Failures that are the generator's own: the subject was never asked.
pub(crate) fn generator_errors(errors: &BTreeMap<String, u64>) -> Option<Finding> {
    let count = |class: &NetworkClass| errors.get(class.name()).copied().unwrap_or(0);
    let (ports, descriptors) = (count(&NetworkClass::PortsExhausted), count(&NetworkClass::DescriptorsExhausted));
    let reason =
        format!("the load generator had no port for {ports} requests and no file descriptor for {descriptors}");
    let remedy = "widen net.ipv4.ip_local_port_range, raise `ulimit -n`, or use fewer users";
    (ports + descriptors > 0).then(|| refused(reason, remedy, ((ports + descriptors) as f64, 0.0)))
}

/// Finds wrong answers and, in a closed load, answers that were not checked: the same ones are checked at equal rate.
pub(super) fn content(seen: &LoadSeen<'_>) -> Option<Finding> {
    if let Some((wrong, reason)) = wrong_answers(seen.errors, seen.error_examples) {
        let remedy = "compare the answer with the variant's `format`, `detail` and `key`";
        return Some(refused(reason, remedy, (wrong as f64, 0.0)));
    }
    let share = seen.checked? as f64 / seen.answered.max(1) as f64;
    let reason = match seen.checked? {
        0 => "no response body was checked".to_owned(),
        _ => format!("{:.0} % of the response bodies were not checked", (1.0 - share) * 100.0),
    };
    let remedy = scenario::how_contents_are_checked(seen.evidence.cell);
    (seen.answered > 0 && share < 1.0).then(|| marked(reason, remedy, (share, 1.0)))
}

pub(super) fn fresh_connections(seen: &LoadSeen<'_>) -> Option<Finding> {
    if seen.evidence.connecting.is_some_and(|connecting| connecting.requests_per_connection.is_some()) {
        // To open them is what is measured.
        return None;
    }
    let (fresh, answers) = (seen.beside.fresh_connections, seen.answered);
    let share = fresh as f64 / answers.max(1) as f64;
    let reason = format!("{fresh} connections were opened again for {answers} answers");
    let remedy = "raise the subject's keep-alive limits, or compare variants that connect alike";
    marked_above(reason, remedy, (share, FRESH_SHARE_MAX))
}

/// Counts the answers that were not what was asked for, and describes them; absent without any.
pub(crate) fn wrong_answers(
    errors: &BTreeMap<String, u64>,
    examples: &BTreeMap<String, String>,
) -> Option<(u64, String)> {
    let class = ErrorClass::Content.to_string();
    let wrong = errors.get(&class).copied().filter(|wrong| *wrong > 0)?;
    let example = examples.get(&class).map_or("", String::as_str);
    Some((wrong, format!("{wrong} answers were wrong: {example}")))
}

#[cfg(test)]
mod tests {
    use super::super::at_rate::tests::offered;
    use super::super::tests::{evidence, sound};
    use super::super::{Evidence, SeenBeside, judge};
    use super::*;
    use tollgate_facts::results::{Connecting, Encryption, EqualRate, Verdict};

    /// Findings for a load at equal rate in which `count` of 10,000 answers failed in this way.
    fn failed(class: &str, count: u64) -> Vec<(String, Verdict)> {
        let mut cell = sound();
        let errors = if count > 0 { BTreeMap::from([(class.to_owned(), count)]) } else { BTreeMap::new() };
        cell.equal_rate = Some(EqualRate { answered: 10_000 - count, errors, ..offered() });
        let found = judge(&evidence(&cell));
        for doubt in found.iter().filter(|doubt| doubt.verdict != Verdict::Ok) {
            assert!(doubt.reason.starts_with("at equal rate ") && !doubt.remedy.is_empty(), "{doubt:?}");
        }
        found.into_iter().map(|doubt| (doubt.rule, doubt.verdict)).collect()
    }

    #[test]
    fn wrong_answers_and_the_generators_own_failures_refuse_what_is_said_of_equal_rate() {
        let refused = |rule: &str| [("rate-errors".to_owned(), Verdict::Marked), (rule.to_owned(), Verdict::Refused)];
        assert_eq!(failed("content", 1), refused("rate-content"));
        assert_eq!(failed("ports-exhausted", 1), refused("rate-generator-errors"));
        assert_eq!(failed("descriptors-exhausted", 1), refused("rate-generator-errors"));
        assert_eq!(failed("status-503", 1), [("rate-errors".to_owned(), Verdict::Marked)]);
        assert_eq!(failed("content", 0), [("all".to_owned(), Verdict::Ok)]);
    }

    #[test]
    fn connections_opened_again_at_equal_rate_are_marked_above_one_in_a_hundred_answers() {
        let mut cell = sound();
        cell.equal_rate = Some(EqualRate { answered: 1000, ..offered() });
        let check = |fresh_connections: u64, requests_per_connection: Option<u32>, expected: &str| {
            let connecting = Some(Connecting { requests_per_connection, encryption: Encryption::Off });
            let rate_beside = SeenBeside { fresh_connections, ..evidence(&cell).rate_beside };
            let counted = Evidence { rate_beside, connecting, ..evidence(&cell) };
            assert_eq!(judge(&counted)[0].rule, expected, "{fresh_connections}");
        };
        check(10, None, "all");
        check(11, None, "rate-fresh-connections");
        // To open them is what is measured.
        check(1000, Some(1), "all");
    }
}
