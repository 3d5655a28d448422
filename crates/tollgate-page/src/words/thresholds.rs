//! Thresholds as a table and as sentences: the expectation, the decisive figure, and the reason that it is not shown.
//!
//! It judges nothing: it shows stored findings.

use super::sentence;
use crate::blocks::{Block, Section, Table};
use crate::gather::by_key;
use crate::number::{self, NOTHING};
use tollgate_facts::results::{Experiment, Outcome, ThresholdFinding, ThresholdResult};

/// Maximum number of unmet findings of one threshold that are listed; the rest is counted.
const FINDINGS_MAX: usize = 6;

/// The outcome of all of them, in one sentence; absent where there are none.
fn answer(results: &[ThresholdResult]) -> Option<String> {
    let count = |wanted| results.iter().filter(|result| result.outcome == wanted).count();
    let (failed, not_shown) = (count(Outcome::Fails), count(Outcome::NotShown));
    let parts = [(failed, "failed"), (not_shown, "not shown, which does not pass")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    match (results.len(), parts.is_empty()) {
        (0, _) => None,
        (1, true) => Some("The threshold holds.".to_owned()),
        (all, true) => Some(format!("All {all} thresholds hold.")),
        (all, false) => Some(format!("Of {all} threshold{}: {}.", if all == 1 { "" } else { "s" }, parts.join(", "))),
    }
}

/// The section: a row for each unmet finding and for the met one nearest to the bound, and the reasons; absent without
/// thresholds.
pub fn section(experiment: &Experiment, results: &[ThresholdResult]) -> Option<Section> {
    let answer = answer(results)?;
    let rows = results.iter().flat_map(|result| rows(experiment, result));
    let table = Table::new("", ["threshold", "outcome", "decided by", "where", "figure"]).with(rows);
    let reading = "The end of the interval that is nearer to the bound decides. Not shown: the bound is inside the interval, or \
                   there is no figure that may be read";
    let mut blocks = vec![Block::Text(answer), Block::Table(table)];
    blocks.push(Block::List(reasons(experiment, results)));
    blocks.push(Block::Legend(vec![reading.to_owned()]));
    Some(Section::main("Thresholds", blocks))
}

/// The reasons for unmet findings, each reason once, and the purposes of the thresholds.
fn reasons(experiment: &Experiment, results: &[ThresholdResult]) -> Vec<String> {
    let mut texts = Vec::new();
    for result in results {
        if let Some(why) = &result.why {
            texts.push(format!("{}: {why}", result.expect));
        }
        let failing = result.findings.iter().filter(|finding| finding.outcome != Outcome::Holds);
        let known = by_key(failing.filter_map(|finding| Some((finding.reason.as_deref()?, finding))));
        texts.extend(known.iter().take(FINDINGS_MAX).map(|(reason, findings)| {
            let more = if findings.len() > 1 { format!(" (and {} more)", findings.len() - 1) } else { String::new() };
            format!("{}, {}{more}: {reason}", result.expect, place(experiment, findings[0]))
        }));
    }
    texts
}

/// The place of a finding.
pub fn place(experiment: &Experiment, finding: &ThresholdFinding) -> String {
    let run = finding.run.map(|run| format!("run {run}"));
    let cell = match (&finding.variant, finding.level) {
        (Some(variant), Some(level)) => Some(format!("{variant} at {}", sentence::level(experiment, level))),
        (variant, level) => variant.clone().or_else(|| Some(sentence::level(experiment, level?))),
    };
    let parts: Vec<String> = [cell, run].into_iter().flatten().collect();
    if parts.is_empty() { "nowhere".to_owned() } else { parts.join(", ") }
}

/// The figure with its interval.
pub fn figure(finding: &ThresholdFinding) -> String {
    let Some(value) = finding.value else { return NOTHING.to_owned() };
    let one = |value: f64| text(value, finding);
    match (finding.low, finding.high) {
        (Some(low), Some(high)) => {
            // The unit stands once, before the interval.
            let bare = |value: f64| one(value).trim_end_matches(finding.unit.as_str()).trim_end().to_owned();
            format!("{} [{}, {}]", one(value), bare(low), bare(high))
        }
        _ => one(value),
    }
}

fn rows(experiment: &Experiment, result: &ThresholdResult) -> Vec<Vec<String>> {
    let failing = result.findings.iter().filter(|finding| finding.outcome != Outcome::Holds);
    let mut shown: Vec<&ThresholdFinding> = failing.collect();
    let all = if shown.is_empty() { result.findings.len() } else { shown.len() };
    shown.sort_by_key(|finding| std::cmp::Reverse(finding.outcome));
    shown.truncate(FINDINGS_MAX);
    if shown.is_empty() {
        shown.extend(nearest(&result.findings));
    }
    let row = |(number, finding): (usize, &&ThresholdFinding)| {
        let decided = number::or_nothing(finding.decided.map(|decided| text(decided, finding)));
        let (outcome, place) = (finding.outcome.to_string(), place(experiment, finding));
        let more =
            if number == shown.len() && all > number { format!(", and {} more", all - number) } else { String::new() };
        vec![result.expect.clone(), outcome, decided, format!("{place}{more}"), figure(finding)]
    };
    (1..).zip(&shown).map(row).collect()
}

/// The finding whose deciding end is nearest to the bound, by its share of it.
fn nearest(findings: &[ThresholdFinding]) -> Option<&ThresholdFinding> {
    let distance =
        |finding: &ThresholdFinding| finding.decided.map_or(f64::INFINITY, |decided| (decided - finding.bound).abs());
    findings.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))
}

fn text(value: f64, finding: &ThresholdFinding) -> String {
    let rounded = |value: f64| match finding.unit.as_str() {
        "bytes" => number::bytes(value),
        _ => number::three_digits(value),
    };
    // What is not the bound must not look like it.
    let is_bound = value.total_cmp(&finding.bound).is_eq();
    let number = match !is_bound && rounded(value) == rounded(finding.bound) {
        true => format!("{value}"),
        false => rounded(value),
    };
    match finding.unit.as_str() {
        "" => number,
        "bytes" if number.ends_with('B') => number,
        unit => format!("{number} {unit}"),
    }
}
