//! Stages and steps of cells that are in doubt.

use tollgate_facts::fixture;
use tollgate_facts::results::{
    Percentiles, Played, RunResult, StageFound, StageUnit, Staged, StepFound, Validity, Verdict,
};
use tollgate_report::{RenderOptions, render};

fn staged() -> Staged {
    let stage = |name: &str| StageFound {
        name: name.to_owned(),
        from_s: 0.0,
        until_s: 1.0,
        asked_from: 0.0,
        asked_to: 20.0,
        asked_mean: 10.0,
        users_mean: 10.0,
        begun: 10,
        whole: 10,
        failed: 0,
        unstarted: 0,
        whole_per_second: 10.0,
        requests_per_second: 10.0,
        time_ms: Some(Percentiles { max: 7.0, ..Percentiles::default() }),
    };
    Staged { unit: StageUnit::PerSecond, times: 1, stages: vec![stage("up"), stage("down")], course: Vec::new() }
}

/// A run whose first cell was played in stages and has these doubts.
fn run(verdicts: &[(&str, Verdict)]) -> RunResult {
    let mut run = fixture::protocol();
    run.cells.truncate(1);
    run.tolls.clear();
    let cell = &mut run.cells[0];
    let step = StepFound { name: "read".to_owned(), requests: 10, ..StepFound::default() };
    cell.played = Some(Played { iterations: 10, steps: vec![step], staged: Some(staged()), ..Played::default() });
    let of = |(rule, verdict): &(&str, Verdict)| Validity {
        variant: cell.variant.clone(),
        level: cell.level,
        rule: (*rule).to_owned(),
        verdict: *verdict,
        reason: "7 found".to_owned(),
        remedy: "mend it".to_owned(),
        value: 7.0,
        bound: 1.0,
    };
    run.validity = verdicts.iter().map(of).collect();
    run
}

fn rendered(name: &str, run: &RunResult) -> String {
    render(name, run, tollgate_lab::page, &RenderOptions::default())
}

#[test]
fn stages_and_steps_of_a_marked_or_refused_cell_say_so() {
    use Verdict::{Marked, Refused};
    let check = |verdicts: &[(&str, Verdict)], text: &str, page: &[&str], plain: &[&str]| {
        let run = run(verdicts);
        let name = &run.cells[0].variant;
        let shown = rendered("terminal", &run);
        let begin = |name: String| shown.lines().filter(|line| line.starts_with(&name)).count();
        assert_eq!(begin(format!("{name}{text} ")), 2, "as a cell and with its stages: {shown}");
        assert_eq!(begin(format!("{name}, 1 user{text} ")), 1, "with its steps: {shown}");
        let shown = rendered("html", &run);
        let from = shown.find("<h2>The stages").unwrap();
        let until = from + shown[from..].find("Every figure").unwrap();
        page.iter().for_each(|part| assert!(shown[from..until].contains(part), "{part}: {shown}"));
        plain.iter().for_each(|part| assert!(!shown[from..until].contains(part), "{part}: {shown}"));
        assert!(rendered("markdown", &run).contains("The stages"));
    };
    let link = "<sup>[<a tabindex=\"-1\" href=\"#doubt-1\">1</a>";
    check(&[], "", &[], &["class=\"refused\"", "<sup>"]);
    check(&[("stalls", Marked)], " [1]", &[link], &["class=\"refused\""]);
    assert!(!rendered("terminal", &run(&[("steady", Marked)])).contains("not steady"));
    assert!(rendered("terminal", &run(&[("steady", Refused)])).contains(" not steady "));
    check(&[("begun-late", Refused), ("stalls", Marked)], " [1,2]", &[link, "class=\"refused\""], &[]);
}
