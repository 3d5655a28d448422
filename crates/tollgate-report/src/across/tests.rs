//! Runs side by side in every form.

use crate::{ACROSS_REPORTERS, Colour, RenderOptions, render_across};
use tollgate_facts::across::{Across, Named, across};
use tollgate_facts::fixture::{self, again};
use tollgate_facts::results::{
    Figure, Looks, Outcome, Piece, RunResult, State, ThresholdFinding, Toll, Validity, Verdict,
};
use tollgate_facts::threshold::{self, Threshold};
use tollgate_facts::toll;

/// Two runs of two levels, the second one on a slower machine, partial and with a refused cell.
fn two(thresholds: &[&str]) -> Across {
    let (mut one, mut two) = (again(1, 1.0, 1.0), again(2, 1.5, 1.3));
    for run in [&mut one, &mut two] {
        run.experiment.variants.truncate(3);
        run.experiment.levels = vec![5, 20];
        let names: Vec<String> = run.experiment.variants.iter().map(|variant| variant.name.clone()).collect();
        run.cells.retain(|cell| names.contains(&cell.variant) && (cell.level == 5 || cell.level == 20));
        run.tolls.retain(|toll| names.contains(&toll.variant) && (toll.level == 5 || toll.level == 20));
    }
    two.machine.cpu = "Some <other> | machine".into();
    two.settings.extent = "quick".into();
    two.state = State::Partial;
    two.reason = Some("it was interrupted".into());
    two.cells.retain(|cell| cell.variant != "odata-v2-json" || cell.level == 5);
    two.validity.push(Validity {
        variant: "odata-v2-atom".into(),
        level: 20,
        rule: "errors".into(),
        verdict: Verdict::Refused,
        reason: "7 of 100 requests failed (status-503)".into(),
        remedy: "find out why".into(),
        value: 0.07,
        bound: 0.001,
    });
    two.tolls = toll::compute(&two);
    side_by_side(&[("runs/native", &one), ("runs/vm", &two)], thresholds)
}

fn side_by_side(runs: &[(&str, &RunResult)], thresholds: &[&str]) -> Across {
    let named: Vec<Named<'_>> = runs.iter().map(|(name, run)| Named { name, run }).collect();
    let mut found = across(&named).unwrap();
    let thresholds: Vec<Threshold> = thresholds.iter().map(|text| Threshold::parse(text).unwrap()).collect();
    let results: Vec<&RunResult> = runs.iter().map(|(_, run)| *run).collect();
    found.thresholds = threshold::judge_across(&thresholds, &found, &results);
    found
}

fn text(name: &str, across: &Across) -> String {
    render_across(name, across, &RenderOptions::default())
}

const THRESHOLDS: [&str; 4] =
    ["toll(odata-v2-atom, 5).cpu < 2.1", "toll-ratio(odata-v2-atom).cpu < 1.1", "errors == 0", "time(*, 5) < 1 s"];

#[test]
fn the_terminal_shows_runs_differences_tolls_figures_doubts_and_thresholds() {
    insta::assert_snapshot!("terminal", text("terminal", &two(&THRESHOLDS)));
}

#[test]
fn markdown_says_the_same_with_nothing_that_breaks_a_table() {
    insta::assert_snapshot!("markdown", text("markdown", &two(&THRESHOLDS)));
}

#[test]
fn junit_has_a_case_for_each_run_and_each_threshold() {
    insta::assert_snapshot!("junit", text("junit", &two(&THRESHOLDS)));
}

#[test]
fn the_tolls_of_three_runs_stand_in_one_table() {
    let runs = [again(1, 1.0, 1.0), again(2, 1.5, 1.3), again(3, 1.2, 1.1)];
    let found = side_by_side(&[("native", &runs[0]), ("nic", &runs[1]), ("vswitch", &runs[2])], &[]);
    let page = text("markdown", &found);
    let table = page.split("Toll on time of a pass: each run by itself").nth(1).expect("there is the table");
    let lines: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).take(3).collect();
    assert!(lines[0].starts_with("| variant | level | native | nic | vswitch |"), "{lines:?}");
    assert_eq!(lines[2].matches('×').count(), 3, "{lines:?}");
    assert!(!text("markdown", &two(&[])).contains("each run by itself"), "of two runs it stands beside the ratio");
}

#[test]
fn json_is_read_back_as_it_was() {
    let found = two(&THRESHOLDS);
    let read: Across = serde_json::from_str(&text("json", &found)).unwrap();
    assert!(read.experiment == found.experiment && read.thresholds.len() == 4 && read.cells.len() == found.cells.len());
}

#[test]
fn the_page_is_one_well_formed_file_of_any_runs_and_not_too_large() {
    let levels = [5, 10, 20, 50, 100, 200, 500, 1000];
    let runs = [
        vec![again(1, 1.0, 1.0), again(2, 1.2, 1.0), again(3, 1.1, 1.2), again(4, 1.1, 1.0)],
        vec![fixture::encryption(), fixture::encryption()],
        vec![fixture::mediation(), fixture::mediation()],
        vec![fixture::batching(&levels), fixture::batching(&levels)],
        vec![fixture::extreme(), fixture::partial()],
        vec![fixture::empty(), fixture::empty()],
    ];
    for runs in &runs {
        let named: Vec<(&str, &RunResult)> = runs.iter().map(|run| ("runs/<a & b>", run)).collect();
        let found = side_by_side(&named, &["errors == 0", "toll.cpu < 2"]);
        for reporter in ACROSS_REPORTERS {
            let page = text(reporter.name, &found);
            assert!(!page.contains("NaN"), "{} of {}", reporter.name, found.experiment.name);
        }
        let page = text("html", &found);
        assert!(page.len() < 500_000, "{} bytes of {}", page.len(), found.experiment.name);
        let mut reader = quick_xml::Reader::from_str(&page);
        while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
        assert!(!page.contains("http://") || found.experiment.name == "protocol", "nothing is fetched");
        assert_eq!(page.matches("<script").count(), 1, "its own");
        let junit = text("junit", &found);
        let mut reader = quick_xml::Reader::from_str(&junit);
        while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
    }
}

#[test]
fn the_page_of_runs_as_large_as_a_default_stays_below_its_bound() {
    let runs: Vec<RunResult> = (1..=8).map(fixture::batching_whole).collect();
    for count in [2, 8] {
        let named: Vec<(&str, &RunResult)> = runs[..count].iter().map(|run| ("runs/batching-of-a-day", run)).collect();
        let page = text("html", &side_by_side(&named, &["toll-ratio.cpu < 2"]));
        assert!(page.len() < 500_000, "{} bytes of {count} runs", page.len());
        assert!(page.contains("These rows differ most") && page.contains("variants the first"), "what is cut is told");
    }
}

#[test]
fn a_picture_that_cannot_have_all_rows_has_those_that_differ_most() {
    let (one, mut two) = (fixture::batching_whole(1), fixture::batching_whole(2));
    let last = *two.experiment.levels.last().unwrap();
    let is_slow = |variant: &str, level: u64| variant == "changeset-100-remote" && level == last;
    for trial in two.trials.iter_mut().filter(|trial| is_slow(&trial.variant, trial.level)) {
        trial.subject_cpu_us = trial.subject_cpu_us.map(|us| us * 3.0);
    }
    let page = text("html", &side_by_side(&[("one", &one), ("two", &two)], &[]));
    let picture = page.split("<figcaption>").find(|part| part.contains("<svg") && part.contains("CPU time per record"));
    assert!(picture.unwrap().contains("changeset-100-remote at 20000 records"), "{}", picture.unwrap());
}

#[test]
fn the_answer_of_runs_offered_different_rates_is_of_another_figure_and_says_why_in_every_form() {
    let (one, mut two) = (fixture::encryption(), fixture::encryption());
    let headline = |found: &Across| super::tables::answer(found);
    assert!(
        headline(&side_by_side(&[("one", &one), ("two", &two)], &[])).contains("median response time at equal rate")
    );
    two.cells.iter_mut().filter_map(|cell| cell.equal_rate.as_mut()).for_each(|rate| rate.rate_per_second = 3000.0);
    let found = side_by_side(&[("one", &one), ("two", &two)], &["ratio.p50-at-rate < 2", "toll-ratio.p95-at-rate < 2"]);
    assert!(headline(&found).contains("toll on time of a request"), "{}", headline(&found));
    let reason = "run 1 was offered 1500/s, run 2 3000/s";
    for name in ["terminal", "markdown", "html"] {
        let text = text(name, &found).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("no ratio at equal rate: {reason}")), "{name}: {text}");
        assert!(text.contains("offered at equal rate"), "{name}: what differs");
    }
    assert!(text("html", &found).contains("were not offered the same rate: read each by itself"));
    for threshold in &found.thresholds {
        assert_eq!(threshold.outcome, Outcome::NotShown, "{}", threshold.expect);
        let is_why = |finding: &ThresholdFinding| finding.reason.as_deref() == Some(&format!("refused: {reason}"));
        assert!(threshold.findings.iter().any(is_why), "{threshold:?}");
    }
}

#[test]
fn a_mark_of_a_toll_and_of_a_response_time_is_shown_and_told_once() {
    let (one, mut two) = (again(1, 1.0, 1.0), again(2, 1.0, 1.0));
    let (variant, level) = ("rest-json".to_owned(), 5);
    let (reason, remedy) = ("the hypervisor took 4 %".to_owned(), "wait".to_owned());
    let (rule, verdict) = ("steal".to_owned(), Verdict::Marked);
    two.validity.push(Validity { variant, level, rule, verdict, reason, remedy, value: 0.04, bound: 0.01 });
    let is_meant = |toll: &&mut Toll| {
        (toll.variant.as_str(), toll.level, toll.figure) == ("odata-v2-json", 20, Figure::SubjectCpu)
    };
    two.tolls.iter_mut().find(is_meant).unwrap().note = Some("they disagree".into());
    let found = side_by_side(&[("one", &one), ("two", &two)], &[]);
    for name in ["terminal", "markdown"] {
        let text = text(name, &found).replace('\\', "");
        let has = |parts: &[&str]| text.lines().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(has(&["odata-v2-atom", "5 users", "] *"]), "{text}");
        assert!(!has(&["odata-v2-atom", "20 users", " *"]), "{text}");
        assert_eq!(text.matches("steal: the hypervisor took 4 %").count(), 1, "{text}");
        assert!(text.contains("ranks: CPU time over rest-json: they disagree"), "{text}");
    }
    assert!(text("terminal", &found).contains("* marked: see the doubts"));
    let times = super::tables::times(&found).unwrap();
    let row = times.rows.iter().map(|row| row.texts()).find(|row| row[..2] == ["rest-json", "5 users"]).unwrap();
    assert!(row[2..].iter().all(|texts| texts.ends_with(" *") && texts.matches('*').count() == 1), "{row:?}");
}

#[test]
fn a_reader_is_told_the_band_and_the_confidence_by_which_runs_are_judged() {
    let (one, mut two) = (again(1, 1.0, 1.0), again(2, 1.0, 1.0));
    let told = |one: &RunResult, two: &RunResult| {
        let found = side_by_side(&[("one", one), ("two", two)], &[]);
        ["terminal", "markdown", "html"].map(|name| text(name, &found).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for text in told(&one, &two) {
        assert!(text.contains("no difference: all of the interval inside ± 3 %"), "{text}");
        assert!(!text.contains("looked several times"), "{text}");
    }
    two.settings.equivalence_share = 0.015;
    two.settings.looks = Some(Looks { width: 0.02, done: 2, is_reached: true, alpha: 0.015 });
    for text in told(&one, &two) {
        assert!(text.contains("inside ± 1.5 %; where a run looked several times, its tolls"), "{text}");
        assert!(text.contains("98.5 %"), "{text}");
    }
}

#[test]
fn batches_are_counted_in_documents_and_all_else_in_requests() {
    for (piece, expected, other) in [
        (Piece::Document, "Documents per second and times", "equests/s"),
        (Piece::Request, "Requests per second", "ocuments"),
    ] {
        let mut runs = [again(1, 1.0, 1.0), again(2, 1.0, 1.0)];
        runs.iter_mut().for_each(|run| run.experiment.piece = piece);
        let page = text("markdown", &side_by_side(&[("one", &runs[0]), ("two", &runs[1])], &[]));
        assert!(page.contains(expected) && !page.contains(other), "{page}");
    }
}

#[test]
fn a_narrow_terminal_and_colours_change_no_word_of_the_answer() {
    let found = two(&[]);
    let narrow = render_across("table", &found, &RenderOptions { colour: Colour::Ansi, width: 60 });
    assert!(narrow.contains("Run 2 is partial: it was interrupted") && narrow.contains("\x1b[1m"), "{narrow}");
    assert!(!text("terminal", &found).contains("hreshold"), "none was asked for");
}
