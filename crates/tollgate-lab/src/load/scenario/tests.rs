//! Scenarios on a server in the same process: which rows users take, and when they leave.

use tokio::sync::oneshot;
use tollgate_net::http1::client::Target;

use super::*;
use crate::experiment::{AnswerShape, Experiment, RequestShape};
use crate::load::model::{End, Load};
use crate::load::recorder::Course;
use crate::load::target::LoadTarget;
use crate::load::worker::{Order, Report, Work, Worker};
use crate::load::{Connection, REQUEST_TIMEOUT};
use crate::testing::TestServer;

const PATIENCE: Duration = Duration::from_secs(20);

/// A scenario of one step that asks for a row of a feed of so many.
fn program(server: &TestServer, rows: u32, feed: &str) -> Arc<Program> {
    let folder = tempfile::tempdir().unwrap();
    let table: String = (0..rows).map(|row| format!("{row}\n")).collect();
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
        path = "/noted/{{{{row}}}}"
        "#
    );
    let file = folder.path().join("noted.toml");
    let experiment = Experiment::parse(&text, file.to_str().unwrap()).unwrap();
    let target = target(server);
    Arc::new(Program::new(experiment.variants[0].played.as_ref().unwrap(), &target).unwrap())
}

fn target(server: &TestServer) -> LoadTarget {
    let shape = RequestShape {
        format: None,
        detail: None,
        key: Vec::new(),
        method: "GET".to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
        contains: None,
        answer: AnswerShape::default(),
    };
    LoadTarget::new(Target::parse(&server.url("/noted/")).unwrap(), shape, &[], Connection::KeepAlive).unwrap()
}

fn play(server: &TestServer, program: &Arc<Program>, conduct: Conduct, load: impl Into<Load>) -> Report {
    let worker = Worker::start(None, REQUEST_TIMEOUT).unwrap();
    let (_cancel, cancelled) = oneshot::channel();
    worker.run(Order {
        slot: 0,
        target: Arc::new(target(server)),
        work: Work::Scenario(Arc::clone(program), Lane::WHOLE, conduct, Arc::new(Barrier::new(1))),
        load: load.into(),
        course: Course::Unrecorded,
        recorder: Recorder::default(),
        cancel: cancelled,
    });
    worker.report(PATIENCE).expect("the trial ends")
}

fn iterations(count: u64) -> End {
    End { after: None, units: Some(count) }
}

#[test]
fn drawn_rows_are_those_of_the_seed_and_others_for_another() {
    let server = TestServer::start();
    let program = program(&server, 1000, "order = \"random\"");
    let rows = |seed: u64| {
        play(&server, &program, Conduct { seed, rows: Rows::AsTheyEnd }, Closed::new(1, iterations(20)));
        std::mem::take(&mut *server.seen.noted.lock().unwrap())
    };
    let (one, again, other) = (rows(1), rows(1), rows(2));
    assert_eq!((one.len(), &one), (20, &again));
    assert_ne!(one, other);
}

#[test]
fn behind_the_last_row_users_leave_but_never_where_nothing_counts() {
    let server = TestServer::start();
    let program = program(&server, 3, "order = \"unique\", end = \"stop\"");
    let tally =
        |rows: Rows| play(&server, &program, Conduct { seed: 1, rows }, Closed::new(2, iterations(10))).recorder.tally;
    let (counted, before) = (tally(Rows::AsTheyEnd), tally(Rows::Again));
    assert_eq!((counted.units, counted.out_of_rows), (3, 2));
    assert_eq!((before.units, before.out_of_rows), (10, 0));
}

#[test]
fn each_part_of_a_seed_is_one_of_its_own() {
    let mut seeds: Vec<u64> = (0..8).flat_map(|seed| (0..64).map(move |part| mixed(seed, part))).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 512);
    assert_eq!(mixed(1, THINK_SEED), mixed(1, THINK_SEED));
}
