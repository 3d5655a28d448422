//! Bad scenarios as data, with the messages to their authors.

use crate::experiment::{Experiment, ExperimentError};
use crate::plan::{Plan, PlanOptions};
use crate::traffic::scenario::Played;

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
fn a_type_that_is_not_wanted_is_told_in_words_of_the_file_with_what_helps() {
    parsed("", "", "sku,qty\n1,2\n").unwrap();
    let came = "invalid type: string \"5s\", expected";
    check(
        "[[variant]]",
        "[extent.quick]\nramp_ms = 100\n\n[[variant]]",
        "`ramp_ms` has no meaning where all users think",
        "leave it out: users who think come one after the other by themselves, before anything counts",
    );
    check("levels =", "level =", "`level` has no meaning here", "did you mean `levels`?");
    check("{ ms = 5 }", "\"5s\"", &format!("{came} a table"), "such as `think = { ms = 500 }`");
    check("[1, 20]", "\"5s\"", &format!("{came} an array"), "put it into brackets, such as `[1, 20]`");
    check(
        "{ xpath = \"//o:id\" }",
        "\"5s\"",
        &format!("{came} where the value stands"),
        "such as `{ json = \"/value/0/id\" }`",
    );
    check("\"html\"", "5", "invalid type: integer `5`, expected a string", "put it into quotation marks");
    check(
        "[[scenario]]",
        "[scenario]",
        "invalid type: a table, expected an array",
        "put it into brackets, or write its heading as `[[…]]`",
    );
    check("{ file = \"rows.csv\" }", "{}", "missing key `file`", "add it: it has no default");
    check("\"200\"", "true", "expected statuses, such as `201` or `\"2xx,404\"`", "");
}

#[test]
fn a_status_may_be_a_number() {
    let statuses = |status: &str| {
        let experiment = parsed("\"200\"", status, "sku\n1\n").unwrap();
        experiment.variants[0].own::<Played>().unwrap().scenario.steps[0].statuses.to_string()
    };
    assert_eq!((statuses("201").as_str(), statuses("\"2xx,404\"").as_str()), ("201", "2xx,404"));
    check(
        "\"200\"",
        "2010",
        "`2010` are no statuses: write such as 200, 2xx,304, 400-404 or any",
        "such as `status = 201`",
    );
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

#[test]
fn what_helps_is_about_what_is_wrong() {
    let help = |from: &str, to: &str, rows: &str| parsed(from, to, rows).unwrap_err().help.unwrap();
    let rows = "sku,qty\n1,2\n";
    assert_eq!(help("//o:id", "//p:id", rows), "prefixes stand in the scenario's `namespaces`");
    assert_eq!(help("//o:id", "/o:o/o:id[", rows), "it is XPath 1.0, such as `//order[1]/id`");
    check("{{sku}}", "{{sku/{{qty}}", "`{{` has no `}}` behind it", "a variable stands as `{{name}}`");
    check("id = { x", "user = { x", "`user` is a variable of tollgate's own", "take another name");
    check("id = { x", "\"a b\" = { x", "`a b` is no name for a variable", "use letters, digits, `-` and `_`");
    check("page = \"html\"", "sku = \"html\"", "there is a variable `sku` already", "take another name");
    assert_eq!(help("", "", "sku;qty\n1;2\n"), "columns are separated by commas");
    assert!(help("", "", "sku;qty\n1;2,5\n").ends_with("; values are separated by commas"));
}

#[test]
fn a_trial_is_as_long_as_users_think_in_an_iteration() {
    let planned = |think_ms: u32, slice_ms: u32| {
        let text = format!(
            "name = \"mine\"\nquestion = \"How long?\"\nfactor = {{ name = \"concurrency\", levels = [2] }}\n\
             workload = {{ kind = \"scenario\" }}\n[extent.quick]\nslice_ms = {slice_ms}\n\
             [[variant]]\nname = \"a\"\nurl = \"/\"\n[[scenario]]\nname = \"a\"\n[[scenario.step]]\nname = \"one\"\n\
             path = \"x\"\nthink = {{ ms = {think_ms} }}\n[[scenario.step]]\nname = \"two\"\npath = \"y\"\n\
             think = {{ ms = {think_ms}, distribution = \"exponential\" }}\n"
        );
        let experiment = Experiment::parse(&text, "mine.toml").unwrap();
        let options = PlanOptions { extent: crate::plan::Extent::Quick, ..PlanOptions::default() };
        let plan = Plan::new(&experiment, &options).unwrap();
        (plan.slice.as_millis(), plan.trials_least.as_millis() >= plan.slice.as_millis() * plan.trials() as u128)
    };
    assert_eq!(planned(200, 110), (400, true));
    assert_eq!(planned(20, 110), (110, true));
}

#[test]
fn a_file_with_nothing_but_a_scenario_is_enough_for_a_load() {
    let alone = "[[scenario]]\nname = \"mine\"\n[[scenario.step]]\nname = \"look\"\npath = \"x\"\n";
    assert_eq!(crate::kinds::scenario(alone, "steps.toml").unwrap().scenario.steps.len(), 1);
    let faulty = alone.replacen("\"x\"", "\"{{x}}\"", 1);
    let error = crate::kinds::scenario(&faulty, "steps.toml").unwrap_err();
    assert_eq!((error.line(), error.text.as_str()), (Some(5), faulty.as_str()), "{error}");
    let none = crate::kinds::scenario("", "steps.toml").unwrap_err().to_string();
    assert!(none.contains("steps.toml") && !none.contains("levels"), "{none}");
    let check = |text: String, expected: &str| {
        let error = crate::kinds::scenario(&text, "steps.toml").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(format!("name = \"mine\"\n{alone}"), "`name` belongs to an experiment");
    check(format!("{alone}{alone}"), "it has 2 scenarios");
    let whole = GOOD.replacen("feed = [{ file = \"rows.csv\" }]\n", "", 1).replacen("/{{sku}}", "", 1);
    assert_eq!(crate::kinds::scenario(&whole, "mine.toml").unwrap().constants.len(), 1);
}
