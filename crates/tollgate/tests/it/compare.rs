//! `tollgate compare` and thresholds from outside: the results for a build server, and invalid pairs of runs.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::helper::tollgate;

const RUN: [&str; 9] = ["run", "protocol", "--quick", "--blocks", "2", "--level", "1", "--only", "odata-v2-json"];

/// Makes a short run into a folder of that name, with further arguments; returns its exit code.
fn run(within: &Path, name: &str, further: &[&str]) -> i32 {
    let line = [&RUN[..], &["--out", name], further].concat();
    tollgate(line).within(within).finish().code
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn saved_runs_stand_side_by_side_and_thresholds_decide_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let within = folder.path();
    // Nothing holds of it, whatever the machine: every answer has bytes.
    let code = run(within, "one", &["--threshold", "bytes < 1 B", "--threshold", "errors == 0", "--junit", "one.xml"]);
    assert_eq!(code, 99);
    let result = json(&fs::read_to_string(within.join("one/result.json")).unwrap());
    assert_eq!(result["thresholds"][0]["expect"], "bytes < 1 B");
    assert_ne!(result["thresholds"][0]["outcome"], "holds");
    let junit = fs::read_to_string(within.join("one.xml")).unwrap();
    assert!(junit.contains("name=\"bytes &lt; 1 B\"") && junit.contains("<failure type=\"threshold "), "{junit}");
    assert!(fs::read_to_string(within.join("one/report.html")).unwrap().contains("bytes &lt; 1 B"));
    assert!(matches!(run(within, "two", &[]), 0 | 3));

    let compare = |arguments: &[&str]| tollgate([&["compare"], arguments].concat()).within(within).finish();
    compare(&["one", "two/result.json"]).check(0, "2 runs of protocol side by side", "");
    for (format, expected) in
        [("html", "<svg"), ("md", "| variant | level |"), ("json", "\"runs\""), ("junit", "<testcase")]
    {
        compare(&["one", "two", "-f", format]).check(0, expected, "");
        compare(&["one", "two", "-f", format, "-o", "out"]).check(0, "", "");
        assert!(fs::read_to_string(within.join("out")).unwrap().contains(expected), "{format}");
    }
    for (expectation, passes) in [("bytes < 1 B", false), ("toll-ratio.cpu < 1000000", true)] {
        let arguments = ["one", "two", "--threshold", expectation, "-f", "json", "--junit", "compare.xml"];
        let found = compare(&arguments);
        let outcome = &json(&found.out)["thresholds"][0]["outcome"];
        // A cell may be refused on a machine that is busy; then nothing holds of it.
        assert_eq!(found.code, if outcome == "holds" { 0 } else { 99 }, "{outcome}");
        assert!(passes || found.code == 99);
        assert!(fs::read_to_string(within.join("compare.xml")).unwrap().contains("one"), "{expectation}");
    }
    faults(within);
}

/// Faults are reported before anything is written.
fn faults(within: &Path) {
    let check = |arguments: &[&str], expected: &str| {
        tollgate(arguments).within(within).finish().check(2, "", expected);
    };
    let altered = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(within.join("two/result.json")).unwrap();
        assert!(text.contains(from));
        fs::write(within.join(name), text.replacen(from, to, 1)).unwrap();
    };
    altered("other.json", "\"name\": \"protocol\"", "\"name\": \"mine\"");
    altered("later.json", "\"format\": 2", "\"format\": 99");
    check(&["compare", "one"], "2 values required");
    check(&["compare", "one", "nowhere"], "nowhere");
    check(&["compare", "one", "other.json"], "one is of `protocol`");
    check(&["compare", "one", "other.json"], "other.json of `mine`");
    check(&["compare", "one", "later.json"], "its format is 99");
    check(&["compare", "one", "two", "--threshold", "p98 < 5 ms"], "did you mean `p90`?");
    check(&["compare", "one", "two", "--threshold", "p99(odata-v2-jsn) < 5 ms"], "did you mean `odata-v2-json`?");
    let line = [&RUN[..], &["--out", "three", "--threshold"]].concat();
    check(&[&line[..], &["ratio.cpu < 1"]].concat(), "takes two runs");
    check(&[&line[..], &["p99(odata-v4-json) < 5 ms"]].concat(), "there is no variant `odata-v4-json`");
    check(&[&line[..], &["p99(odata-v2-json, 20) < 5 ms"]].concat(), "there is no level 20");
    check(&[&line[..], &["p99 < 5"]].concat(), "a unit is missing");
    assert!(!within.join("three").exists());
}
