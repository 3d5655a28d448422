//! Runs without a gateway: scripted subjects, and common options of other tests.

use std::path::PathBuf;
use std::sync::Mutex;

use super::*;
use crate::experiment::Experiment;
use crate::plan::{Extent, PlanOptions};
use crate::testing::{ITEMS, TestServer};
use crate::traffic::request::{AnswerLength, OwnRequest};
use tollgate_facts::results::{FirstAnswers, RunResult, State, Verdict};
use tollgate_wire::links::Template;

/// Options of a run of `protocol` without any server.
pub(crate) fn options() -> RunOptions {
    RunOptions {
        seed: Some(1),
        command_line: vec!["tollgate".to_owned(), "run".to_owned(), "protocol".to_owned()],
        version: "0".to_owned(),
        ..RunOptions::of(Experiment::builtin("protocol").unwrap(), PathBuf::from("/nowhere/tollgate"))
    }
}

/// An experiment that walks the test server twice under two names.
const TWICE: &str = r#"
name = "twice"
question = "Does the same cost the same?"

[factor]
name = "concurrency"
levels = [1, 3]

[workload]
kind = "walk"

[extent.quick]
blocks = 2
slice_ms = 5

[[variant]]
name = "one"
url = "/items"
format = "odata-v4-json"
key = ["id"]

[[variant]]
name = "other"
baseline = "one"
url = "/items"
format = "odata-v4-json"
key = ["id"]
"#;

fn twice(server: &TestServer, out: &std::path::Path) -> RunOptions {
    let subject = |name: &str| (name.to_owned(), server.url("/items"));
    RunOptions {
        experiment: Experiment::parse(TWICE, "twice.toml").unwrap(),
        plan: PlanOptions { extent: Extent::Quick, ..PlanOptions::default() },
        out: Some(out.to_owned()),
        subjects: vec![subject("one"), subject("other")],
        ..options()
    }
}

fn stored(folder: &std::path::Path) -> RunResult {
    serde_json::from_slice(&std::fs::read(folder.join(RESULT)).unwrap()).unwrap()
}

/// Does something after this many trials.
struct After<F: Fn()> {
    trials: usize,
    act: F,
}

impl<F: Fn()> Observer for After<F> {
    fn progress(&self, progress: &Progress<'_>) {
        if matches!(progress, Progress::Trial { done, .. } if *done == self.trials) {
            (self.act)();
        }
    }
}

#[test]
fn a_run_measures_what_was_planned_and_stores_it() {
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions {
        subject_pids: vec![("one".to_owned(), std::process::id()), ("other".to_owned(), std::process::id())],
        ..twice(&server, folder.path())
    };
    let outcome = run(&options, &(), &StopFlag::new()).unwrap();
    assert_eq!(outcome.ending, Ending::Complete);
    let result = stored(&outcome.directory);
    assert_eq!((result.state, result.cells.len(), result.trials.len()), (State::Complete, 4, 2 * 2 * 2 * 2));
    for cell in &result.cells {
        assert_eq!((cell.rounds, cell.trials, cell.errors.len()), (2, 4, 0));
        let passes: u64 = result
            .trials
            .iter()
            .filter(|trial| trial.variant == cell.variant && trial.level == cell.level)
            .map(|trial| trial.units)
            .sum();
        assert_eq!(cell.requests, passes * (ITEMS + 1));
        let (list, detail) = (cell.list_bytes.unwrap(), cell.detail_bytes.unwrap());
        let bodies = list + ITEMS as f64 * detail;
        assert!(detail > 0.0 && list > detail && bodies < cell.bytes_per_unit, "{list} and {detail} without heads");
        let (list_ms, detail_ms) = (cell.list_time_ms.unwrap(), cell.detail_time_ms.unwrap());
        let mean_ms = (list_ms + ITEMS as f64 * detail_ms) / (ITEMS + 1) as f64;
        assert!((mean_ms / cell.response_time_ms.mean - 1.0).abs() < 0.02, "{list_ms} and {detail_ms} ms in {cell:?}");
        assert_eq!(cell.connections, cell.level * 2, "connections stay open for a block");
        assert!(cell.subject.is_some_and(|subject| subject.cpu_us_per_request.mean > 0.0 && subject.threads_max > 0));
    }
    assert!((result.settings.content_checked_share - 1.0).abs() < 1e-9);
    assert_eq!(result.settings.starts, 0, "the server was there already, whatever the plan says");
    let figures: Vec<_> = result.tolls.iter().map(|toll| (toll.level, toll.figure)).collect();
    assert_eq!(figures.len(), 2 * 3, "{figures:?}");
    let names: std::collections::BTreeSet<&str> = result.series.iter().map(|series| series.name.as_str()).collect();
    assert!(names.contains("response-time-max") && names.contains("subject-cpu-share"), "{names:?}");
    let log = std::fs::read_to_string(folder.path().join(HISTOGRAMS)).unwrap();
    assert_eq!(log.lines().filter(|line| line.starts_with("Tag=")).count(), result.trials.len());
    assert!(result.validity.iter().all(|doubt| doubt.rule != "littles-law"), "{:?}", result.validity);
}

#[test]
fn what_cannot_be_stored_is_shown_all_the_same() {
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    // A file where the folder was: nothing can be stored any more, as on a full disk.
    let act = || {
        std::fs::remove_dir_all(&out).unwrap();
        std::fs::write(&out, "").unwrap();
    };
    let outcome = run(&twice(&server, &out), &After { trials: 5, act }, &StopFlag::new()).unwrap();
    assert_eq!((outcome.ending, outcome.result.state), (Ending::LabFailed, State::Partial));
    assert!(outcome.result.trials.len() >= 5 && !outcome.result.cells.is_empty());
    let reason = outcome.result.reason.unwrap();
    assert!(reason.starts_with("the result cannot be written to "), "{reason}");
}

#[test]
fn a_killed_run_leaves_a_result_with_every_trial_that_was_told() {
    /// Reads the folder at each trial event, as a reader after a kill would.
    struct Look<'a>(&'a std::path::Path, Mutex<usize>);
    impl Observer for Look<'_> {
        fn progress(&self, progress: &Progress<'_>) {
            let Progress::Trial { done, .. } = progress else { return };
            let result = stored(self.0);
            assert_eq!((result.state, result.trials.len()), (State::Running, *done));
            let in_cells: u32 = result.cells.iter().map(|cell| cell.trials).sum();
            assert_eq!(in_cells as usize, *done);
            *self.1.lock().unwrap() += 1;
        }
    }
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let look = Look(folder.path(), Mutex::new(0));
    run(&twice(&server, folder.path()), &look, &StopFlag::new()).unwrap();
    assert_eq!(*look.1.lock().unwrap(), 16);
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_says_so() {
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let stop = StopFlag::new();
    let observer = After { trials: 5, act: || stop.stop() };
    let outcome = run(&twice(&server, folder.path()), &observer, &stop).unwrap();
    assert_eq!(outcome.ending, Ending::Interrupted);
    let result = stored(folder.path());
    assert_eq!((result.state, result.reason.as_deref()), (State::Partial, Some("it was interrupted")));
    assert_eq!(result.trials.len(), 5);
}

#[test]
fn a_subject_that_goes_away_leaves_a_partial_result_with_the_reason() {
    let server = Mutex::new(TestServer::start());
    let folder = tempfile::tempdir().unwrap();
    let options = twice(&server.lock().unwrap(), folder.path());
    let observer = After { trials: 3, act: || server.lock().unwrap().end() };
    let outcome = run(&options, &observer, &StopFlag::new()).unwrap();
    assert_eq!(outcome.ending, Ending::SubjectFailed);
    let result = stored(folder.path());
    assert_eq!(result.state, State::Partial);
    let reason = result.reason.unwrap();
    assert!(reason.starts_with("the subject of `o") && reason.contains("answers no more: "), "{reason}");
    let fault = result.validity.iter().find(|doubt| doubt.rule == "subject-died").unwrap();
    assert_eq!(fault.verdict, Verdict::Refused);
    assert!(result.trials.len() >= 3);
}

#[test]
fn a_subject_that_is_not_there_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let mut server = TestServer::start();
    let options = twice(&server, &out);
    server.end();
    let error = run(&options, &(), &StopFlag::new()).unwrap_err();
    assert!(matches!(error, RunError::Failed(_)));
    let text = error.to_string();
    assert!(text.starts_with("the subject of `one` gives no valid answer at http://127.0.0.1:"), "{text}");
    assert!(text.contains("refused"), "{text}");
    assert!(!out.exists());
}

#[test]
fn a_gateway_that_cannot_be_started_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = run(&RunOptions { out: Some(folder.path().join("run")), ..options() }, &(), &StopFlag::new());
    assert_eq!(
        error.unwrap_err(),
        RunError::Failed(
            "the subject of `rest-json` is not there: /nowhere/tollgate cannot be started: No such file or directory (os error 2)"
                .to_owned()
        )
    );
}

/// The same request by users whose connections are open for one trial only.
const PER_TRIAL: &str = r#"
name = "again"
question = "What does the same cost again?"

[factor]
name = "concurrency"
levels = [2, 5]

[workload]
kind = "request"
connections = "per-trial"

[extent.quick]
blocks = 2
slice_ms = 5
settle_ms = 1

[[variant]]
name = "one"
url = "/plain"
answer = { bytes = 5 }
"#;

#[test]
fn connections_for_one_trial_are_opened_before_it_and_a_length_is_asked_for_and_is_no_content() {
    let mut server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let options = |text: &str, out: &str| RunOptions {
        experiment: Experiment::parse(text, "again.toml").unwrap(),
        subjects: vec![("one".to_owned(), server.url("/plain"))],
        ..twice(&server, &folder.path().join(out))
    };
    let right = run(&options(PER_TRIAL, "right"), &(), &StopFlag::new()).unwrap();
    assert_eq!(right.ending, Ending::Complete);
    // A page of errors may be as long.
    assert!(right.result.settings.content_checked_share < 1e-9);
    assert!(right.result.validity.iter().any(|doubt| doubt.rule == "content" && doubt.remedy.contains("`contains`")));
    for cell in &right.result.cells {
        assert_eq!((cell.connections, cell.errors.len()), (cell.level, 0), "none is opened while time counts");
    }
    assert_eq!((right.result.warm_ups.len(), right.result.warm_ups[0].level), (1, 5));
    let wrong = run(&options(&PER_TRIAL.replace("bytes = 5", "bytes = 6"), "wrong"), &(), &StopFlag::new());
    let message = wrong.unwrap_err().to_string();
    assert!(message.contains("the answer has 5 bytes instead of 6"), "{message}");
    server.end();
    assert!(server.seen.at_once_max.load(std::sync::atomic::Ordering::Relaxed) <= 5);
}

#[test]
fn the_first_answers_of_a_server_of_the_users_are_the_model_of_all_others() {
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let silent = |name: &str, path: &str| format!("[[variant]]\nname = \"{name}\"\nurl = \"{}\"\n", server.url(path));
    let common = PER_TRIAL.split("[[variant]]").next().unwrap();
    let text = format!("{common}{}{}", silent("same", "/plain"), silent("other", "/growing"));
    let options = |own: OwnRequest, text: &str, out: &str| RunOptions {
        experiment: Experiment::parse(text, "again.toml").unwrap(),
        subjects: Vec::new(),
        own_request: own,
        ..twice(&server, &folder.path().join(out))
    };
    let own = |contains: Option<&str>| OwnRequest {
        contains: contains.map(str::to_owned),
        length: AnswerLength::AsFirst,
        ..OwnRequest::default()
    };
    let outcome = run(&options(own(None), &text, "silent"), &(), &StopFlag::new()).unwrap();
    assert!(outcome.result.cells.iter().all(|cell| cell.errors.is_empty()), "{:?}", outcome.result.cells);
    let learned = |name: &str| outcome.result.experiment.variant(name).unwrap().first_answers;
    assert_eq!(learned("same"), Some(FirstAnswers { bytes: Some(5), has_text: false }));
    assert_eq!(learned("other"), Some(FirstAnswers { bytes: None, has_text: false }));
    let wrong =
        run(&options(own(Some("no such text")), &text, "wrong"), &(), &StopFlag::new()).unwrap_err().to_string();
    assert!(wrong.starts_with("the subject of `same` gives no valid answer at http://127.0.0.1:"), "{wrong}");
    // What the user's own file says is asked.
    let said = text.replacen("/plain\"\n", "/plain\"\ncontains = \"nothing\"\n", 1);
    let wrong = run(&options(own(None), &said, "said"), &(), &StopFlag::new()).unwrap_err().to_string();
    assert!(wrong.contains("the answer does not contain `nothing`"), "{wrong}");
}

#[test]
fn a_list_of_the_users_is_walked_by_its_own_links_with_what_its_url_says() {
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let walk = |v2: &str, out: &str| RunOptions {
        plan: PlanOptions {
            extent: Extent::Quick,
            only: vec!["odata-v2-json".to_owned()],
            levels: Some(vec![1]),
            blocks: Some(2),
            ..PlanOptions::default()
        },
        out: Some(folder.path().join(out)),
        subjects: [("rest-json", "/items"), ("odata-v2-json", v2)]
            .map(|(name, path)| (name.to_owned(), server.url(path)))
            .into(),
        own_request: OwnRequest {
            details: vec![("rest-json".to_owned(), Template::parse("items/{id}").unwrap())],
            length: AnswerLength::AsFirst,
            ..OwnRequest::default()
        },
        ..options()
    };
    let outcome = run(&walk("/client?$top=9&client=7", "run"), &(), &StopFlag::new()).unwrap();
    let shares: Vec<(&str, usize, bool)> = outcome
        .result
        .cells
        .iter()
        .map(|cell| (cell.variant.as_str(), cell.errors.len(), cell.detail_bytes.is_some()))
        .collect();
    assert_eq!(shares, [("rest-json", 0, true), ("odata-v2-json", 0, true)]);
    let unverified: Vec<&str> = outcome
        .result
        .validity
        .iter()
        .filter(|doubt| doubt.rule == "content")
        .map(|doubt| doubt.variant.as_str())
        .collect();
    assert_eq!(unverified, ["odata-v2-json"], "nobody says what its key is");
    let error = run(&walk("/client", "refused"), &(), &StopFlag::new()).unwrap_err().to_string();
    assert!(error.contains("`odata-v2-json` gives no valid answer") && error.contains("400"), "{error}");
}

#[test]
fn entities_are_left_out_by_their_status_and_counted() {
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let walk = |leave_out: &[u16], path: &str, out: &str| {
        let mut options = twice(&server, &folder.path().join(out));
        options.subjects = ["one", "other"].map(|name| (name.to_owned(), server.url(path))).into();
        options.own_request.leave_out = leave_out.to_vec();
        run(&options, &(), &StopFlag::new())
    };
    let found = walk(&[404, 410], "/thinned", "left").unwrap().result;
    for cell in &found.cells {
        assert_eq!((cell.errors.len(), cell.left_out_per_unit), (0, Some(1.0)), "{cell:#?}");
    }
    let page = tollgate_report::render("terminal", &found, crate::kinds::page, &Default::default());
    assert!(page.contains("one: 1.00 entities of a pass were left out because of their status"), "{page}");
    let found = walk(&[410], "/thinned", "failed").unwrap().result;
    assert!(found.cells.iter().all(|cell| cell.errors.contains_key("status-404") && cell.left_out_per_unit.is_none()));
    let error = walk(&[404], "/gone", "nothing").unwrap_err().to_string();
    assert!(error.contains("of which every entity is left out by its status"), "{error}");
}

/// Users who take two steps; the second is not always answered as expected.
const TWO_STEPS: &str = r#"
name = "two"
question = "What do two steps cost?"

[factor]
name = "concurrency"
levels = [1]

[workload]
kind = "scenario"

[extent.quick]
blocks = 2
slice_ms = 5

[[variant]]
name = "one"
url = "/items"

[[scenario]]
name = "two"

[[scenario.setup]]
name = "login"
path = "login"

[[scenario.step]]
name = "look"
path = "items"

[[scenario.step]]
name = "order"
path = "items?token=hidden"
body = "1"
"#;

#[test]
fn a_scenario_of_which_no_iteration_is_whole_is_not_measured_and_the_answer_is_told() {
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let options = |from: &str, to: &str| RunOptions {
        experiment: Experiment::parse(&TWO_STEPS.replace(from, to), "two.toml").unwrap(),
        subjects: vec![("one".to_owned(), server.url("/items"))],
        ..twice(&server, &folder.path().join("run"))
    };
    let check = |from: &str, to: &str, what: &str, how: &str| {
        let error = run(&options(from, to), &(), &StopFlag::new()).unwrap_err().to_string();
        assert!(error.contains(what) && error.ends_with(how), "{error}");
        assert!(!folder.path().join("run").exists());
    };
    let none = "the subject of `one` answers no whole iteration at http://127.0.0.1:";
    let body = "body = \"1\"";
    let asked = "step `order`: POST /items?token=…";
    check(body, &format!("{body}\nstatus = \"201\""), none, &format!("{asked} answered 200, 201 was wanted: plain"));
    let assert = format!("{body}\nassert = [{{ contains = \"id\" }}]");
    let what = "the body does not contain what it should \"id\": \"plain\"";
    check(body, &assert, none, &format!("{asked}: {what}"));
    let login = "setup or teardown, step `login`: GET /login answered 200, 204 was wanted: plain";
    check("\"login\"\n\n", "\"login\"\nstatus = \"204\"\n\n", "gives no valid answer", login);
    // What fails under load does not end the run, and its text stands beside its count.
    let sometimes = run(&options("items?token=hidden", "every-third-fails"), &(), &StopFlag::new()).unwrap();
    assert_eq!(sometimes.ending, Ending::Complete);
    let played = sometimes.result.cells[0].played.as_ref().unwrap();
    let example = &played.steps[1].error_examples["status-503"];
    assert_eq!(example, "step `order`: POST /every-third-fails answered 503, 2xx was wanted: plain");
}

/// Work of one user in three blocks, with these connection settings.
fn of_one_user(workload: &str, steps: &str) -> String {
    format!(
        "name = \"lives\"\nquestion = \"How long do connections live?\"\n[factor]\nname = \"concurrency\"\nlevels = [1]\n\
         [workload]\n{workload}\n[extent.quick]\nblocks = 3\nslice_ms = 5\nsettle_ms = 5\nstarts = 3\n\
         [[variant]]\nname = \"one\"\nurl = \"/items\"\n{steps}"
    )
}

#[test]
fn connections_live_as_long_as_is_asked_and_no_new_one_is_opened_while_time_counts() {
    let check = |kind: &str, connections: &str, steps: &str, expected: (usize, u64)| {
        let mut server = TestServer::start();
        let folder = tempfile::tempdir().unwrap();
        let workload = format!("kind = \"{kind}\"\n{connections}");
        let options = RunOptions {
            experiment: Experiment::parse(&of_one_user(&workload, steps), "lives.toml").unwrap(),
            subjects: vec![("one".to_owned(), server.url("/items"))],
            ..twice(&server, &folder.path().join("run"))
        };
        let result = run(&options, &(), &StopFlag::new()).unwrap().result;
        server.end();
        let ports = server.seen.ports.lock().unwrap().clone();
        let opened = server.counters.connections_accepted();
        assert_eq!((ports.len(), opened as usize), (expected.0, expected.0), "{kind} {connections}: {ports:?}");
        let cell = &result.cells[0];
        assert_eq!((cell.connections, cell.trials, cell.errors.len()), (expected.1, 6, 0), "{kind} {connections}");
        assert!(result.validity.iter().all(|doubt| doubt.rule != "fresh-connections"), "{:?}", result.validity);
        let starts: Vec<u32> = result.trials.iter().map(|trial| trial.start).collect();
        let expected = if connections.contains("per-start") { [0, 0, 1, 1, 2, 2] } else { [0; 6] };
        assert_eq!((starts, result.settings.starts), (expected.to_vec(), 0), "{kind} {connections}");
    };
    let keyed = "format = \"odata-v4-json\"\nkey = [\"id\"]\n";
    let steps = "[[scenario]]\nname = \"asking\"\n[[scenario.step]]\nname = \"ask\"\npath = \"x\"\n";
    let thinking = &format!("{steps}think = {{ ms = 1, distribution = \"constant\" }}\n");
    // One of the warm-up, and one of each block.
    check("request", "", "", (4, 3));
    check("walk", "", keyed, (4, 3));
    check("scenario", "", steps, (4, 3));
    check("scenario", "", thinking, (4, 3));
    check("request", "connections = \"per-start\"", "", (3, 3));
    check("scenario", "connections = \"kept\"", thinking, (1, 1));
    check("request", "connections = \"kept\"", "", (1, 1));
}

#[test]
fn an_open_variant_is_offered_what_its_closed_one_had_in_its_trials_so_far() {
    let server = TestServer::start();
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"models\"\nquestion = \"Who waits?\"\nfactor = { name = \"concurrency\", levels = [2] }\n\
                workload = { kind = \"scenario\" }\nextent = { quick = { blocks = 3, slice_ms = 100 } }\n\
                [[variant]]\nname = \"open\"\nbaseline = \"closed\"\nurl = \"/items\"\n\
                model = { rate_of = \"closed\", arrivals = \"constant\" }\n\
                [[variant]]\nname = \"closed\"\nurl = \"/items\"\n\
                [[scenario]]\nname = \"asking\"\n[[scenario.step]]\nname = \"ask\"\npath = \"x\"\nthink = { ms = 2 }\n";
    let options = RunOptions {
        experiment: Experiment::parse(text, "models.toml").unwrap(),
        subjects: ["open", "closed"].map(|name| (name.to_owned(), server.url("/items"))).into(),
        ..twice(&server, folder.path())
    };
    let result = run(&options, &(), &StopFlag::new()).unwrap().result;
    assert_eq!(result.trials[0].variant, "closed", "it goes before");
    let (mut units, mut wall_s, mut due) = (0.0, 0.0, 0.0);
    for trial in &result.trials {
        if trial.variant == "closed" {
            (units, wall_s) = (units + trial.units as f64, wall_s + trial.duration_ms / 1e3);
        } else {
            due += units / wall_s * 0.1;
        }
    }
    let played = |name: &str| result.cell(name, 2).and_then(|cell| cell.played.clone()).unwrap();
    let offered = played("open").offered.expect("it is at a rate");
    // Whole iterations, of each of six trials.
    assert!((offered.intended as f64 - due).abs() <= 6.0, "{} were due, not {due}", offered.intended);
    assert_eq!((played("closed").offered, offered.users_max), (None, 200));
    let model = result.experiment.variant("open").and_then(|variant| variant.model.clone()).unwrap();
    assert_eq!(model.words(), "open: at the throughput of `closed` (constant), by at most 200 users");
    assert!(result.experiment.variants.iter().any(|variant| variant.model.is_none()));
    // Rules of a rate are those of the one, rules of users who wait of the other.
    let about =
        |rule: &str| result.validity.iter().filter(|doubt| doubt.rule == rule).all(|doubt| doubt.variant == "open");
    assert!(["unstarted", "begun-late"].into_iter().all(about), "{:?}", result.validity);
}
