//! JUnit's XML, so that a build server shows a run beside its tests: one case a cell, failed where it was refused, and one
//! a threshold, failed where it does not hold.
//!
//! A toll, however large, fails nothing by itself: thresholds are the user's to set, not a report's.

use std::io::{self, Write};
use tollgate_facts::across::Across;
use tollgate_facts::results::{Experiment, Outcome, RunResult, State, ThresholdFinding, ThresholdResult, Verdict};
use tollgate_page::chart::escape;
use tollgate_page::words::view::{Row, View};
use tollgate_page::words::{sentence, thresholds};

/// Writes the cells of a run as cases.
pub(crate) fn run(run: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    let view = View::of(run);
    let incompleteness = sentence::incompleteness(run);
    let refused = view.rows.iter().filter(|row| row.is_refused(&view.doubts)).count();
    let refused = refused + failing(&run.thresholds);
    let cases = view.rows.len() + 1 + run.thresholds.len();
    let errors = usize::from(incompleteness.is_some());
    let suite = escape(&run.experiment.name);
    begin(&run.experiment, (cases, refused, errors), &run.started, out)?;
    write!(out, "<testcase classname=\"{suite}\" name=\"everything planned was measured\">")?;
    if let Some(why) = incompleteness {
        write!(out, "<error message=\"{}\"/>", escape(&why))?;
    }
    writeln!(out, "</testcase>")?;
    for row in &view.rows {
        case(&view, row, &suite, out)?;
    }
    threshold_cases(&run.experiment, &run.thresholds, &suite, out)?;
    writeln!(out, "</testsuite></testsuites>")
}

/// The head of a suite with so many tests, failures and errors.
fn begin(
    experiment: &Experiment,
    (tests, failures, errors): (usize, usize, usize),
    started: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites><testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
         timestamp=\"{}\">",
        escape(&experiment.name),
        escape(started)
    )
}

/// How many thresholds do not hold.
fn failing(results: &[ThresholdResult]) -> usize {
    results.iter().filter(|result| result.outcome != Outcome::Holds).count()
}

/// One case for each threshold, with every finding that does not hold.
fn threshold_cases(
    experiment: &Experiment,
    results: &[ThresholdResult],
    suite: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    for result in results {
        write!(out, "<testcase classname=\"{suite}.thresholds\" name=\"{}\" time=\"0\">", escape(&result.expect))?;
        let found = |finding: &ThresholdFinding| {
            let reason = finding.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            let (place, figure) = (thresholds::place(experiment, finding), thresholds::figure(finding));
            format!("{place}: {figure} {}{reason}", thresholds::outcome(finding.outcome))
        };
        let (bad, good): (Vec<_>, Vec<_>) =
            result.findings.iter().partition(|finding| finding.outcome != Outcome::Holds);
        let [bad, good] = [bad, good].map(|all| all.into_iter().map(found).collect::<Vec<_>>());
        if let Some(first) = bad.first() {
            let kind = thresholds::outcome(result.outcome);
            let (first, all) = (escape(first), escape(&bad.join("; ")));
            write!(out, "<failure type=\"threshold {kind}\" message=\"{first}\">{all}</failure>")?;
        }
        notes(&good, out)?;
        writeln!(out, "</testcase>")?;
    }
    Ok(())
}

fn case(view: &View<'_>, row: &Row<'_>, suite: &str, out: &mut dyn Write) -> io::Result<()> {
    let cell = row.cell;
    let at = sentence::level(&view.run.experiment, cell.level);
    let seconds = if cell.unit_time_ms.mean.is_finite() { cell.unit_time_ms.mean / 1000.0 } else { 0.0 };
    let name = escape(&format!("{} at {at}", cell.variant));
    write!(out, "<testcase classname=\"{suite}\" name=\"{name}\" time=\"{seconds:.6}\">")?;
    let of = |verdict: Verdict| {
        let found = view.doubts.iter().flat_map(|doubt| &doubt.findings);
        found
            .filter(move |found| found.verdict == verdict && found.variant == cell.variant && found.level == cell.level)
    };
    for refusal in of(Verdict::Refused) {
        let [rule, reason, remedy] = [&refusal.rule, &refusal.reason, &refusal.remedy].map(|text| escape(text));
        write!(out, "<failure type=\"{rule}\" message=\"{reason}\">{remedy}</failure>")?;
    }
    let marked = of(Verdict::Marked).map(|mark| format!("{}: {}. {}", mark.rule, mark.reason, mark.remedy));
    let mut notes: Vec<String> = marked.collect();
    notes.extend(row.tolls.each().map(|toll| {
        let ratio = sentence::ratio(toll).replace('×', "x");
        let figure = sentence::figure(&view.run.experiment, toll.figure);
        format!("toll on {figure}: {ratio} ({})", sentence::verdict(toll.verdict))
    }));
    self::notes(&notes, out)?;
    writeln!(out, "</testcase>")
}

fn notes(texts: &[String], out: &mut dyn Write) -> io::Result<()> {
    match texts {
        [] => Ok(()),
        texts => write!(out, "<system-out>{}</system-out>", escape(&texts.join("; "))),
    }
}

/// One case for each run, which is in error where it is not whole, and one for each threshold.
pub(crate) fn across(across: &Across, out: &mut dyn Write) -> io::Result<()> {
    let suite = escape(&across.experiment.name);
    let errors = across.runs.iter().filter(|run| run.state != State::Complete).count();
    let failures = failing(&across.thresholds);
    let cases = across.runs.len() + across.thresholds.len();
    let started = across.runs.first().map_or("", |run| run.started.as_str());
    begin(&across.experiment, (cases, failures, errors), started, out)?;
    for run in &across.runs {
        let name = escape(&format!("run {} is whole: {}", run.number, run.name));
        write!(out, "<testcase classname=\"{suite}\" name=\"{name}\" time=\"0\">")?;
        if let Some(why) = sentence::incompleteness_of(run) {
            write!(out, "<error message=\"{}\"/>", escape(&why))?;
        }
        writeln!(out, "</testcase>")?;
    }
    threshold_cases(&across.experiment, &across.thresholds, &suite, out)?;
    writeln!(out, "</testsuite></testsuites>")
}
