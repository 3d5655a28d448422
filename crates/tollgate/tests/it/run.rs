//! `tollgate run` from outside: its files, its secrets, and its exit codes.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::helper::{files_below, serving, tollgate, wait_for};

const EXPERIMENT: &str = r#"
name = "mine"
question = "Is the same thing the same?"

[factor]
name = "concurrency"
levels = [1, 2]

[workload]
kind = "walk"

[extent.default]
blocks = 3
slice_ms = 20

[[variant]]
name = "one"
url = "/rest/flights"
format = "json"
detail = "flights/{carrid}/{connid}/{fldate}"
key = ["carrid", "connid", "fldate"]

[[variant]]
name = "other"
baseline = "one"
url = "/rest/flights"
format = "json"
detail = "flights/{carrid}/{connid}/{fldate}"
key = ["carrid", "connid", "fldate"]
"#;

/// A folder that contains the experiment.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), EXPERIMENT).unwrap();
    folder
}

/// The result stored so far: absent before the first trial, never half-written.
fn stored(folder: &Path) -> Option<Value> {
    let text = fs::read_to_string(folder.join("run/result.json")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

fn wait_for_first_trial(folder: &Path) {
    let has_trial = |result: &Value| !result["trials"].as_array().unwrap().is_empty();
    wait_for("first trial", || stored(folder).filter(has_trial));
}

#[test]
fn a_run_leaves_its_result_and_its_report() {
    let folder = folder();
    let run = tollgate(["run", "mine.toml", "--out", "run", "--quiet"]).within(folder.path()).finish();
    assert!(matches!(run.code, 0 | 3), "{run:#?}");
    assert!(run.out.contains("report.html") && run.err.is_empty(), "{run:#?}");
    let result = stored(folder.path()).unwrap();
    assert_eq!((&result["state"], result["cells"].as_array().unwrap().len()), (&"complete".into(), 4));
    assert_eq!(result["trials"].as_array().unwrap().len(), 2 * 2 * 3 * 2);
    assert!(fs::read_to_string(folder.path().join("run/report.html")).unwrap().contains("Is the same thing the same?"));
}

#[test]
fn a_refused_figure_ends_the_run_with_3() {
    let folder = folder();
    // One block has no interval, so every toll of it is refused.
    let line = ["run", "mine.toml", "--out", "run", "--level", "1", "--blocks", "1"];
    let run = tollgate(line).within(folder.path()).finish();
    let result = stored(folder.path()).unwrap();
    let verdicts = |list: &str| -> Vec<Value> {
        result[list].as_array().unwrap().iter().map(|found| found["verdict"].clone()).collect()
    };
    assert!(verdicts("tolls").iter().all(|verdict| verdict == "refused"), "{result:#}");
    assert!(verdicts("validity").iter().all(|verdict| verdict != "refused"), "the cells are sound: {result:#}");
    assert_eq!(run.code, 3, "{run:#?}");
}

#[test]
fn json_goes_to_stdout_and_is_the_stored_result() {
    let folder = folder();
    let run = tollgate(["run", "mine.toml", "--out", "run", "--json", "--level", "1"]).within(folder.path()).finish();
    let printed: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(Some(printed), stored(folder.path()));
}

#[test]
fn secrets_are_sent_and_never_stored() {
    let folder = folder();
    let gateway = serving(&[]);
    // OData lets an option that is not its own pass, as SAP's `sap-password` is.
    let subject = format!("odata-v4-json={}/odata/v4/flights/FlightCollection?sap-password=hunter4", gateway.url);
    let what =
        ["run", "protocol", "--quick", "--only", "odata-v4-json", "--level", "1", "--blocks", "1", "--out", "run"];
    let how = ["--subject", &subject, "--basic", "me:hunter2", "--header", "X-Api-Key: hunter3"];
    let run = tollgate(what.into_iter().chain(how)).within(folder.path()).finish();
    assert!(matches!(run.code, 0 | 3), "{run:#?}");
    // Neither as they were typed nor as they were sent.
    for secret in ["hunter2", "hunter3", "hunter4", "bWU6aHVudGVyMg"] {
        assert!(!run.out.contains(secret) && !run.err.contains(secret), "{run:#?}");
        for file in files_below(&folder.path().join("run")) {
            let bytes = fs::read(&file).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{secret} in {}", file.display());
        }
    }
}

#[test]
fn an_interrupted_run_keeps_what_is_done() {
    let folder = folder();
    let three_starts = EXPERIMENT.replace("blocks = 3", "blocks = 3\nstarts = 3");
    fs::write(folder.path().join("mine.toml"), three_starts).unwrap();
    let run = tollgate(["run", "mine.toml", "--out", "run", "--blocks", "64"]).within(folder.path()).start();
    wait_for_first_trial(folder.path());
    run.signal(Signal::INT);
    let run = run.finish();
    assert_eq!(run.code, 130, "{run:#?}");
    let result = stored(folder.path()).unwrap();
    assert_eq!(result["state"], "partial");
    assert_eq!(result["settings"]["starts"], 1, "of three that were planned");
    assert!(result["reason"].as_str().unwrap().contains("interrupted"), "{}", result["reason"]);
    assert!(folder.path().join("run/report.html").exists());
}

#[test]
fn a_subject_that_dies_leaves_a_partial_result() {
    let folder = folder();
    let gateway = serving(&[]);
    let subject = format!("other={}", gateway.url);
    let line = ["run", "mine.toml", "--out", "run", "--blocks", "64", "--subject", &subject];
    let run = tollgate(line).within(folder.path()).start();
    wait_for_first_trial(folder.path());
    gateway.running.signal(Signal::KILL);
    let run = run.finish();
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(run.err.contains("other"), "{run:#?}");
    assert_eq!(stored(folder.path()).unwrap()["state"], "partial");
}

#[test]
fn what_cannot_be_measured_ends_before_anything_is_written() {
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let folder = folder();
        let line = [&["run", "mine.toml", "--out", "run"], arguments].concat();
        tollgate(line).within(folder.path()).finish().check(code, "", expected);
        assert!(!folder.path().join("run").exists(), "{arguments:?}");
    };
    check(&["--only", "tow"], 2, "tow");
    check(&["--level", "0"], 2, "level 0");
    check(&["--subject", "tow=http://127.0.0.1:1/"], 2, "tow");
    check(&["--subject", "one=127.0.0.1:1"], 2, "127.0.0.1:1");
    check(&["--subject", "one=http://other.example/"], 2, "--i-may-load other.example");
    check(&["--subject", "one=http://127.0.0.1:1/"], 1, "127.0.0.1:1");
    check(&["--subject-pid", "one=1"], 2, "--subject-pid one");
    check(
        &["--expect-body", "AA"],
        2,
        "--expect-body: `mine` is of kind `walk`, which cannot use it; it is for `request`",
    );
    check(&["-H", "Host: other"], 2, "Host");
    check(&["--detail", "tow={id}"], 2, "tow");
    check(&["--detail", "one=flights"], 2, "no property stands in braces");
    let gateway = serving(&[]);
    let subject = format!("one={}", gateway.url);
    check(&["--subject", &subject, "--subject-pid", "one=4194303"], 2, "4194303");
}
