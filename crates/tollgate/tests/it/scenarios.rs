//! Scenarios of users: the examples run as they are written, and mistakes in them are reported with their place.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::helper::{serving, tollgate};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs an example as briefly as possible, and returns the stored result.
fn run_example(name: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = examples().join(name);
    let out = folder.path().join("run");
    let (file, to) = (file.to_str().unwrap(), out.to_str().unwrap());
    // Two blocks are no interval: whether figures are refused is of no interest here.
    let run = tollgate(["run", file, "--quick", "--blocks", "2", "--out", to]).within(folder.path()).finish();
    assert!(matches!(run.code, 0 | 3), "{run:#?}");
    assert!(run.out.contains("The steps"), "{run:#?}");
    assert!(fs::read_to_string(out.join("report.html")).unwrap().contains("The steps"));
    serde_json::from_str(&fs::read_to_string(out.join("result.json")).unwrap()).unwrap()
}

/// A folder with the shop as `mine.toml`, with the first occurrence of each of these texts replaced.
fn shop(replaced: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("shop")).unwrap();
    for file in ["gateway.toml", "flights.csv"] {
        fs::copy(examples().join("shop").join(file), folder.path().join("shop").join(file)).unwrap();
    }
    let mut text = fs::read_to_string(examples().join("shop.toml")).unwrap();
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    fs::write(folder.path().join("mine.toml"), text).unwrap();
    folder
}

/// Checks that every step of every cell was answered once for each whole iteration, and that nothing failed. A trial
/// may end while a thinking user is on its way: a step's count may differ by one for each user and trial.
fn check(name: &str, variants: usize, steps: &[&str]) {
    let result = run_example(name);
    let cells = result["cells"].as_array().unwrap();
    assert_eq!(cells.len(), variants);
    for cell in cells {
        assert_eq!(cell["errors"], serde_json::json!({}), "{cell:#}");
        let played = &cell["played"];
        let iterations = played["iterations"].as_u64().unwrap();
        assert!(iterations > 0 && played["failed"] == 0, "{played:#}");
        let found: Vec<&str> =
            played["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect();
        assert_eq!(found, steps);
        let users = if name == "browsing.toml" { cell["level"].as_u64().unwrap() } else { 0 };
        let apart_most = users * cell["trials"].as_u64().unwrap();
        for step in played["steps"].as_array().unwrap() {
            assert!(step["requests"].as_u64().unwrap().abs_diff(iterations) <= apart_most, "{played:#}");
        }
    }
    assert_eq!(result["tolls"].as_array().unwrap().is_empty(), variants < 2);
}

#[test]
fn the_shop_books_by_both_versions_of_odata() {
    check("shop.toml", 2, &["search", "flight", "book", "booking", "cancel"]);
}

#[test]
fn quotes_come_past_the_bus_and_through_it() {
    check("soap-quote.toml", 2, &["quote", "again"]);
}

#[test]
fn people_who_think_browse() {
    check("browsing.toml", 1, &["list", "flight", "nowhere"]);
}

/// A service that is loaded in stages, by users or at a rate.
fn staged(load: &str) -> (i32, Value, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(examples().join("staged.toml")).unwrap();
    let (before, rest) = text.split_once("[load]").unwrap();
    let (_, behind) = rest.split_once("[workload]").unwrap();
    fs::write(folder.path().join("mine.toml"), format!("{before}{load}\n[workload]{behind}")).unwrap();
    let run = tollgate(["run", "mine.toml", "--quick", "--out", "run"]).within(folder.path()).finish();
    let read = |name: &str| fs::read_to_string(folder.path().join("run").join(name)).unwrap();
    (run.code, serde_json::from_str(&read("result.json")).unwrap(), read("report.html"), run.out)
}

#[test]
fn stages_have_their_own_figures_and_a_course_over_time() {
    for (load, unit, due) in [
        (
            "[[load.stage]]\nname = \"up\"\nseconds = 0.5\nusers = 4\n[[load.stage]]\nname = \"down\"\nseconds = 0.5\nusers = 0",
            "users",
            None,
        ),
        (
            "[load]\nusers_max = 50\n[[load.stage]]\nname = \"up\"\nseconds = 0.5\nrate = 40\n\
             [[load.stage]]\nname = \"down\"\nseconds = 0.5\nrate = 0",
            "per-second",
            Some(40),
        ),
    ] {
        let (code, result, page, text) = staged(load);
        // One block is no interval, and a busy machine may begin late: whether figures are refused is of no interest here.
        assert!(matches!(code, 0 | 3), "{text}");
        let played = &result["cells"][0]["played"];
        assert_eq!((&played["staged"]["unit"], &played["staged"]["times"]), (&unit.into(), &2.into()), "{played:#}");
        let stages = played["staged"]["stages"].as_array().unwrap();
        assert_eq!((stages.len(), &stages[0]["name"], &stages[1]["name"]), (2, &"up".into(), &"down".into()));
        let sum = |name: &str| stages.iter().map(|stage| stage[name].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("whole"), played["iterations"].as_u64().unwrap(), "{played:#}");
        assert!(!played["staged"]["course"].as_array().unwrap().is_empty());
        if let Some(due) = due {
            assert_eq!(sum("begun") + sum("unstarted"), due, "{played:#}");
            assert_eq!(played["offered"]["intended"], due);
        }
        for name in ["The stages", "up", "down"] {
            assert!(page.contains(name) && text.contains(name), "{name} in {text}");
        }
    }
}

/// Duration for which the lab is stopped, and resumed, in turn.
const STOP: Duration = Duration::from_millis(400);

/// Sleeps for this time; it is the length of an input, not a wait for an event.
pub(crate) fn pause(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::thread::park_timeout(time.saturating_sub(begun.elapsed()));
    }
}

#[test]
fn iterations_that_a_stopped_lab_begins_late_are_refused_though_its_backlog_called_all_users() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"mine\"\nquestion = \"Whose fault is it?\"\n[factor]\nname = \"rate\"\nlevels = [10, 100]\n\
                [load]\nusers_max = 8\n[workload]\nkind = \"scenario\"\n[extent.quick]\nblocks = 1\nslice_ms = 3000\n\
                [[variant]]\nname = \"service\"\nurl = \"/rest/flights\"\n[[scenario]]\nname = \"reading\"\n\
                [[scenario.step]]\nname = \"one\"\npath = \"flights/AA/0017/20110601\"\nassert = [{ contains = \"AA\" }]\n";
    fs::write(folder.path().join("mine.toml"), text).unwrap();
    let subject = format!("service={}/rest/flights", gateway.url);
    let line = ["run", "mine.toml", "--quick", "--out", "run", "--subject", &subject];
    let mut run = tollgate(line).within(folder.path()).start();
    // Whenever a trial is, the lab is stopped for half of it; the server never is.
    while !run.has_ended() {
        run.signal(Signal::STOP);
        pause(STOP);
        run.signal(Signal::CONT);
        pause(STOP);
    }
    let run = run.finish();
    let text = fs::read_to_string(folder.path().join("run/result.json")).unwrap_or_else(|_| panic!("{run:#?}"));
    let result: Value = serde_json::from_str(&text).unwrap();
    let marks = result["validity"].as_array().unwrap();
    // At 10 a second there are too few for a percentile that would tell.
    for level in [10, 100] {
        let is_it = |mark: &&Value| mark["rule"] == "begun-late" && mark["level"] == level;
        let mark = marks.iter().find(is_it).unwrap_or_else(|| panic!("{result:#}"));
        assert_eq!((&mark["verdict"], run.code), (&"refused".into(), 3), "{run:#?}");
        assert!(mark["remedy"].as_str().unwrap().contains("give it cores of its own"), "{mark:#}");
    }
    // The numbers of what was found stand behind the name wherever its figures do.
    let named = |from: &str| {
        let behind = &run.out[run.out.find(from).unwrap_or_else(|| panic!("{from}: {run:#?}"))..];
        behind.lines().find(|line| line.starts_with("service")).unwrap_or_else(|| panic!("{run:#?}")).to_owned()
    };
    assert!(named("variant").contains(" [1") && named("The steps").contains(" [1"), "{run:#?}");
}

#[test]
fn what_does_not_hold_or_is_not_there_ends_its_iteration_under_a_class_of_its_own() {
    let folder = shop(&[
        // The first row of the feed does not go through, the second one does: a trial may be over behind the first.
        ("{ json = \"/connid\", equals = \"{{connid}}\" }", "{ json = \"/carrid\", equals = \"LH\" }"),
        (
            "assert = [{ json = \"/d/connid\"",
            "extract = { gone = { json = \"/d/carrid\", regex = \"LH\" } }\nassert = [{ json = \"/d/connid\"",
        ),
    ]);
    let run = tollgate(["run", "mine.toml", "--quick", "--blocks", "2", "--out", "run"]).within(folder.path()).finish();
    assert!(matches!(run.code, 0 | 3), "{run:#?}");
    let text = fs::read_to_string(folder.path().join("run/result.json")).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    for (variant, step, class, example) in [
        ("v4", 1, "assertion", ": json `/carrid` is not what it should equal \"LH\": \"AA\""),
        ("v2", 1, "extraction", ": json `/d/carrid`, regex `LH` is not there"),
    ] {
        let cells = result["cells"].as_array().unwrap();
        let played = &cells.iter().find(|cell| cell["variant"] == variant).unwrap()["played"];
        let found = &played["steps"][step];
        assert!(found["errors"][class].as_u64().unwrap() > 0, "{played:#}");
        let told = found["error_examples"][class].as_str().unwrap();
        assert!(told.starts_with("step `flight`: GET /") && told.ends_with(example), "{played:#}");
        assert_eq!(played["failed"], found["errors"][class], "{played:#}");
        assert_eq!(played["iterations"], played["steps"][step + 1]["requests"], "{played:#}");
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (from, to, message, help) in [
        ("{{day}})\"", "{{days}})\"", "`{{days}}` has no value here", "did you mean `day`?"),
        ("scenario = \"v4\"", "scenario = \"v5\"", "there is no scenario `v5`", "did you mean `v4`?"),
        ("extract = {", "extrac = {", "unknown key `extrac`", "did you mean `extract`?"),
        ("json = \"/value/0/fldate\"", "json = \"value\"", "`value` is no JSON pointer", "it begins with a slash"),
        ("status = \"201\"", "status = \"2010\"", "are no statuses", "such as"),
        ("regex = \"(/odata", "regex = \"((/odata", "is no regular expression", "unclosed group"),
        ("shop/flights.csv", "shop/flight.csv", "cannot be read", "No such file"),
        ("name = \"flight\"", "name = \"search\"", "step `search` stands twice", "a name of its own"),
        ("name = \"v4\"\n", "name = \"v4\"\nmethod = \"PUT\"\n", "`method` has no meaning here", "at a step"),
        ("name = \"v4\"\n", "name = \"v4\"\ncontains = \"x\"\n", "`contains` has no meaning here", "an `assert`"),
        ("kind = \"scenario\"", "kind = \"scenario\"\ncontains = \"x\"", "has no meaning here", "an `assert`"),
        ("kind = \"scenario\"", "kind = \"request\"", "has no meaning here", "kind = \"scenario\""),
    ] {
        let folder = shop(&[(from, to)]);
        let run = tollgate(["plan", "mine.toml"]).within(folder.path()).finish();
        let place = run.err.contains("mine.toml:");
        assert!(run.code == 2 && place && run.err.contains(message) && run.err.contains(help), "{to}: {run:#?}");
    }
}

#[test]
fn a_plan_says_which_variants_are_open_beside_closed_ones() {
    let file = examples().join("open-and-closed.toml");
    let run = tollgate(["plan", file.to_str().unwrap(), "--only", "open-varied"]).finish();
    assert_eq!(run.code, 0, "{run:#?}");
    let of = |name: &str| run.out.lines().find(|line| line.contains(&format!("{name}  "))).map(str::to_owned);
    let (closed, open) = (of("closed-varied").unwrap(), of("open-varied").unwrap());
    assert!(closed.ends_with(", closed: as many users as the level says, who wait"), "{closed}");
    assert!(open.ends_with(", open: at the throughput of `closed-varied` (poisson), by at most 200 users"), "{open}");
    assert!(of("open-constant").is_none(), "{run:#?}");
}
