//! Bad scenarios as data: what their authors see, and what helps.

use crate::experiment::{Experiment, ExperimentError};

const GOOD: &str = r#"
name = "mine"
question = "What does it cost?"

[factor]
name = "concurrency"
levels = [1, 20]

[workload]
kind = "scenario"

[[variant]]
name = "one"
url = "/shop/"
variables = { page = "html" }

[[scenario]]
name = "mine"
namespaces = { o = "urn:o" }
feed = [{ file = "rows.csv" }]

[[scenario.step]]
name = "look"
path = "x/{{page}}/{{sku}}"
status = "200"
think = { ms = 5 }
extract = { id = { xpath = "//o:id" } }
assert = [{ json = "/id" }]
"#;

fn parsed(from: &str, to: &str, rows: &str) -> Result<Experiment, ExperimentError> {
    assert!(GOOD.contains(from), "the good file has no `{from}`");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rows.csv"), rows).unwrap();
    Experiment::parse(&GOOD.replacen(from, to, 1), folder.path().join("mine.toml").to_str().unwrap())
}

fn check(from: &str, to: &str, message: &str, help: &str) {
    let error = parsed(from, to, "sku,qty\n1,2\n").unwrap_err();
    assert_eq!((error.message.as_str(), error.help.as_deref().unwrap_or_default()), (message, help), "{to}");
    assert!(error.span.is_some(), "{to}");
}

#[test]
fn a_path_is_no_whole_address() {
    check(
        "\"x/{{page}}/{{sku}}\"",
        "\"HTTP://host/x\"",
        "`HTTP://host/x` is a whole address, and no path",
        "the host is that of the variant's `url`: write what stands behind it, with the slash in front",
    );
}
