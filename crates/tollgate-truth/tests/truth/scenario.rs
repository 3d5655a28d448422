//! Cost of scenarios: a subject burns much before and after the counted part, and only that part is reported.

use tollgate_facts::results::Verdict;
use tollgate_lab::experiment::Experiment;
use tollgate_lab::run::Ending;

use crate::run::{burned_us, measure};
use crate::server::{TruthServer, truth_server};

/// Burn of each user before the counted part and afterwards: a hundred times that of an iteration.
const ASIDE: &str = "burn-100000";
/// Burn of an iteration.
const COUNTED: &str = "burn-1000";

/// A scenario of one step, without a setup and a teardown and with them, for levels and a load that are given.
fn experiment(server: &TruthServer, head: &str) -> Experiment {
    let url = server.url("plain/");
    let variant = |name: &str, baseline: &str, scenario: &str| {
        format!("[[variant]]\nname = \"{name}\"\n{baseline}url = \"{url}\"\nscenario = \"{scenario}\"\n")
    };
    let step = |phase: &str, name: &str, class: &str| {
        format!("[[scenario.{phase}]]\nname = \"{name}\"\npath = \"/{class}/items\"\n")
    };
    let text = format!(
        "name = \"truth\"\nquestion = \"Is it true?\"\n{head}[workload]\nkind = \"scenario\"\n{}{}\
         [[scenario]]\nname = \"bare\"\n{}[[scenario]]\nname = \"wrapped\"\n{}{}{}",
        variant("bottom", "", "bare"),
        variant("top", "baseline = \"bottom\"\n", "wrapped"),
        step("step", "ask", COUNTED),
        step("setup", "come", ASIDE),
        step("step", "ask", COUNTED),
        step("teardown", "go", ASIDE),
    );
    Experiment::parse(&text, "truth.toml").unwrap()
}

fn check(head: &str) {
    let server = truth_server();
    let (outcome, _folder) = measure(&server, experiment(&server, head), 1, &());
    assert_eq!(outcome.ending, Ending::Complete);
    let (result, truth_us) = (outcome.result, burned_us(&server, COUNTED));
    assert!(server.did(ASIDE).count("received") >= 4, "setup and teardown were done in each trial");
    for cell in &result.cells {
        assert!(cell.errors.is_empty(), "{:?}", cell.errors);
        let found_us = cell.subject.expect("it is watched").cpu_us_per_request.mean;
        // With one setup in it, it would be three times the truth at least. The truth is over the warm-up as
        // well, and either may hold what the host took in a burn.
        assert!((0.7..2.0).contains(&(found_us / truth_us)), "{}: {found_us} us, in truth {truth_us}", cell.variant);
    }
    let looks = result.series.iter().filter(|series| series.name == "subject-resident-memory");
    let looks: Vec<f64> = looks.flat_map(|series| &series.points).map(|(at_ms, _)| *at_ms).collect();
    let of_a_trial = |at_ms: &&f64| {
        let counts = |start_ms: f64, duration_ms: f64| (start_ms..=start_ms + duration_ms).contains(*at_ms);
        result.trials.iter().any(|trial| counts(trial.start_ms, trial.duration_ms))
    };
    // One that is begun at the very end may be over a moment later.
    let within = looks.iter().filter(of_a_trial).count();
    assert!(within * 4 >= looks.len() * 3 && within > 0, "{within} of {} looks: {looks:?}", looks.len());
}

#[test]
fn setup_and_teardown_are_in_no_cpu_time_of_users_who_wait() {
    check("[factor]\nname = \"concurrency\"\nlevels = [1]\n[extent.quick]\nslice_ms = 50\n");
}

#[test]
fn setup_and_teardown_are_in_no_cpu_time_at_a_rate() {
    check("[factor]\nname = \"rate\"\nlevels = [100]\n[load]\nusers_max = 2\n[extent.quick]\nslice_ms = 500\n");
}

#[test]
fn trials_beyond_what_a_server_can_do_are_refused_and_have_no_percentiles() {
    let server = truth_server();
    // It can do 250 a second, one after another, and none of 400 is left out.
    let text = format!(
        "name = \"truth\"\nquestion = \"Is it true?\"\n[factor]\nname = \"rate\"\nlevels = [400]\n[load]\nusers_max = 1000\n\
         [workload]\nkind = \"scenario\"\n[extent.quick]\nslice_ms = 1000\n[[variant]]\nname = \"bottom\"\n\
         url = \"{}\"\n[[scenario]]\nname = \"asking\"\n[[scenario.step]]\nname = \"ask\"\npath = \"x\"\nstatus = 200\n",
        server.url("constant-4000,queue-1/")
    );
    let (outcome, _folder) = measure(&server, Experiment::parse(&text, "truth.toml").unwrap(), 2, &());
    let (result, cell) = (&outcome.result, &outcome.result.cells[0]);
    let steady = result.validity.iter().find(|found| found.rule == "steady").map(|found| found.verdict);
    assert_eq!(steady, Some(Verdict::Refused), "{:#?}", result.validity);
    let times = [cell.response_time_ms, cell.played.as_ref().unwrap().iteration_time_ms];
    assert!(times.iter().all(|times| times.by_quantile().iter().all(|(_, time)| time.is_none())), "{times:?}");
}

#[test]
fn the_example_of_open_beside_closed_runs_as_it_is_written_and_its_server_did_what_is_counted() {
    let server = truth_server();
    let text = include_str!("../../../../examples/open-and-closed.toml");
    let mut text = text.replace("127.0.0.1:9377", &format!("127.0.0.1:{}", server.port()));
    for (from, to) in [("closed-constant", "bottom"), ("open-constant", "top"), ("slice_ms = 2000", "slice_ms = 200")] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let (outcome, _folder) = measure(&server, Experiment::parse(&text, "example.toml").unwrap(), 1, &());
    assert_eq!(outcome.ending, Ending::Complete);
    let result = outcome.result;
    let counted = |variant: &str| {
        let cell = result.cell(variant, 3).expect("it was measured");
        let played = cell.played.as_ref().expect("it is a scenario");
        assert!(cell.errors.is_empty() && played.iterations > 0, "{cell:?}");
        if let Some(offered) = &played.offered {
            assert_eq!(offered.intended - offered.unstarted, played.iterations, "{variant}");
        }
        assert_eq!(played.offered.is_some(), ["top", "open-varied"].contains(&variant), "{variant}");
        played.iterations
    };
    for (class, variants) in
        [("constant-1900,queue-1", ["bottom", "top"]), ("bimodal-1000,queue-1", ["closed-varied", "open-varied"])]
    {
        let (told, did) = (variants.map(counted).iter().sum::<u64>(), server.did(class).count("received"));
        assert!(told <= did, "{told} of {did}");
    }
}
