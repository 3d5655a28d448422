//! Scenarios on a server in the same process: the rows that users take, and when they leave.

use std::io::{Read, Write};
use std::net::TcpListener;

use tollgate_net::http1::client::Target;

use super::*;
use crate::experiment::Experiment;
use crate::load::REQUEST_TIMEOUT;
use crate::load::record::course::Course;
use crate::load::renewal::Renewal;
use crate::load::target::{Connection, LoadTarget};
use crate::load::worker::{Order, Report, Work, Worker};
use crate::testing::{TestServer, get};
use crate::traffic::model::{Arrivals, End, Load};
use crate::traffic::stages::Stages;

const PATIENCE: Duration = Duration::from_secs(20);

/// Creates a scenario of one step that sends a row of a feed with `rows` rows.
fn program(server: &TestServer, rows: u32, feed: &str) -> Arc<Program> {
    let table: String = (0..rows).map(|row| format!("{row}\n")).collect();
    program_at(server, "/noted/{{row}}", (&table, feed))
}

fn program_at(server: &TestServer, path: &str, (table, feed): (&str, &str)) -> Arc<Program> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rows.csv"), format!("row\n{table}")).unwrap();
    let text = format!(
        r#"
        name = "noted"
        question = "Which rows?"
        factor = {{ name = "concurrency", levels = [1] }}
        workload = {{ kind = "scenario" }}
        [[variant]]
        name = "noted"
        url = "/noted/"
        [[scenario]]
        name = "noted"
        feed = [{{ file = "rows.csv", {feed} }}]
        [[scenario.step]]
        name = "row"
        path = "{path}"
        "#
    );
    let file = folder.path().join("noted.toml");
    let experiment = Experiment::parse(&text, file.to_str().unwrap()).unwrap();
    let target = target(server);
    Arc::new(Program::new(experiment.variants[0].own().unwrap(), &target).unwrap())
}

fn target(server: &TestServer) -> LoadTarget {
    target_at(&server.url("/noted/"))
}

fn target_at(url: &str) -> LoadTarget {
    LoadTarget::new(Target::parse(url).unwrap(), get(), &[], Connection::KeepAlive).unwrap()
}

fn play(server: &TestServer, program: &Arc<Program>, conduct: Conduct, load: Load) -> Report {
    let worker = Worker::start(None, REQUEST_TIMEOUT, None).unwrap();
    let _cancel = worker.run(Order {
        slot: 0,
        target: Arc::new(target(server)),
        work: Work::Scenario(Arc::clone(program), conduct),
        load,
        renewal: Renewal::Kept,
        gate: Arc::default(),
        course: Course::Unrecorded,
        recorder: Recorder::default(),
    });
    worker.report(PATIENCE).expect("the trial ends")
}

fn at_a_rate(per_second: f64, users_max: usize, end: End) -> Load {
    Load::at_a_rate(users_max, Rate { per_second, arrivals: Arrivals::Constant, seed: 1 }, end)
}

fn iterations(count: u64) -> End {
    End { after: None, units: Some(count) }
}

#[test]
fn users_who_come_over_a_ramp_have_all_come_before_anything_counts() {
    let server = TestServer::start();
    let program = program(&server, 10, "");
    let (ramp_up, slice) = (Duration::from_millis(150), Duration::from_millis(50));
    let before = Instant::now();
    let load = Load { pace: Pace::Closed { ramp_up }, ..Load::closed(3, End::after(slice)) };
    let report = play(&server, &program, Conduct { seed: 1, behind_rows: None }, load);
    assert!(report.started >= before + ramp_up && report.finished >= report.started + slice);
    let (counted, aside) = (report.recorder.tally.requests, report.recorder.before.map_or(0, |before| before.requests));
    let asked = server.seen.noted.lock().unwrap().len() as u64;
    assert!(counted + aside <= asked && report.recorder.tally.failures() == 0, "{counted} + {aside} of {asked}");
}

#[test]
fn drawn_rows_are_those_of_the_seed_and_others_for_another() {
    let server = TestServer::start();
    let program = program(&server, 1000, "order = \"random\"");
    let rows = |seed: u64| {
        play(&server, &program, Conduct { seed, behind_rows: None }, Load::closed(1, iterations(20)));
        std::mem::take(&mut *server.seen.noted.lock().unwrap())
    };
    let (one, again, other) = (rows(1), rows(1), rows(2));
    assert_eq!((one.len(), &one), (20, &again));
    assert_ne!(one, other);
}

#[test]
fn a_path_that_begins_with_a_value_is_whole_with_a_slash_in_front_and_else_beside_the_url() {
    let server = TestServer::start();
    let asked = |path: &str, row: &str| {
        let program = program_at(&server, path, (&format!("\"{row}\"\n"), ""));
        let conduct = Conduct { seed: 1, behind_rows: None };
        let tally = play(&server, &program, conduct, Load::closed(1, iterations(1))).recorder.tally;
        let noted = std::mem::take(&mut *server.seen.noted.lock().unwrap());
        noted.into_iter().next().ok_or_else(|| tally.errors.first().map(|error| error.example.clone()))
    };
    let check = |path: &str, row: &str, expected: &str| {
        assert_eq!(asked(path, row).as_deref(), Ok(expected), "{path} of {row}");
    };
    check("{{row}}", "html", "html");
    check("{{row}}/{{row}}", "a", "a/a");
    check("{{row}}", "/a", "%2Fa");
    check("{{row|raw}}", "/noted/a?b", "a?b");
    check("{{row|raw}}/noted/b", "", "b");
    check("{{row|raw}}", &server.url("/noted/c"), "c");
    let elsewhere = asked("{{row|raw}}", "http://other.example/noted/a").unwrap_err().unwrap();
    assert!(elsewhere.contains("leads to another host"), "{elsewhere}");
}

#[test]
fn behind_the_last_row_users_leave_but_never_where_nothing_counts() {
    let server = TestServer::start();
    let program = program(&server, 3, "order = \"unique\", end = \"stop\"");
    let tally = |behind_rows: Option<FeedEnd>| {
        play(&server, &program, Conduct { seed: 1, behind_rows }, Load::closed(2, iterations(10))).recorder.tally
    };
    let (counted, before) = (tally(None), tally(Some(FeedEnd::Again)));
    assert_eq!((counted.units, counted.out_of_rows), (3, 2));
    assert_eq!((before.units, before.out_of_rows), (10, 0));
}

#[test]
fn at_a_rate_each_iteration_that_is_due_is_played_once_and_rows_are_shared() {
    let server = TestServer::start();
    let program = program(&server, 1000, "");
    let conduct = Conduct { seed: 1, behind_rows: None };
    let tally = play(&server, &program, conduct, at_a_rate(2000.0, 20, iterations(200))).recorder.tally;
    assert_eq!((tally.units, tally.sends.intended, tally.sends.unsent), (200, 200, 0));
    assert!((1..=20).contains(&tally.sends.users), "{}", tally.sends.users);
    let mut rows: Vec<u32> = server.seen.noted.lock().unwrap().iter().map(|row| row.parse().unwrap()).collect();
    rows.sort_unstable();
    assert_eq!(rows, (0..200).collect::<Vec<u32>>());
}

#[test]
fn at_a_rate_rows_that_end_do_so_for_all() {
    let server = TestServer::start();
    let program = program(&server, 5, "order = \"unique\", end = \"stop\"");
    let conduct = Conduct { seed: 1, behind_rows: None };
    let tally = play(&server, &program, conduct, at_a_rate(500.0, 4, iterations(1_000_000))).recorder.tally;
    assert_eq!(tally.units, 5);
    assert!(tally.out_of_rows >= 1, "{tally:?}");
}

#[test]
fn in_stages_what_was_due_in_each_is_its_own() {
    let server = TestServer::start();
    let program = program(&server, 1000, "");
    let conduct = Conduct { seed: 1, behind_rows: None };
    let stages: Arc<Stages> = Arc::new("100ms:200..200/s,100ms:0..0/s,100ms:400..400/s".parse().unwrap());
    let load = at_a_rate(stages.most(), 50, End::after(stages.lasts()));
    let recorder = play(&server, &program, conduct, Load { stages: Some(stages), ..load }).recorder;
    let due: Vec<u64> = recorder.staged.as_ref().unwrap().parts.iter().map(|part| part.counts.due).collect();
    assert_eq!((due, recorder.tally.sends.intended), (vec![20, 0, 40], 60));
    let staged = recorder.staged.as_ref().unwrap();
    let whole: u64 = staged.parts.iter().map(|part| part.counts.whole).sum();
    assert_eq!((whole, staged.points.iter().map(|point| point.counts.whole).sum()), (recorder.tally.units, whole));
}

#[test]
fn in_stages_of_users_none_is_there_where_none_is_asked_for() {
    let server = TestServer::start();
    let program = program(&server, 1000, "");
    let conduct = Conduct { seed: 1, behind_rows: None };
    let stages: Arc<Stages> = Arc::new("50ms:3..3,200ms:0..0,50ms:1..1".parse().unwrap());
    let load = Load::closed(3, End::after(stages.lasts()));
    let recorder = play(&server, &program, conduct, Load { stages: Some(stages), ..load }).recorder;
    let staged = recorder.staged.as_ref().unwrap();
    let [some, none, one] = [0, 1, 2].map(|place| staged.parts[place].counts);
    // Whoever comes in the end may do so behind it, where a machine is busy.
    assert!(some.begun >= 3, "{some:?} {one:?}");
    assert_eq!(none.begun, 0);
    assert_eq!(some.whole + one.whole, recorder.tally.units);
    assert!(recorder.tally.busy_ns >= recorder.tally.waited_ns, "{:?}", recorder.tally);
}

/// Creates a scenario in which users take these steps in turn, and think for `ms` after each.
fn thinking(target: &LoadTarget, steps: &[&str], ms: u32) -> Arc<Program> {
    let step = |name: &&str| {
        format!("[[scenario.step]]\nname = \"{name}\"\npath = \"/noted/{name}\"\nthink = {{ ms = {ms} }}\n")
    };
    let text = format!(
        r#"
        name = "thinking"
        question = "Who asks when?"
        factor = {{ name = "concurrency", levels = [1] }}
        workload = {{ kind = "scenario" }}
        [[variant]]
        name = "thinking"
        url = "/noted/"
        [[scenario]]
        name = "thinking"
        {}
        "#,
        steps.iter().map(step).collect::<String>()
    );
    let experiment = Experiment::parse(&text, "thinking.toml").unwrap();
    Arc::new(Program::new(experiment.variants[0].own().unwrap(), target).unwrap())
}

#[test]
fn users_who_think_are_there_as_long_as_the_window_and_no_trial_waits_for_them() {
    let server = TestServer::start();
    let program = thinking(&target(&server), &["one"], 200);
    let load = Load::closed(100, End::after(Duration::from_millis(20)));
    let report = play(&server, &program, Conduct { seed: 1, behind_rows: None }, load);
    let tally = &report.recorder.tally;
    let there = 100 * (report.finished - report.started);
    assert_eq!(u128::from(tally.busy_ns), there.as_nanos());
    // What counts is in the interactive law, and nothing else.
    assert_eq!(tally.cycles.count, tally.requests + tally.failures());
}

/// Runs a server of one connection that delays the first answer by `first`; returns when the first request came and was
/// answered.
#[allow(clippy::disallowed_methods, reason = "to be slow is what this server is for")]
fn slow_at_first(listener: TcpListener, first: Duration) -> (Instant, Instant) {
    let (mut connection, _) = listener.accept().unwrap();
    let (mut moments, mut text, mut bytes) = (None, Vec::new(), [0; 1024]);
    while let Ok(count @ 1..) = connection.read(&mut bytes) {
        text.extend_from_slice(&bytes[..count]);
        if text.ends_with(b"\r\n\r\n") {
            text.clear();
            let came = Instant::now();
            if moments.is_none() {
                std::thread::sleep(first);
            }
            moments.get_or_insert_with(|| (came, Instant::now()));
            connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
        }
    }
    moments.unwrap()
}

#[test]
fn the_window_does_not_open_before_what_was_asked_ahead_of_it_is_answered() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = target_at(&format!("http://{}/", listener.local_addr().unwrap()));
    let server = std::thread::spawn(|| slow_at_first(listener, Duration::from_millis(500)));
    let program = thinking(&target, &["one"], 5);
    let began = Instant::now();
    let worker = Worker::start(None, REQUEST_TIMEOUT, None).unwrap();
    let _cancel = worker.run(Order {
        slot: 0,
        target: Arc::new(target),
        work: Work::Scenario(program, Conduct { seed: 1, behind_rows: None }),
        load: Load::closed(1, End::after(Duration::from_millis(10))),
        renewal: Renewal::Kept,
        gate: Arc::default(),
        course: Course::Unrecorded,
        recorder: Recorder::default(),
    });
    let report = worker.report(PATIENCE).expect("the trial ends");
    drop(worker);
    let (came, answered) = server.join().unwrap();
    // On a busy machine it may be asked only when the window is open: then it counts.
    if came - began < Duration::from_millis(100) {
        assert!(report.started >= answered, "{report:?}");
        assert!(report.recorder.before.is_some_and(|before| before.requests >= 1));
    }
}

#[test]
fn a_user_who_thinks_goes_on_in_the_next_trial_where_it_was() {
    let server = TestServer::start();
    let program = thinking(&target(&server), &["one", "two"], 90);
    let worker = Worker::start(None, REQUEST_TIMEOUT, None).unwrap();
    let mut units = 0;
    for seed in 0..200 {
        let _cancel = worker.run(Order {
            slot: 0,
            target: Arc::new(target(&server)),
            work: Work::Scenario(Arc::clone(&program), Conduct { seed, behind_rows: None }),
            load: Load::closed(1, End::after(Duration::from_millis(10))),
            renewal: Renewal::Kept,
            gate: Arc::default(),
            course: Course::Unrecorded,
            recorder: Recorder::default(),
        });
        units += worker.report(PATIENCE).expect("the trial ends").recorder.tally.units;
        if server.seen.noted.lock().unwrap().len() >= 9 {
            break;
        }
    }
    let noted = std::mem::take(&mut *server.seen.noted.lock().unwrap());
    assert!(noted.len() >= 9 && units <= noted.len() as u64 / 2, "{noted:?}");
    let in_turn = noted.iter().zip(["one", "two"].iter().cycle()).all(|(asked, step)| asked == step);
    assert!(in_turn, "{noted:?}");
}

#[test]
fn each_part_of_a_seed_is_one_of_its_own() {
    let mut seeds: Vec<u64> = (0..8).flat_map(|seed| (0..64).map(move |part| mixed(seed, part))).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 512);
    assert_eq!(mixed(1, player::THINK_SEED), mixed(1, player::THINK_SEED));
}
