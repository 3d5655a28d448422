//! `tollgate versus`: addresses and commands against each other, without a file.

use std::fs;

use serde_json::Value;

use crate::helper::{files_below, serving, tollgate};

fn result(folder: &std::path::Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("run/result.json")).unwrap()).unwrap()
}

#[test]
fn two_addresses_are_compared_by_what_they_answer_and_whoever_listens_there_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = serving(&[]);
    let [rest, odata] = ["/rest/flights", "/odata/v4/flights/FlightCollection?sap-password=hunter2"]
        .map(|path| format!("{}{path}", gateway.url));
    let line = ["versus", &rest, &odata, "-A", "me:hunter3", "-HX-Key:hunter4", "--expect-body", "carrid"];
    let how = ["--blocks", "2", "--out", "run", "--html", "page.html"];
    let run = tollgate(line.into_iter().chain(how)).within(folder.path()).finish();
    assert!(matches!(run.code, 0 | 3), "{run:#?}");
    assert!(run.err.contains(&format!("(process {})", gateway.running.process())), "{run:#?}");
    assert!(run.out.contains("Which is faster?") && folder.path().join("page.html").exists(), "{run:#?}");
    let result = result(folder.path());
    let cells = result["cells"].as_array().unwrap();
    assert_eq!(cells.iter().map(|cell| &cell["variant"]).collect::<Vec<_>>(), ["a", "b"]);
    for cell in cells {
        assert!(cell["errors"].as_object().unwrap().is_empty() && cell["subject"].is_object(), "{cell:#}");
    }
    let unverified = |doubt: &Value| doubt["rule"] == "content";
    assert!(!result["validity"].as_array().unwrap().iter().any(unverified), "its text was looked for");
    for file in files_below(folder.path()) {
        let text = fs::read(&file).unwrap();
        for secret in ["hunter2", "hunter3", "hunter4"] {
            assert!(!String::from_utf8_lossy(&text).contains(secret), "{secret} in {}", file.display());
        }
    }
}

#[test]
fn a_proxy_before_a_server_has_no_cpu_time_without_that_server() {
    let folder = tempfile::tempdir().unwrap();
    let behind = serving(&["--service", "echo"]);
    let configuration = format!(
        "[listen]\naddresses = [\"127.0.0.1:0\"]\n[[endpoint]]\nname = \"echo\"\nurls = [\"{}\"]\n\
         [[route]]\npath = \"/echo\"\nendpoint = \"echo\"\n",
        behind.url
    );
    fs::write(folder.path().join("proxy.toml"), configuration).unwrap();
    let proxy = serving(&[folder.path().join("proxy.toml").to_str().unwrap()]);
    let [direct, through] = [&behind, &proxy].map(|server| format!("{}/echo?bytes=64", server.url));
    let run = tollgate(["versus", &direct, &through, "--blocks", "2", "--out", "run"]).within(folder.path()).finish();
    assert!(matches!(run.code, 0 | 3), "{run:#?}");
    let result = result(folder.path());
    let found = &result["unwatched"][0];
    assert_eq!((&found["variant"], &found["process"]), (&"b".into(), &behind.running.process().into()), "{found:#}");
    assert_eq!(found["watched"], serde_json::json!([proxy.running.process()]));
    let cpu = result["tolls"].as_array().unwrap().iter().find(|toll| toll["figure"] == "subject-cpu").unwrap();
    assert_eq!(cpu["verdict"], "refused", "{cpu:#}");
}

#[test]
fn an_address_that_answers_wrongly_is_named_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = serving(&[]);
    let [right, wrong] = ["/rest/flights", "/nothing"].map(|path| format!("{}{path}", gateway.url));
    let check = |line: &[&str], code: i32, expected: &str| {
        tollgate(["versus"].iter().chain(line)).within(folder.path()).finish().check(code, "", expected);
        assert!(files_below(folder.path()).is_empty(), "nothing is written");
    };
    check(&[&right, &wrong], 1, &format!("the subject of `b` gives no valid answer at {wrong}: 404 Not Found"));
    check(&[&right, &right, "--expect-body", "no such text"], 1, "the subject of `a` gives no valid answer");
    check(&["http://192.0.2.1/", &right], 2, "--i-may-load");
    check(&[&right], 2, "URL");
    check(&["--command", "true", "echo 'open"], 2, "a quote is not closed");
    check(&["--command", "true", "echo {level}"], 2, "{level} stands for nothing here");
    check(&["--command", "true", "true", "-c", "2"], 2, "--command");
    check(&[&right, &right, "-H", "Host: else"], 2, "leave -H Host out");
    check(&[&right, &right, "--threshold", "tol(b) < 2"], 2, "there is no figure `tol`");
}

#[test]
fn commands_are_compared_in_the_words_of_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let line = ["versus", "--command", "true", "sh -c 'exit 0'", "--blocks", "2", "--out", "run"];
    let run = tollgate(line).within(folder.path()).finish();
    assert!(matches!(run.code, 0 | 3), "{run:#?}");
    let result = result(folder.path());
    assert_eq!(result["experiment"]["variants"][1]["title"], "sh -c 'exit 0'");
}
