//! `tollgate report` from outside: one short run, rendered in every format; and inputs that are not a run.

use std::fs;

use crate::helper::tollgate;

#[test]
fn a_stored_run_is_rendered_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let run = run.to_str().unwrap();
    let line = ["run", "protocol", "--quick", "--blocks", "2", "--level", "1", "--only", "odata-v2-json", "--out", run];
    let ran = tollgate(line).finish();
    assert!(matches!(ran.code, 0 | 3), "{ran:#?}");
    for (format, expected) in [
        ("html", "<svg"),
        ("md", "| "),
        ("csv", "odata-v2-json"),
        ("jtl", "timeStamp,elapsed,label,responseCode"),
        ("json", "\"format\": 2"),
        ("text", "odata-v2-json"),
    ] {
        tollgate(["report", run, "-f", format]).finish().check(0, expected, "");
        let file = folder.path().join(format!("again.{format}"));
        tollgate(["report", run, "-f", format, "-o", file.to_str().unwrap()]).finish().check(0, "", "");
        assert!(fs::read_to_string(&file).unwrap().contains(expected), "{format}");
    }
    // Rendering again what the run rendered gives the same file.
    let again = fs::read_to_string(folder.path().join("again.html")).unwrap();
    assert!(again == fs::read_to_string(folder.path().join("run/report.html")).unwrap());
}

#[test]
fn what_is_not_a_run_is_a_clear_error_and_costs_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.html");
    let check = |content: &str, expected: &str| {
        fs::write(&old, "kept").unwrap();
        fs::write(folder.path().join("result.json"), content).unwrap();
        let report = tollgate(["report", ".", "-f", "html", "-o", "old.html"]).within(folder.path()).finish();
        report.check(2, "", "result.json").check(2, "", expected);
        assert_eq!(fs::read_to_string(&old).unwrap(), "kept");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing half-written is left behind");
    };
    check("", "EOF while parsing");
    check("[1, 2", "line 1 column");
    check("{\"format\": 99}", "its format is 99");
    check("{\"format\": 1}", "missing field");
}
