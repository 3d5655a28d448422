//! Whole runs: a toll that is there is found with its size, one that is not is not, wrong answers are errors, and a
//! subject that stalls or dies shows.

use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tollgate_lab::experiment::Experiment;
use tollgate_lab::plan::{Extent, PlanOptions};
use tollgate_lab::results::{Figure, RunResult, State, Toll, TollVerdict};
use tollgate_lab::run::{Certificates, Ending, Observer, Progress, RunOptions, RunOutcome, StopFlag, run};

use crate::server::{TruthServer, truth_server};

/// Requests of a pass: the list, and every entity.
const PASS_REQUESTS: u64 = 21;

/// An experiment that walks two classes of the server, the first being the other's baseline.
fn experiment(server: &TruthServer, baseline: &str, variant: &str) -> Experiment {
    let walk = |name: &str, class: &str, baseline: &str| {
        let url = server.url(&format!("{class}/items"));
        format!(
            "[[variant]]\nname = \"{name}\"\n{baseline}url = \"{url}\"\nformat = \"json\"\ndetail = \"items/{{id}}\"\nkey = [\"id\"]\n"
        )
    };
    let text = format!(
        "name = \"truth\"\nquestion = \"Is it true?\"\n[factor]\nname = \"concurrency\"\nlevels = [1]\n\
         [workload]\nkind = \"walk\"\n{}{}",
        walk("bottom", baseline, ""),
        walk("top", variant, "baseline = \"bottom\"\n"),
    );
    Experiment::parse(&text, "truth.toml").unwrap()
}

fn measure(
    server: &TruthServer,
    experiment: Experiment,
    rounds: u32,
    observer: &dyn Observer,
) -> (RunOutcome, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions {
        experiment,
        plan: PlanOptions { extent: Extent::Quick, rounds: Some(rounds), ..PlanOptions::default() },
        out: Some(folder.path().join("run")),
        subjects: Vec::new(),
        subject_pids: vec![("bottom".to_owned(), server.pid()), ("top".to_owned(), server.pid())],
        headers: Vec::new(),
        basic: None,
        certificates: Certificates::Verified,
        may_load: Vec::new(),
        seed: Some(1),
        command_line: Vec::new(),
        // Never started: every subject is a URL.
        serve_program: "nothing".into(),
        version: "test".to_owned(),
    };
    let outcome = run(&options, observer, &StopFlag::new()).unwrap();
    (outcome, folder)
}

fn toll(result: &RunResult, figure: Figure) -> &Toll {
    result
        .tolls
        .iter()
        .find(|toll| toll.figure == figure)
        .unwrap_or_else(|| panic!("no {figure:?} in {:#?}", result.tolls))
}

#[test]
fn what_is_200_us_dearer_is_found_with_its_size() {
    let server = truth_server();
    let experiment = experiment(&server, "burn-300", "burn-500");
    let (outcome, _folder) = measure(&server, experiment, 8, &());
    let result = &outcome.result;
    assert_eq!((outcome.ending, result.state), (Ending::Complete, State::Complete));

    let truth = |class: &str| {
        let did = server.did(class);
        did.count("burned_ns") as f64 / 1e3 / did.count("received") as f64
    };
    let dearer_us = truth("burn-500") - truth("burn-300");
    assert!((dearer_us - 200.0).abs() < 1.0, "the server itself was wrong: {dearer_us}");

    let cpu = toll(result, Figure::SubjectCpu);
    assert!(matches!(cpu.verdict, TollVerdict::Dearer | TollVerdict::Joint), "{cpu:#?}");
    assert!((cpu.difference - dearer_us).abs() <= 0.1 * dearer_us, "in truth {dearer_us} us: {cpu:#?}");
    let time = toll(result, Figure::UnitTime);
    assert!(matches!(time.verdict, TollVerdict::Dearer | TollVerdict::Joint), "{time:#?}");
    // At one connection the pass takes longer by what each of its requests burns longer, and not less.
    let pass_ms = PASS_REQUESTS as f64 * dearer_us / 1e3;
    assert!(time.difference >= 0.9 * pass_ms, "in truth {pass_ms} ms: {time:#?}");
}

#[test]
fn the_same_thing_twice_has_no_toll() {
    // Of runs that see a toll where there is none, 5 in 100 are due. More than two of four: 1 in 2,000.
    let server = truth_server();
    let mut seen = 0;
    for _ in 0..4 {
        let (outcome, _folder) = measure(&server, experiment(&server, "burn-200", "burn-200,size-0"), 8, &());
        assert_eq!(outcome.ending, Ending::Complete);
        seen += usize::from(outcome.result.tolls.iter().any(|toll| toll.p_adjusted < 0.05));
        let bytes = toll(&outcome.result, Figure::Bytes);
        assert!(bytes.difference.abs() < 0.5, "every pass has the same bytes: {bytes:#?}");
    }
    assert!(seen <= 2, "{seen} of 4 runs saw a toll");
}

#[test]
fn counts_of_a_run_are_the_servers_own() {
    let server = truth_server();
    let (outcome, _folder) = measure(&server, experiment(&server, "plain", "errors-20"), 2, &());
    for (variant, class) in [("bottom", "plain"), ("top", "errors-20")] {
        let cell = outcome.result.cells.iter().find(|cell| cell.variant == variant).unwrap();
        let measured: u64 = cell.requests + cell.errors.values().sum::<u64>();
        let did = server.did(class);
        // The warm-up is asked too, and is in no figure.
        assert!(measured <= did.count("received"), "{variant}: {measured} of {did:?}");
        assert_eq!(did.count("in_flight_max"), 1);
        let of_trials: u64 =
            outcome.result.trials.iter().filter(|trial| trial.variant == variant).map(|trial| trial.requests).sum();
        assert_eq!(cell.requests, of_trials);
    }
    let top = outcome.result.cells.iter().find(|cell| cell.variant == "top").unwrap();
    assert!(top.errors.contains_key("status-500"), "{:?}", top.errors);
    let time = toll(&outcome.result, Figure::UnitTime);
    assert_eq!(time.verdict, TollVerdict::Refused, "2 % of errors suppress the ratio");
}

#[test]
fn another_entity_than_the_one_asked_for_is_an_error() {
    let server = truth_server();
    let (outcome, _folder) = measure(&server, experiment(&server, "plain", "wrong-50"), 2, &());
    let top = outcome.result.cells.iter().find(|cell| cell.variant == "top").unwrap();
    assert!(top.errors.get("content").is_some_and(|count| *count > 0), "{:?}", top.errors);
    let bottom = outcome.result.cells.iter().find(|cell| cell.variant == "bottom").unwrap();
    assert!(bottom.errors.is_empty(), "{:?}", bottom.errors);
}

/// Does something to the server at the third trial.
struct AtThirdTrial<F: Fn()>(F, Cell<usize>);

impl<F: Fn()> Observer for AtThirdTrial<F> {
    fn progress(&self, progress: &Progress<'_>) {
        if matches!(progress, Progress::Trial { .. }) {
            self.1.set(self.1.get() + 1);
            if self.1.get() == 3 {
                (self.0)();
            }
        }
    }
}

#[test]
fn a_subject_that_stands_still_for_300_ms_shows_in_max_and_over_time() {
    const STALL: Duration = Duration::from_millis(300);
    let server = truth_server();
    let pid = Pid::from_raw(i32::try_from(server.pid()).unwrap()).unwrap();
    let stall = || {
        kill_process(pid, Signal::STOP).unwrap();
        std::thread::spawn(move || {
            // Nobody sends: this is the stall itself, not a wait for something.
            let (_sender, receiver) = mpsc::channel::<()>();
            let _ = receiver.recv_timeout(STALL);
            kill_process(pid, Signal::CONT).unwrap();
        });
    };
    let observer = AtThirdTrial(stall, Cell::new(0));
    let (outcome, _folder) = measure(&server, experiment(&server, "plain", "size-0"), 4, &observer);
    assert_eq!(outcome.ending, Ending::Complete);
    let least_ms = STALL.as_secs_f64() * 1e3 * 0.9;
    let max = outcome.result.cells.iter().map(|cell| cell.response_time_ms.max).fold(0.0, f64::max);
    assert!(max >= least_ms, "max is {max} ms");
    let over_time = outcome.result.series.iter().filter(|series| series.name == "response-time-max");
    let peak = over_time.flat_map(|series| &series.points).map(|(_, value)| *value).fold(0.0, f64::max);
    assert!(peak >= least_ms, "the time line's peak is {peak} ms");
}

#[test]
fn a_subject_that_is_killed_leaves_a_partial_result_with_its_name() {
    let server = truth_server();
    let kill = || server.signal(Signal::KILL);
    let observer = AtThirdTrial(kill, Cell::new(0));
    let (outcome, folder) = measure(&server, experiment(&server, "plain", "size-0"), 8, &observer);
    assert_eq!((outcome.ending, outcome.result.state), (Ending::SubjectFailed, State::Partial));
    let reason = outcome.result.reason.clone().unwrap_or_default();
    assert!(reason.contains("bottom") || reason.contains("top"), "{reason}");
    assert!(outcome.result.trials.len() >= 3);
    let stored = std::fs::read_to_string(folder.path().join("run/result.json")).unwrap();
    assert_eq!(serde_json::from_str::<RunResult>(&stored).unwrap(), outcome.result);
}
