//! The default text of `tollgate load`: the answer first, in at most 15 lines.
//!
//! It shows the decisive figures: throughput, percentiles with their intervals, failures in the server's own words, and
//! the doubts that change the meaning of a figure. ApacheBench's text (`--ab`, see [`super::text`]) and all figures
//! (`--json`) are not here.

use std::io::{self, Write};

use tollgate_facts::results::load::{Handshaken, Mark, Offered, QuickResult};
use tollgate_facts::results::{Arrivals, Outcome, ThresholdResult, Verdict};

use super::text;
use crate::readable::{three_digits, whole};

/// Maximum number of lines for a load without stages and thresholds.
const LINES_MAX: usize = 15;
/// Number of classes of failures that are shown, the most frequent first.
const CLASSES_MAX: usize = 2;
/// Percentiles that are shown with enough requests, and whether a missing one is shown.
const PERCENTILES: [(f64, &str, bool); 4] =
    [(50.0, "p50", true), (95.0, "p95", true), (99.0, "p99", true), (99.9, "p99.9", false)];
/// Rules that the text words itself: a missing percentile, and the hint at `--expect-body`.
const SAID_OTHERWISE: [&str; 2] = ["samples", "content"];

/// Rules about the machine, which do not affect the figures of a few requests.
const OF_MACHINE: [&str; 5] = ["client-saturation", "run-queue", "stalls", "joint", "steal"];
/// Minimum number of requests for a valid throughput.
const REQUESTS_MIN: u64 = 30;

/// Writes the result.
pub(super) fn write(result: &QuickResult, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = vec![headline(result), asked(result)];
    if result.requests > 0 {
        lines.push(String::new());
        lines.extend(times(result));
        lines.push(transfer(result));
    }
    if !result.parts.is_empty() {
        let parts: Vec<String> =
            result.parts.iter().map(|(status, count)| format!("{} answered {status}", whole(*count))).collect();
        lines.push(row("batched", &parts.join(", ")));
    }
    lines.extend(failures(result));
    let doubts = doubts(result, LINES_MAX.saturating_sub(lines.len() + 1));
    if !doubts.is_empty() {
        lines.push(String::new());
        lines.extend(doubts);
    }
    lines.extend(result.thresholds.iter().map(threshold));
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let tables = [tollgate_report::load_stages(result), tollgate_report::load_steps(result)];
    tables.into_iter().flatten().try_for_each(|(head, rows)| {
        writeln!(out)?;
        text::table(&head, &rows, out)
    })
}

/// Throughput, failures and the URL in one sentence.
fn headline(result: &QuickResult) -> String {
    let failed: u64 = result.errors.values().sum();
    let (valid, all) = (result.requests, result.requests + failed);
    let (url, seconds) = (&result.url, three_digits(result.duration_ms / 1e3));
    let partial = if result.interrupted { "Interrupted, partial figures: " } else { "" };
    if valid == 0 {
        return match all {
            0 => format!("{partial}no answer from {url}"),
            _ => format!("{partial}no valid answer from {url}: {} failed", of_all(failed, "request", all)),
        };
    }
    let rate = three_digits(result.requests_per_second);
    let failed = match failed {
        0 => "none failed".to_owned(),
        _ => format!("{} failed", whole(failed)),
    };
    let answers = if valid == 1 { "answer" } else { "answers" };
    format!("{partial}{rate} requests/s: {} {answers} in {seconds} s from {url}, {failed}", whole(valid))
}

/// The form of the load.
fn asked(result: &QuickResult) -> String {
    let who = match &result.offered {
        Some(Offered { rate_per_second, arrivals, seed, intended, unsent, .. }) => {
            let what = if result.played.is_some() { "iterations" } else { "requests" };
            let up_to = if result.staged.is_some() { "up to " } else { "" };
            let seed = if *arrivals == Arrivals::Poisson { format!(", seed {seed}") } else { String::new() };
            let unsent = match unsent {
                0 => String::new(),
                unsent => format!(", {} not sent", of_all(*unsent, &what[..what.len() - 1], *intended)),
            };
            format!("{up_to}{} {what}/s offered ({arrivals}{seed}){unsent}", three_digits(*rate_per_second))
        }
        None => match result.concurrency {
            1 => "1 user".to_owned(),
            users if result.staged.is_some() => format!("up to {} users", whole(users as u64)),
            users => format!("{} users", whole(users as u64)),
        },
    };
    let connections = match result.connections {
        1 => "1 connection".to_owned(),
        count => format!("{} connections", whole(count)),
    };
    let tls = match (&result.subject.tls, result.handshakes) {
        (Some(tls), Some(Handshaken { full, resumed, .. })) => {
            let protocol = tls.split(',').next().unwrap_or_default();
            let plural = if full == 1 { "" } else { "s" };
            format!(", {protocol} ({} full handshake{plural}, {} resumed)", whole(full), whole(resumed))
        }
        _ => String::new(),
    };
    let seed = result.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    format!("{who}, {connections} ({}){tls}{seed}", result.connection)
}

/// Percentiles with their intervals, and the slowest answer.
fn times(result: &QuickResult) -> Vec<String> {
    let mut lines = Vec::new();
    let why = if result.is_unsteady() { "the load was not steady" } else { "too few requests" };
    for (percent, name, always) in PERCENTILES {
        let time = result.served_within_ms.iter().find(|(known, _)| known.total_cmp(&percent).is_eq());
        let Some(time_ms) = time.and_then(|(_, time)| *time) else {
            if always {
                lines.push(row(name, &format!("- ({why})")));
            }
            continue;
        };
        let within = result.served_within_interval_ms.iter().find(|(known, _)| known.total_cmp(&percent).is_eq());
        let within = within.map_or_else(String::new, |(_, within)| match within.high {
            Some(high) => format!("   95 % interval {} to {} ms", three_digits(within.low), three_digits(high)),
            None => format!("   95 % interval from {} ms", three_digits(within.low)),
        });
        lines.push(row(name, format!("{} ms{within}", three_digits(time_ms)).trim_end()));
    }
    if !result.is_unsteady() {
        lines.push(row("max", &format!("{} ms", three_digits(result.response_time_ms.max))));
    }
    lines
}

fn transfer(result: &QuickResult) -> String {
    let seconds = (result.duration_ms / 1e3).max(f64::MIN_POSITIVE);
    let [received, sent] = [result.bytes_received, result.bytes_sent].map(|bytes| self::bytes(bytes as f64 / seconds));
    row("bytes", &format!("{received}/s received, {sent}/s sent"))
}

/// Failures by class, each with the text of the first failed response.
fn failures(result: &QuickResult) -> Vec<String> {
    let mut classes: Vec<(&String, u64)> = result.errors.iter().map(|(class, count)| (class, *count)).collect();
    classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut lines: Vec<String> = Vec::new();
    for (class, count) in classes.iter().take(CLASSES_MAX) {
        let words = result.error_examples.get(*class).map(|words| format!(", first: {words}")).unwrap_or_default();
        lines.push(row("failed", &format!("{} as {class}{words}", whole(*count))));
    }
    if classes.len() > CLASSES_MAX {
        let rest: u64 = classes[CLASSES_MAX..].iter().map(|(_, count)| count).sum();
        let names: Vec<&str> = classes[CLASSES_MAX..].iter().map(|(class, _)| class.as_str()).collect();
        lines.push(row("failed", &format!("{} as {}", whole(rest), names.join(", "))));
    }
    lines
}

/// Doubts that refuse the figures or change their meaning, in at most `lines_max` lines. Where nothing was answered,
/// the failures say all.
fn doubts(result: &QuickResult, lines_max: usize) -> Vec<String> {
    if result.requests == 0 {
        return Vec::new();
    }
    let has_percentiles = result.served_within_ms.iter().any(|(_, time)| time.is_some());
    let is_shown = |mark: &&Mark| match mark.verdict {
        Verdict::Refused => true,
        _ if SAID_OTHERWISE.contains(&mark.rule) => false,
        _ if OF_MACHINE.contains(&mark.rule) => result.requests >= REQUESTS_MIN,
        _ => has_percentiles || mark.rule != "own-delay",
    };
    let mut lines: Vec<String> = result.validity.iter().filter(is_shown).map(doubt).collect();
    if result.validity.iter().any(|mark| mark.rule == "content" && mark.verdict == Verdict::Marked) {
        lines.push(row(
            "hint",
            match result.played {
                None => "Response bodies were not checked; use --expect-body TEXT.",
                Some(_) => "Not all response bodies were checked; use `assert` at each step.",
            },
        ));
    }
    let lines_max = lines_max.max(2);
    if lines.len() > lines_max {
        let more = lines.len() - (lines_max - 1);
        lines.truncate(lines_max - 1);
        lines.push(row("marked", &format!("{more} more findings; --ab and --json list them")));
    }
    lines
}

fn doubt(mark: &Mark) -> String {
    let label = if mark.verdict == Verdict::Refused { "refused" } else { "marked" };
    row(label, &format!("{}; {}", mark.reason, mark.remedy))
}

/// A threshold and the figure that decided it.
fn threshold(result: &ThresholdResult) -> String {
    let finding = result.findings.first();
    let unit = finding.map_or("", |finding| finding.unit.as_str());
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let number = |value: f64| {
        let is_count = unit.is_empty() && value.fract().abs() < f64::EPSILON;
        if is_count { whole(value as u64) } else { three_digits(value) }
    };
    let value = finding.and_then(|finding| finding.value).map(|value| format!(": {}{unit}", number(value)));
    let within = finding.and_then(|finding| Some((finding.low?, finding.high?)));
    let within = within.map(|(low, high)| format!(" [{}, {}]", three_digits(low), three_digits(high)));
    let reason = finding.and_then(|finding| finding.reason.as_ref()).map(|reason| format!(", {reason}"));
    let told = [value, within, reason].into_iter().flatten().collect::<String>();
    let label = if result.outcome == Outcome::Holds { "passed" } else { "FAILED" };
    row(label, &format!("{}{told}", result.expect))
}

fn row(label: &str, text: &str) -> String {
    format!("{label:<9}{text}")
}

/// `3 of 20 requests`.
fn of_all(some: u64, what: &str, all: u64) -> String {
    let plural = if all == 1 { "" } else { "s" };
    format!("{} of {} {what}{plural}", whole(some), whole(all))
}

/// Bytes in the unit that fits.
fn bytes(value: f64) -> String {
    let (unit, size) = match value {
        value if value >= 1e9 => ("GB", 1e9),
        value if value >= 1e6 => ("MB", 1e6),
        value if value >= 1e3 => ("kB", 1e3),
        _ => ("B", 1.0),
    };
    format!("{} {unit}", three_digits(value / size))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use tollgate_facts::results::{Percentiles, Within};

    fn result() -> QuickResult {
        QuickResult {
            url: "http://127.0.0.1:8080/a".to_owned(),
            connection: "keep-alive".to_owned(),
            concurrency: 20,
            requests: 9_997,
            connections: 20,
            duration_ms: 500.0,
            requests_per_second: 19_994.0,
            response_time_ms: Percentiles { max: 4.5, ..Percentiles::default() },
            served_within_ms: vec![(50.0, Some(0.95)), (95.0, Some(2.0)), (99.0, None), (99.9, None)],
            served_within_interval_ms: vec![
                (50.0, Within { low: 0.94, high: Some(0.961) }),
                (95.0, Within { low: 1.9, high: None }),
            ],
            bytes_received: 10_240_000,
            bytes_sent: 1_024_000,
            checked: 9_997,
            ..QuickResult::default()
        }
    }

    fn shown(result: &QuickResult) -> String {
        let mut out = Vec::new();
        write(result, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn mark(rule: &'static str, verdict: Verdict) -> Mark {
        Mark { rule, verdict, reason: format!("{rule} found 7"), remedy: "mend it so", value: 7.0, bound: 0.0 }
    }

    #[test]
    fn the_answer_comes_first_and_failures_are_told_in_the_servers_words() {
        let errors: BTreeMap<String, u64> = [("status-503".to_owned(), 2), ("length".to_owned(), 1)].into();
        let error_examples = [("status-503".to_owned(), "503 Service Unavailable: busy".to_owned())].into();
        let validity = vec![mark("steal", Verdict::Marked), mark("content", Verdict::Marked)];
        insta::assert_snapshot!(shown(&QuickResult { errors, error_examples, validity, ..result() }), @r"
        19,994 requests/s: 9,997 answers in 0.500 s from http://127.0.0.1:8080/a, 3 failed
        20 users, 20 connections (keep-alive)

        p50      0.950 ms   95 % interval 0.940 to 0.961 ms
        p95      2.00 ms   95 % interval from 1.90 ms
        p99      - (too few requests)
        max      4.50 ms
        bytes    20.5 MB/s received, 2.05 MB/s sent
        failed   2 as status-503, first: 503 Service Unavailable: busy
        failed   1 as length

        marked   steal found 7; mend it so
        hint     Response bodies were not checked; use --expect-body TEXT.
        ");
    }

    #[test]
    fn the_text_has_at_most_fifteen_lines_whatever_was_found() {
        let errors: BTreeMap<String, u64> = (0..9).map(|number| (format!("status-50{number}"), 1)).collect();
        let validity: Vec<Mark> = tollgate_facts::rules::names().map(|rule| mark(rule, Verdict::Marked)).collect();
        let served_within_ms = PERCENTILES.iter().map(|(percent, ..)| (*percent, Some(1.0))).collect();
        let text = shown(&QuickResult { errors, validity, served_within_ms, ..result() });
        assert!(text.lines().count() <= LINES_MAX && text.contains("more findings"), "{text}");
    }

    #[test]
    fn where_nothing_was_answered_the_failure_is_told_once() {
        let errors = [("connect-refused".to_owned(), 1)].into();
        let error_examples = [("connect-refused".to_owned(), "no connection to 127.0.0.1:1".to_owned())].into();
        let validity = vec![mark("answers", Verdict::Refused), mark("samples", Verdict::Marked)];
        let none = QuickResult { requests: 0, connections: 0, errors, error_examples, validity, ..result() };
        insta::assert_snapshot!(shown(&none), @r"
        no valid answer from http://127.0.0.1:8080/a: 1 of 1 request failed
        20 users, 0 connections (keep-alive)
        failed   1 as connect-refused, first: no connection to 127.0.0.1:1
        ");
    }
}
