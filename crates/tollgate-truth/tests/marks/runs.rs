//! Faults that only a run can show: of scenarios, of the time before a trial, and of the load at equal rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

use tollgate_facts::results::{EqualRate, IterationsOffered, Percentiles, RunResult, Validity, Verdict};
use tollgate_lab::cores::Cores;
use tollgate_lab::experiment::Experiment;
use tollgate_lab::plan::{Extent, PlanOptions};
use tollgate_lab::probe::system::Ticks;
use tollgate_lab::run::{Ending, Observer, Progress, RunOptions, StopFlag, run};

use crate::burning::{Alone, Burning};
use crate::server::{Answering, SOUND, Server};
use std::time::Duration;

/// Runs what is written, of a server that all its variants are, each at a path of its name.
fn measure(server: &Server, text: &str) -> RunResult {
    let folder = tempfile::tempdir().unwrap();
    measure_in(&folder, server, text, &())
}

/// Says when users who wait have had their trials, and the load at equal rate comes.
struct AfterTrials(usize, Arc<AtomicBool>);

impl Observer for AfterTrials {
    fn progress(&self, progress: &Progress<'_>) {
        if matches!(progress, Progress::Trial { done, .. } if *done == self.0) {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

/// The same, and reports after a number of trials that they are over.
pub(crate) fn measure_and_say(server: &Server, text: &str, trials: usize, over: &Arc<AtomicBool>) -> RunResult {
    let folder = tempfile::tempdir().unwrap();
    measure_in(&folder, server, text, &AfterTrials(trials, Arc::clone(over)))
}

/// The same with the files of a folder.
fn measure_in(folder: &TempDir, server: &Server, text: &str, observer: &dyn Observer) -> RunResult {
    let file = folder.path().join("mine.toml");
    let head = "name = \"mine\"\nquestion = \"Is it marked?\"\n";
    let experiment = Experiment::parse(&format!("{head}{text}"), file.to_str().unwrap()).unwrap();
    let of_server = |name: &str| format!("http://{}/{name}", server.address);
    let options = RunOptions {
        subjects: experiment.variants.iter().map(|variant| (variant.name.clone(), of_server(&variant.name))).collect(),
        plan: PlanOptions { extent: Extent::Quick, ..PlanOptions::default() },
        out: Some(folder.path().join("run")),
        // Never started: the subject is a URL.
        ..RunOptions::of(experiment, "nothing".into())
    };
    let outcome = run(&options, observer, &StopFlag::new()).unwrap();
    assert_eq!(outcome.ending, Ending::Complete);
    outcome.result
}

/// The doubt of a rule, which must be there with its number beyond its bound and with its remedy.
pub(crate) fn doubt<'r>(run: &'r RunResult, rule: &str) -> &'r Validity {
    let found = run.validity.iter().find(|doubt| doubt.rule == rule);
    let found = found.unwrap_or_else(|| panic!("no mark `{rule}`: {:#?}", run.validity));
    assert!(!found.remedy.is_empty() && found.reason.contains(char::is_numeric), "{found:?}");
    assert!((found.value - found.bound).abs() > 0.0, "{found:?}");
    found
}

/// One step again and again at a rate, by trials of `trial_ms` milliseconds.
fn at_a_rate(per_second: u32, users_max: u32, trial_ms: u32) -> String {
    format!(
        "[factor]\nname = \"rate\"\nlevels = [{per_second}]\n[load]\nusers_max = {users_max}\n{}",
        scenario(trial_ms, "")
    )
}

fn scenario(slice_ms: u32, feed: &str) -> String {
    format!(
        "[workload]\nkind = \"scenario\"\n[extent.quick]\nblocks = 1\nslice_ms = {slice_ms}\n\
         [[variant]]\nname = \"service\"\nurl = \"/\"\n[[scenario]]\nname = \"asking\"\n{feed}\
         [[scenario.step]]\nname = \"ask\"\npath = \"x\"\nassert = [{{ contains = \"right\" }}]\n"
    )
}

fn offered(run: &RunResult) -> &IterationsOffered {
    run.cells[0].played.as_ref().unwrap().offered.as_ref().unwrap()
}

#[test]
fn iterations_that_no_user_was_free_for_are_refused_and_more_users_asked_for() {
    let server = Server::start(Answering { takes: Duration::from_millis(400), ..SOUND });
    let run = measure(&server, &at_a_rate(100, 1, 1000));
    // One user has three of 100 a second at most, in two trials.
    let found = doubt(&run, "unstarted");
    assert_eq!(found.verdict, Verdict::Refused);
    // A generator that was held up for a tenth of an answer's time is what wants mending first.
    if offered(&run).overdue_ms.mean > 40.0 {
        eprintln!("left out: the generator was held up: {:?}", offered(&run).overdue_ms);
        return;
    }
    assert!(found.remedy.contains("users_max"), "{found:?}");
    assert!(offered(&run).unstarted > offered(&run).intended / 2, "{run:#?}");
}

#[test]
fn iterations_that_wait_for_users_are_marked_and_more_users_asked_for() {
    let server = Server::start(Answering { takes: Duration::from_millis(20), ..SOUND });
    // Two users have 100 of 200 a second: the last ones of a trial are begun a second after they are due.
    let run = measure(&server, &at_a_rate(200, 2, 2000));
    let found = doubt(&run, "begun-late");
    let offered = offered(&run);
    assert!(offered.users <= offered.users_max as f64, "{offered:?}");
    // A machine that does something else may hold the generator up as well, and then that is refused.
    let Percentiles { p50, p90, p95, .. } = offered.overdue_ms;
    if [p50, p90, p95].into_iter().flatten().any(|late_ms| late_ms > 50.0) {
        eprintln!("left out: the generator was held up: {:?}", offered.overdue_ms);
        return;
    }
    assert_eq!(found.verdict, Verdict::Marked, "{found:?} {offered:?}");
    assert!(found.remedy.contains("users_max"), "{found:?}");
}

#[test]
fn connections_that_the_server_closes_are_marked_at_a_rate_however_many_users_there_might_be() {
    let server = Server::start(Answering { answers_a_connection: 1, ..SOUND });
    let run = measure(&server, &at_a_rate(50, 200, 1000));
    // Of 100 connections no more than 50 are those of users who came: a trial needs no more.
    let found = doubt(&run, "fresh-connections");
    assert_eq!(found.verdict, Verdict::Marked);
    assert!(found.value >= 0.5 && run.cells[0].connections >= 100, "{found:?}");
}

#[test]
fn a_feed_that_ends_before_the_trial_does_is_marked() {
    let server = Server::start(SOUND);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("three.csv"), "name\none\ntwo\nthree\n").unwrap();
    let feed = "[[scenario.feed]]\nfile = \"three.csv\"\norder = \"unique\"\nend = \"stop\"\n";
    // Far longer than three answers take on any machine: the rows cut it short.
    let text = format!("[factor]\nname = \"concurrency\"\nlevels = [1]\n{}", scenario(10_000, feed));
    let run = measure_in(&folder, &server, &text, &());
    let found = doubt(&run, "rows");
    assert_eq!(found.verdict, Verdict::Marked);
    // Each of the two trials begins with the first row.
    assert_eq!((found.value as u64, run.cells[0].requests), (2, 6), "{run:#?}");
}

/// One request by users whose connections are open for one trial, in slices that grow with them.
fn per_trial(users: u32) -> String {
    format!(
        "[factor]\nname = \"concurrency\"\nlevels = [{users}]\n\
         [workload]\nkind = \"request\"\ncontains = \"right\"\nconnections = \"per-trial\"\n\
         [extent.quick]\nblocks = 1\nslice_ms = 50\nsettle_ms = 1000\n\
         [[variant]]\nname = \"service\"\nurl = \"/\"\n"
    )
}

#[test]
fn users_who_are_answered_a_few_times_in_a_trial_are_marked() {
    let server = Server::start(Answering { takes: Duration::from_millis(100), ..SOUND });
    // Also where connections last for a block, and of users who play a scenario without thinking.
    let request = per_trial(4).replace("connections = \"per-trial\"\n", "").replace("settle_ms = 1000\n", "");
    let steps = "[[scenario]]\nname = \"asking\"\n[[scenario.step]]\nname = \"ask\"\npath = \"x\"\n";
    let scenario = request.replace("\"request\"\ncontains = \"right\"", "\"scenario\"") + steps;
    for text in [per_trial(4), request, scenario] {
        let run = measure(&server, &text);
        let found = doubt(&run, "few-rounds");
        assert_eq!(found.verdict, Verdict::Marked);
        // A slice of a quick run grows to 600 ms at most, and what was begun in it is waited for.
        assert!(found.value <= 7.0, "{found:?}");
    }
}

#[test]
fn a_server_that_still_gets_faster_after_a_warm_up_is_marked() {
    // On a machine that is full of others' work a course may look steady for a while: then a further one is measured.
    let unsteady = (0..4).find_map(|_| {
        let (takes, halves_each) = (Duration::from_millis(400), Some(Duration::from_secs(2)));
        let server = Server::start(Answering { takes, halves_each, ..SOUND });
        let run = measure(
            &server,
            "[factor]\nname = \"concurrency\"\nlevels = [8]\n[workload]\nkind = \"request\"\ncontains = \"right\"\n\
             [extent.quick]\nblocks = 1\nslice_ms = 100\n[[variant]]\nname = \"service\"\nurl = \"/x\"\n",
        );
        run.validity.into_iter().find(|doubt| doubt.rule == "warm-up")
    });
    let unsteady = unsteady.expect("it was told of one of four");
    assert_eq!((unsteady.verdict, unsteady.value as u32), (Verdict::Marked, 1), "{unsteady:?}");
}

#[test]
fn a_server_that_goes_on_getting_faster_while_it_is_measured_is_marked() {
    let halves_each = Some(Duration::from_secs(6));
    let server = Server::start(Answering { takes: Duration::from_millis(20), halves_each, ..SOUND });
    let run = measure(
        &server,
        "[factor]\nname = \"concurrency\"\nlevels = [2]\n[workload]\nkind = \"request\"\ncontains = \"right\"\n\
         [extent.quick]\nblocks = 16\nslice_ms = 100\n[[variant]]\nname = \"steady\"\nurl = \"/steady\"\n\
         [[variant]]\nname = \"service\"\nurl = \"/x\"\nbaseline = \"steady\"\n",
    );
    // However long the warm-up took, and whether it saw it or not.
    let found = doubt(&run, "drift");
    assert_eq!(found.verdict, Verdict::Marked);
    assert!(found.value > found.bound && found.reason.contains("time over steady"), "{found:?}");
    let drift = run.tolls[0].drift.unwrap();
    assert!(drift.change < -0.05 && drift.p < 0.01, "{drift:?}");
}

#[test]
fn failures_while_connections_are_opened_before_a_trial_are_told() {
    let server = Server::start(Answering { each_fails: 2, ..SOUND });
    let run = measure(&server, &per_trial(2));
    let found = doubt(&run, "settling");
    assert_eq!(found.verdict, Verdict::Marked);
    assert!(found.reason.contains("status-500"), "{found:?}");
}

#[test]
fn failures_at_equal_rate_refuse_what_is_said_of_it() {
    let server = Server::start(Answering { each_fails: 2, ..SOUND });
    let run = measure(&server, &at_equal_rate(0.2, 500, ""));
    let found = doubt(&run, "rate-errors");
    assert_eq!(found.verdict, Verdict::Refused);
    let rate = equal_rate(&run);
    assert!(rate.errors["status-500"] > 0 && rate.generator.cpu_share > 0.0, "{rate:#?}");
}

#[test]
fn wrong_bodies_among_right_ones_refuse_what_is_said_of_equal_rate() {
    let server = Server::start(Answering { each_errs: 10, ..SOUND });
    let run = measure(&server, &at_equal_rate(0.2, 500, ""));
    let found = doubt(&run, "rate-content");
    assert_eq!((found.verdict, found.value as u64), (Verdict::Refused, equal_rate(&run).errors["content"]));
}

#[test]
fn connections_that_the_server_closes_are_marked_at_equal_rate_too() {
    let of = |answers_a_connection| {
        // Threads that are begun for each connection are nothing beside it, and the warm-up is seen to be over.
        let server = Server::start(Answering { answers_a_connection, takes: Duration::from_millis(2), ..SOUND });
        measure(&server, &at_equal_rate(0.2, 500, ""))
    };
    assert_eq!(doubt(&of(10), "rate-fresh-connections").verdict, Verdict::Marked);
    let sound = of(usize::MAX);
    assert!(sound.validity.iter().all(|doubt| doubt.rule != "rate-fresh-connections"), "{:#?}", sound.validity);
}

/// Single requests by two users who wait, and then at a share of what they reached; two trials of either.
pub(crate) fn at_equal_rate(share: f64, rate_slice_ms: u32, connection: &str) -> String {
    format!(
        "[factor]\nname = \"encryption\"\n[[factor.level]]\ntitle = \"TLS 1.3\"\ntls = \"1.3\"\nkey = \"p256\"\n\
         [workload]\nkind = \"request\"\npath = \"/x\"\nusers = 2\n[equal_rate]\nshare = {share}\n\
         [extent.quick]\nblocks = 1\nslice_ms = 500\nrate_blocks = 1\nrate_slice_ms = {rate_slice_ms}\n\
         [[variant]]\nname = \"service\"\ncontains = \"right\"\n{connection}\n"
    )
}

fn equal_rate(run: &RunResult) -> &EqualRate {
    run.cells[0].equal_rate.as_ref().unwrap()
}

#[test]
fn cores_that_others_have_are_marked_at_equal_rate_too() {
    let alone = Alone::wait();
    let server = alone.server(SOUND);
    let cores = Cores::divide();
    // The generator has one share in nine of its core at most, and is to do nearly as much as it can with it.
    let beside = 8 * cores.generator.len().max(1);
    let _burning = [Burning::beside_the_generator(&alone, beside), Burning::anywhere(&alone, 3 * cores.all.len())];
    let before = Ticks::now(&cores.all);
    let run = measure(&server, &at_equal_rate(0.9, 1000, ""));
    let busy_share = Ticks::now(&cores.all).since(before).busy_share();
    let found = doubt(&run, "rate-run-queue");
    assert!((found.value - equal_rate(&run).generator.run_queue_share).abs() < 1e-9, "{found:?}");
    // A group of processes may get less than its cores.
    if busy_share < 0.97 {
        eprintln!("left out: this machine does not let its cores be busy");
        return;
    }
    assert_eq!(doubt(&run, "rate-joint").verdict, Verdict::Marked);
}
