//! Thresholds as tables: accepted texts, refused texts with their places, and outcomes of bounds against intervals.

use super::*;
use crate::across::{Named, across};
use crate::fixture;
use crate::quantity::QUANTITIES;
use crate::results::{Estimate, Outcome, PercentileIntervals, RunResult, TollVerdict, Validity, Verdict, Within};

fn bound(text: &str) -> (Asked, Option<String>, Option<u64>, &'static str, f64) {
    let threshold = Threshold::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    (
        threshold.asked,
        threshold.selection.variant,
        threshold.selection.level,
        threshold.comparison.sign,
        threshold.bound,
    )
}

#[test]
fn what_is_asked_is_understood_with_its_cells_and_its_unit() {
    let check = |text: &str, asked, variant: Option<&str>, level, comparison, expected: f64| {
        let (of, name, at, how, value) = bound(text);
        assert_eq!((of, name.as_deref(), at, how), (asked, variant, level, comparison), "{text}");
        assert!((value - expected).abs() < 1e-12 * expected.max(1.0), "{text}: {value}");
    };
    use Asked::{Ratio, Toll, TollRatio};
    let of = |name: &str| Asked::Of(*QUANTITIES.iter().find(|quantity| quantity.name == name).unwrap());
    check("p99 < 5 ms", of("p99"), None, None, "<", 5.0);
    check("p99<5ms", of("p99"), None, None, "<", 5.0);
    check("p99(odata-v4-json, 20) < 5 ms", of("p99"), Some("odata-v4-json"), Some(20), "<", 5.0);
    check(" time ( * , 20 ) <= 1.5 s ", of("time"), None, Some(20), "<=", 1500.0);
    check("cpu(20) < 30 µs", of("cpu"), None, Some(20), "<", 30.0);
    check("cpu(2tier) < 0.03 ms", of("cpu"), Some("2tier"), None, "<", 30.0);
    check("rps(https) > 1000", of("rps"), Some("https"), None, ">", 1000.0);
    check("errors == 0", of("errors"), None, None, "==", 0.0);
    check("errors(https)!=1", of("errors"), Some("https"), None, "!=", 1.0);
    check("error-share <= 0.1 %", of("error-share"), None, None, "<=", 0.1);
    check("memory < 64 MiB", of("memory"), None, None, "<", 67_108_864.0);
    check("bytes < 1.2 kB", of("bytes"), None, None, "<", 1200.0);
    check("p99-at-rate < 900 µs", of("p99-at-rate"), None, None, "<", 0.9);
    check("toll(https).cpu < 1.3", Toll(Figure::SubjectCpu), Some("https"), None, "<", 1.3);
    check("toll.time >= 0.9", Toll(Figure::UnitTime), None, None, ">=", 0.9);
    check("ratio(https, 20).time < 1.05", Ratio(Figure::UnitTime), Some("https"), Some(20), "<", 1.05);
    check("toll-ratio.cpu < 1.1", TollRatio(Figure::SubjectCpu), None, None, "<", 1.1);
}

#[test]
fn what_is_wrong_is_shown_in_its_place() {
    let check = |text: &str, at: Range<usize>, message: &str, help: &str| {
        let error = Threshold::parse(text).expect_err(text);
        assert_eq!((error.message.as_str(), error.at.clone()), (message, at), "{text}");
        assert!(error.help.as_deref().unwrap_or_default().contains(help), "{text}: {error}");
    };
    check("p98 < 5 ms", 0..3, "there is no figure `p98`", "did you mean `p90`?");
    check("", 0..0, "expected a figure, got the end", "rps");
    check("< 5 ms", 0..1, "expected a figure, got `<`", "rps");
    check("tol(https).cpu < 2", 0..3, "there is no figure `tol`", "did you mean `toll`?");
    check("p99 < 5", 7..7, "a unit is missing", "one of ns, us, µs, ms, s");
    check("p99 < 5 kB", 8..10, "`kB` is no unit of this figure", "one of ns, us");
    check("memory < 5 mb", 11..13, "`mb` is no unit of this figure", "MB");
    check("rps > 5 ms", 8..10, "expected no unit, got `ms`", "a number by itself");
    check("toll(a).cpu < 5 %", 16..17, "expected no unit, got `%`", "");
    check("p99 < five ms", 6..7, "expected a number, got `f`", "digits");
    check("p99 < 1.2.3 ms", 6..11, "`1.2.3` is no number", "digits");
    check("p99 < -1 ms", 6..7, "expected a number, got `-`", "digits");
    check("p99 = 5 ms", 4..5, "expected one of <, <=, >, >=, == and !=, got `=`", "did you mean `==`?");
    check("p99", 3..3, "expected one of <, <=, >, >=, == and !=, got the end", "p99 < 5 ms");
    check("p99 == 5 ms", 4..6, "only `errors` is equal to a number", "interval");
    check("p99(https < 5 ms", 10..11, "expected `)`, got `<`", "(https, 20)");
    check("p99(https", 3..4, "a parenthesis is not closed", "(https, 20)");
    check("p99() < 5 ms", 4..5, "expected a variant or a level, got `)`", "(https, 20)");
    check("p99(20, https) < 5 ms", 6..7, "expected `)`, got `,`", "");
    check("p99(https, tls) < 5 ms", 11..14, "expected a level, got `tls`", "stands first");
    check("toll(https) < 2", 12..13, "expected `.` and a figure, got `<`", "toll(variant).cpu");
    check("toll(https).p99 < 2", 12..15, "there is no toll of `p99`", "");
    check("errors == 0 && p99 < 5 ms", 12..14, "expected no unit, got `&&`", "");
    check("p99 < 5 ms p50 < 1 ms", 11..21, "expected the end, got `p50 < 1 ms`", "repeat the flag");
    check("p99(99999999999999999999) < 5 ms", 4..24, "`99999999999999999999` is no level", "");
    let long = "x".repeat(TEXT_BYTES_MAX + 1);
    assert!(Threshold::parse(&long).unwrap_err().message.contains("at most 200 bytes"));
    assert!(!Threshold::parse(&"x".repeat(TEXT_BYTES_MAX)).unwrap_err().message.contains("at most 200 bytes"));
}

#[test]
fn an_error_shows_the_text_with_the_place_underlined() {
    let error = Threshold::parse("µ p99 < 5").unwrap_err();
    assert_eq!(error.at, 0..2);
    insta::assert_snapshot!(Threshold::parse("p99(https, 20) < 5 kB").unwrap_err(), @r"
    `kB` is no unit of this figure
      p99(https, 20) < 5 kB
                         ^^
      help: one of ns, us, µs, ms, s
    ");
}

#[test]
fn names_are_held_against_what_is_there() {
    let held = |text: &str, runs: Runs| {
        Threshold::parse(text).unwrap().check(&[("http", false), ("https", true)], &[1, 20], runs)
    };
    let check = |text: &str, expected: &str| {
        let found = held(text, Runs::One);
        let message = found.map_or_else(|error| error.to_string(), |()| String::new());
        assert!(message.contains(expected) && message.is_empty() == expected.is_empty(), "{text}: {message}");
    };
    check("p99(https, 20) < 5 ms", "");
    check("p99(htps) < 5 ms", "did you mean `https`?");
    check("p99(https, 2) < 5 ms", "levels are 1, 20");
    check("toll(http).cpu < 2", "`http` has no toll");
    check("ratio(https).cpu < 2", "takes two runs");
    assert!(held("ratio(https).cpu < 2", Runs::Several).is_ok());
}

/// Two variants at one level whose figures are known.
fn run() -> RunResult {
    let mut run = fixture::protocol();
    run.experiment.levels = vec![20];
    run.experiment.variants.truncate(2);
    run.cells
        .retain(|cell| cell.level == 20 && run.experiment.variants.iter().any(|variant| variant.name == cell.variant));
    run.tolls.retain(|toll| toll.level == 20 && toll.variant == "odata-v2-atom");
    run.validity.clear();
    for cell in &mut run.cells {
        cell.unit_time_ms = Estimate { mean: 10.0, low: 9.0, high: 11.0, n: 16 };
        cell.response_time_ms.p99 = Some(4.0);
        cell.response_time_ms.p999 = None;
    }
    for toll in &mut run.tolls {
        (toll.ratio, toll.low, toll.high, toll.verdict) = (1.25, 1.2, 1.3, TollVerdict::Dearer);
    }
    run
}

fn outcome(text: &str, run: &RunResult) -> (Outcome, Option<f64>, String) {
    let found = judge(&[Threshold::parse(text).unwrap()], run).remove(0);
    let worst = found.findings.iter().max_by_key(|finding| finding.outcome).unwrap();
    (found.outcome, worst.decided, worst.reason.clone().unwrap_or_default())
}

#[test]
fn the_end_of_the_interval_that_is_nearer_to_the_bound_decides() {
    let run = run();
    let check = |text: &str, expected: Outcome, decided: Option<f64>| {
        let (found, by, _) = outcome(text, &run);
        assert_eq!((found, by), (expected, decided), "{text}");
    };
    check("time < 11.5 ms", Outcome::Holds, Some(11.0));
    check("time < 11 ms", Outcome::NotShown, Some(11.0));
    check("time <= 11 ms", Outcome::Holds, Some(11.0));
    check("time < 9 ms", Outcome::Fails, Some(9.0));
    check("time <= 9 ms", Outcome::NotShown, Some(11.0));
    check("time > 9 ms", Outcome::NotShown, Some(9.0));
    check("time >= 9 ms", Outcome::Holds, Some(9.0));
    check("time > 11 ms", Outcome::Fails, Some(11.0));
    check("p99 < 4.1 ms", Outcome::Holds, Some(4.0));
    check("p99 < 4 ms", Outcome::Fails, Some(4.0));
    check("toll.cpu < 1.31", Outcome::Holds, Some(1.3));
    check("toll(odata-v2-atom).cpu < 1.25", Outcome::NotShown, Some(1.3));
    check("toll.cpu < 1.1", Outcome::Fails, Some(1.2));
    check("errors == 0", Outcome::Holds, Some(0.0));
    check("errors != 0", Outcome::Fails, Some(0.0));
}

#[test]
fn a_percentile_holds_only_if_its_interval_does() {
    let mut run = run();
    let mut check = |p99: Option<Within>, clusters: u32, text: &str, expected: Outcome, reason: &str| {
        for cell in &mut run.cells {
            cell.response_interval_ms = Some(PercentileIntervals { p99, clusters, ..PercentileIntervals::default() });
        }
        let (found, _, why) = outcome(text, &run);
        assert_eq!(found, expected, "{text}");
        assert!(why.contains(reason), "{text}: {why}");
    };
    let closed = Some(Within { low: 3.8, high: Some(4.3) });
    check(closed, 16, "p99 < 4.4 ms", Outcome::Holds, "");
    check(closed, 16, "p99 < 4.1 ms", Outcome::NotShown, "inside the interval");
    check(closed, 16, "p99 < 3.7 ms", Outcome::Fails, "");
    let open = Some(Within { low: 3.8, high: None });
    check(open, 16, "p99 < 100 ms", Outcome::NotShown, "inside the interval");
    check(open, 16, "p99 < 3.7 ms", Outcome::Fails, "");
    check(open, 16, "p99 > 3.7 ms", Outcome::Holds, "");
    check(None, 4, "p99 < 100 ms", Outcome::NotShown, "there is no interval");
}

#[test]
fn what_may_not_be_read_never_holds() {
    let refused = |rule: &str| {
        let mut run = run();
        run.cells[0].errors = [("status-503".to_owned(), 7)].into();
        run.validity.push(Validity {
            variant: run.cells[0].variant.clone(),
            level: 20,
            rule: rule.into(),
            verdict: Verdict::Refused,
            reason: "7 of 100 requests failed".into(),
            remedy: String::new(),
            value: 0.07,
            bound: 0.001,
        });
        run
    };
    let check = |text: &str, run: &RunResult, expected: Outcome, reason: &str| {
        let (found, _, why) = outcome(text, run);
        assert_eq!(found, expected, "{text}");
        assert!(why.contains(reason), "{text}: {why}");
    };
    let run_refused = refused("errors");
    check("time < 100 ms", &run_refused, Outcome::NotShown, "refused: 7 of 100 requests failed");
    check("time < 1 ms", &run_refused, Outcome::Fails, "");
    check("errors < 100", &run_refused, Outcome::NotShown, "refused");
    check("errors == 0", &run_refused, Outcome::Fails, "");
    check("time < 100 ms", &refused("rate"), Outcome::Holds, "");
    check("p999 < 1 s", &run(), Outcome::NotShown, "fewer than 30 requests");
    check("records-per-second > 1", &run(), Outcome::NotShown, "nothing was inserted");
    let mut joint = run();
    joint.tolls.iter_mut().for_each(|toll| toll.verdict = TollVerdict::Joint);
    check("toll.time < 100", &joint, Outcome::NotShown, "joint");
    let mut partial = run();
    partial.cells.pop();
    check("time < 100 ms", &partial, Outcome::NotShown, "it was not measured");
    partial.tolls.clear();
    check("toll.cpu < 100", &partial, Outcome::NotShown, "it was not measured");
    check("toll-ratio.cpu < 100", &partial, Outcome::NotShown, "takes two runs");
    check("ratio.cpu < 100", &partial, Outcome::NotShown, "takes two runs");
}

#[test]
fn a_ratio_is_not_shown_where_one_of_the_runs_lacks_the_cell() {
    let whole = fixture::again(1, 1.0, 1.0);
    let mut without_cell = fixture::again(2, 1.0, 1.0);
    without_cell.cells.retain(|cell| cell.variant != "odata-v2-atom" || cell.level != 20);
    without_cell.tolls.retain(|toll| toll.variant != "odata-v2-atom" || toll.level != 20);
    let mut without_variant = fixture::again(3, 1.0, 1.0);
    without_variant.experiment.variants.retain(|variant| variant.name != "odata-v2-atom");
    without_variant.cells.retain(|cell| cell.variant != "odata-v2-atom");
    without_variant.tolls.retain(|toll| toll.variant != "odata-v2-atom");
    let check = |text: &str, runs: &[&RunResult], expected: &[(u32, Outcome, &str)]| {
        let named: Vec<Named<'_>> = runs.iter().map(|run| Named { name: "run", run }).collect();
        let found = judge_across(&[Threshold::parse(text).unwrap()], &across(&named).unwrap(), runs).remove(0);
        let findings: Vec<(u32, Outcome, &str)> = found
            .findings
            .iter()
            .map(|finding| (finding.run.unwrap(), finding.outcome, finding.reason.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(findings, expected, "{text}");
    };
    use Outcome::{Holds, NotShown};
    for ratio in ["toll-ratio(odata-v2-atom, 20).cpu < 100", "ratio(odata-v2-atom, 20).time < 100"] {
        check(ratio, &[&whole, &whole], &[(2, Holds, "")]);
        check(ratio, &[&whole, &without_cell], &[(2, NotShown, "run 2: it was not measured")]);
        check(ratio, &[&without_cell, &whole], &[(2, NotShown, "run 1: it was not measured")]);
        let third = [(2, Holds, ""), (3, NotShown, "run 3: it was not measured")];
        check(ratio, &[&whole, &whole, &without_cell], &third);
        check(ratio, &[&whole, &without_variant], &[(2, NotShown, "run 2 does not have it")]);
    }
    let unplanned = [(1, Holds, ""), (2, NotShown, "this run does not have it")];
    check("errors(odata-v2-atom, 20) == 0", &[&whole, &without_variant], &unplanned);
    check("toll(odata-v2-atom, 20).cpu < 100", &[&whole, &without_variant], &unplanned);
}

#[test]
fn nothing_to_hold_is_no_success() {
    let mut run = run();
    run.experiment.variants.clear();
    assert_eq!(outcome("time < 1 s", &run).0, Outcome::NotShown);
    assert_eq!(worst(&[]), Outcome::Holds);
}
