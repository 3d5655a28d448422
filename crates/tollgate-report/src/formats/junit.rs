//! JUnit's XML, so that a build server shows a run beside its tests: one case for each cell, failed if it was refused,
//! and one for each threshold, failed if it is not met.
//!
//! A toll, however large, never fails a case: the user sets thresholds, not a report.

use std::fmt::Write;
use tollgate_facts::across::Across;
use tollgate_facts::results::{Experiment, Outcome, RunResult, ThresholdFinding, ThresholdResult, Verdict};
use tollgate_page::chart::escape;
use tollgate_page::words::view::{Row, View};
use tollgate_page::words::{sentence, thresholds};

/// One case, in plain text.
#[derive(Default)]
struct Case {
    /// Suffix of the class name, after the experiment's name.
    class: &'static str,
    name: String,
    /// Time in seconds; absent where there is none.
    time: Option<String>,
    error: Option<String>,
    /// Type, message and text of each.
    failures: Vec<[String; 3]>,
    notes: Vec<String>,
}

/// The cells of a run as cases.
pub(crate) fn run(run: &RunResult) -> String {
    let view = View::of(run);
    let name = "everything planned was measured".to_owned();
    let whole = Case { name, error: sentence::incompleteness(run), ..Case::default() };
    let cells = view.rows.iter().map(|row| of_cell(&view, row));
    let thresholds = run.thresholds.iter().map(|result| of_threshold(&run.experiment, result));
    suite(&run.experiment, &run.started, std::iter::once(whole).chain(cells).chain(thresholds))
}

/// One case for each run, an error if it is incomplete, and one for each threshold.
pub(crate) fn across(across: &Across) -> String {
    let started = across.runs.first().map_or("", |run| run.started.as_str());
    let runs = across.runs.iter().map(|run| Case {
        name: format!("run {} is whole: {}", run.number, run.name),
        time: Some("0".to_owned()),
        error: sentence::incompleteness_of(run),
        ..Case::default()
    });
    let thresholds = across.thresholds.iter().map(|result| of_threshold(&across.experiment, result));
    suite(&across.experiment, started, runs.chain(thresholds))
}

fn suite(experiment: &Experiment, started: &str, cases: impl Iterator<Item = Case>) -> String {
    let (suite, started) = (escape(&experiment.name), escape(started));
    let (mut tests, mut failed, mut errors, mut text) = (0, 0, 0, String::new());
    for Case { class, name, time, error, failures, notes } in cases {
        tests += 1;
        failed += usize::from(!failures.is_empty());
        errors += usize::from(error.is_some());
        let time = time.map(|time| format!(" time=\"{time}\"")).unwrap_or_default();
        let _ = write!(text, "<testcase classname=\"{suite}{class}\" name=\"{}\"{time}>", escape(&name));
        if let Some(why) = error {
            let _ = write!(text, "<error message=\"{}\"/>", escape(&why));
        }
        for failure in failures {
            let [kind, message, of] = failure.map(|text| escape(&text));
            let _ = write!(text, "<failure type=\"{kind}\" message=\"{message}\">{of}</failure>");
        }
        if !notes.is_empty() {
            let _ = write!(text, "<system-out>{}</system-out>", escape(&notes.join("; ")));
        }
        text.push_str("</testcase>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"{suite}\" tests=\"{tests}\" \
         failures=\"{failed}\" errors=\"{errors}\" timestamp=\"{started}\">\n{text}</testsuite></testsuites>\n"
    )
}

/// A threshold, with every finding that does not meet it.
fn of_threshold(experiment: &Experiment, result: &ThresholdResult) -> Case {
    let found = |finding: &ThresholdFinding| {
        let reason = finding.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let (place, figure) = (thresholds::place(experiment, finding), thresholds::figure(finding));
        format!("{place}: {figure} {}{reason}", finding.outcome)
    };
    let (bad, good): (Vec<_>, Vec<_>) = result.findings.iter().partition(|finding| finding.outcome != Outcome::Holds);
    let [bad, notes] = [bad, good].map(|all| all.into_iter().map(found).collect::<Vec<_>>());
    let kind = format!("threshold {}", result.outcome);
    let failures = bad.first().map(|first| [kind, first.clone(), bad.join("; ")]).into_iter().collect();
    let (name, time) = (result.expect.clone(), Some("0".to_owned()));
    Case { class: ".thresholds", name, time, failures, notes, error: None }
}

fn of_cell(view: &View<'_>, row: &Row<'_>) -> Case {
    let (cell, experiment) = (row.cell, &view.run.experiment);
    let seconds = if cell.unit_time_ms.mean.is_finite() { cell.unit_time_ms.mean / 1000.0 } else { 0.0 };
    let of =
        |verdict: Verdict| view.run.findings(&cell.variant, cell.level).filter(move |found| found.verdict == verdict);
    let refusals = of(Verdict::Refused);
    let marked = of(Verdict::Marked).map(|mark| format!("{}: {}. {}", mark.rule, mark.reason, mark.remedy));
    let tolls = row.tolls.each().map(|toll| {
        let ratio = sentence::ratio(toll).replace('×', "x");
        let figure = sentence::figure(experiment, toll.figure);
        format!("toll on {figure}: {ratio} ({})", toll.verdict)
    });
    Case {
        name: format!("{} at {}", cell.variant, sentence::level(experiment, cell.level)),
        time: Some(format!("{seconds:.6}")),
        failures: refusals.map(|of| [of.rule.clone(), of.reason.clone(), of.remedy.clone()]).collect(),
        notes: marked.chain(tolls).collect(),
        ..Case::default()
    }
}
