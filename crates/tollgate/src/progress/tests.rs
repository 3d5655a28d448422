//! Progress and latest responses as lines, at times that are passed in.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::*;
use tollgate_lab::run::LiveReading;

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// A load that is read twice a second, with the responses that `answers` gives for each second.
struct Simulated {
    state: State,
    counted: LiveReading,
    looked: u32,
}

impl Simulated {
    fn new(aim: Aim) -> Simulated {
        let mut state = State::new("http://127.0.0.1:8080/".to_owned(), aim);
        let counters = LiveCounters::default();
        state.hear(Duration::ZERO, &Progress::Loading { counters: &counters }, &LiveReading::default());
        Simulated { state, counted: LiveReading::default(), looked: 0 }
    }

    /// Passes this many half seconds, each with this many responses of this many milliseconds.
    fn go_on(&mut self, halves: u32, count: u64, time_ms: u64) {
        for _ in 0..halves {
            self.looked += 1;
            self.counted.add(count, Duration::from_millis(time_ms));
            self.state.look(self.at(), self.counted.clone());
        }
    }

    fn at(&self) -> Duration {
        LOOK_EVERY * self.looked
    }

    fn lines(&self) -> String {
        text::lines(&self.state.view(self.at()), 60).join("\n")
    }
}

#[test]
fn a_load_shows_time_figures_and_the_last_forty_seconds() {
    let mut load = Simulated::new(Aim::Load { ramp_up: Duration::ZERO, lasts: Some(seconds(60.0)), requests: None });
    load.go_on(1, 4_000, 2);
    insta::assert_snapshot!(load.lines(), @r"
    0 s of 60 s, ETA 60 s
    8,000/s, p50 2.01 ms, p99 2.01 ms, no errors
    ");
    load.go_on(9, 4_000, 2);
    load.go_on(2, 0, 2);
    load.go_on(90, 2_000, 4);
    load.counted.failed = 12;
    load.go_on(5, 1_000, 8);
    insta::assert_snapshot!(load.lines(), @r"
    53 s of 60 s, ETA 7 s
    2,000/s, p50 4.01 ms, p99 8.03 ms, 12 errors (0.005 %)
    ██████████████████████████████████████▄▄ max 4,000/s
    ");
    insta::assert_snapshot!(text::line(&load.state.view(load.at())), @"53 s of 60 s, ETA 7 s; 2,000/s, p50 4.01 ms, p99 8.03 ms, 12 errors (0.005 %)");
    load.go_on(20, 0, 0);
    insta::assert_snapshot!(load.lines(), @r"
    63 s, ending
    0/s, p50 -, p99 -, 12 errors (0.005 %)
    ████████████████████████████▄▄▂          max 4,000/s
    ");
}

#[test]
fn users_who_come_first_are_in_the_eta_and_in_no_count() {
    let aim = Aim::Load { ramp_up: seconds(4.0), lasts: None, requests: Some(10_000) };
    let mut load = Simulated::new(aim);
    load.go_on(6, 500, 1);
    insta::assert_snapshot!(load.lines(), @r"
    3 s, ETA unknown, 0 of 10,000 requests
    users are coming, nothing counts yet
    1,000/s, p50 1.00 ms, p99 1.00 ms, no errors
    ███ max 1,000/s
    ");
    load.go_on(4, 500, 1);
    insta::assert_snapshot!(load.lines(), @r"
    5 s of 14 s, ETA 9 s, 1,000 of 10,000 requests
    1,000/s, p50 1.00 ms, p99 1.00 ms, no errors
    █████ max 1,000/s
    ");
    load.go_on(18, 500, 1);
    insta::assert_snapshot!(load.lines(), @r"
    14 s, ending, 10,000 of 10,000 requests
    1,000/s, p50 1.00 ms, p99 1.00 ms, no errors
    ██████████████ max 1,000/s
    ");
}

#[test]
fn the_eta_is_the_nearer_of_time_and_requests() {
    let check = |lasts: f64, requests: u64, expected_s: f64| {
        let aim = Aim::Load { ramp_up: Duration::ZERO, lasts: Some(seconds(lasts)), requests: Some(requests) };
        let mut load = Simulated::new(aim);
        assert_eq!(load.state.view(seconds(0.25)).left_s, Some(lasts - 0.25));
        load.go_on(4, 500, 1);
        let left_s = load.state.view(load.at()).left_s.unwrap();
        assert!((left_s - expected_s).abs() < 1e-6, "{left_s}");
    };
    check(30.0, 4_000, 2.0);
    check(3.0, 4_000, 1.0);
    check(1.0, 1_000_000, 0.0);
}

#[test]
fn a_run_says_its_trial_and_its_eta_from_the_first_second() {
    let mut run = Simulated::new(Aim::Plan);
    let Simulated { state, counted, .. } = &mut run;
    let trial = |done: usize, left: f64, per_second: f64| Progress::Trial {
        done,
        planned: 48,
        variant: "rest-json",
        at: "20 users",
        left: seconds(left),
        per_second: Some(per_second),
    };
    state.hear(Duration::ZERO, &Progress::Planned { trials: 48, duration: seconds(150.0) }, counted);
    state.hear(Duration::ZERO, &Progress::WarmingUp { variant: "rest-json" }, counted);
    run.go_on(4, 1_000, 1);
    insta::assert_snapshot!(run.lines(), @r"
    2 s of 2 min 30 s, ETA 2 min 28 s, 0 of 48 trials
    warming up rest-json
    2,000/s, p50 1.00 ms, p99 1.00 ms, no errors
    ██ max 2,000/s
    ");
    // Trials that are shorter than what is looked at have figures when they are over.
    let (at, counted) = (run.at(), run.counted.clone());
    run.state.hear(at, &Progress::Measuring { variant: "rest-json", at: "20 users" }, &counted);
    run.counted.add(400, Duration::from_millis(2));
    let counted = run.counted.clone();
    run.state.hear(at + seconds(0.2), &trial(1, 120.0, 2_500.0), &counted);
    run.state.hear(at + seconds(0.3), &Progress::Measuring { variant: "odata-v4-json", at: "20 users" }, &counted);
    run.go_on(1, 200, 9);
    insta::assert_snapshot!(run.lines(), @r"
    2 s of 2 min 2 s, ETA 2 min 0 s, 1 of 48 trials
    rest-json at 20 users
    2,500/s, p50 2.01 ms, p99 2.01 ms, no errors
    ██ max 2,000/s
    ");
    // And longer ones while they last.
    run.go_on(3, 200, 9);
    insta::assert_snapshot!(run.lines(), @r"
    4 s of 2 min 3 s, ETA 119 s, 1 of 48 trials
    odata-v4-json at 20 users
    471/s, p50 8.98 ms, p99 8.98 ms, no errors
    ██▄▂ max 2,000/s
    ");
    run.state.part("comparison 2 of 20".to_owned());
    let view = run.state.view(run.at() + seconds(200.0));
    insta::assert_snapshot!(text::line(&view), @"3 min 24 s, longer than planned, 1 of 48 trials; comparison 2 of 20: odata-v4-json at 20 users; 471/s, p50 8.98 ms, p99 8.98 ms, no errors");
}

#[test]
fn a_run_without_workers_of_ours_has_no_figures() {
    let mut state = State::new("distance".to_owned(), Aim::Plan);
    state.hear(Duration::ZERO, &Progress::Starting { variant: "native" }, &LiveReading::default());
    state.look(seconds(1.0), LiveReading::default());
    insta::assert_snapshot!(text::lines(&state.view(seconds(1.0)), 60).join("\n"), @r"
    1 s, ETA unknown
    starting native
    ");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut load = Simulated::new(Aim::Load { ramp_up: Duration::ZERO, lasts: None, requests: Some(100_000_000) });
    load.counted.failed = 1_234_567;
    load.go_on(200, 1_234_567, 12);
    load.state.part("comparison of something with a very long name that does not fit".to_owned());
    for columns in [0, 1, 10, 19, 20, 40, 60] {
        let lines = text::lines(&load.state.view(load.at()), columns);
        assert!(lines.len() <= 4 && lines.iter().all(|line| line.chars().count() <= columns), "{columns}: {lines:#?}");
    }
}

#[test]
fn the_page_keeps_ten_minutes() {
    let mut load = Simulated::new(Aim::Load { ramp_up: Duration::ZERO, lasts: Some(seconds(900.0)), requests: None });
    load.go_on(1_500, 10, 1);
    let points = load.state.view(load.at()).points;
    assert_eq!((points.len(), points[599].at_s.round() as u64), (600, 750));
}

/// Takes `most` writes, and then ends the progress.
struct Ending<'s> {
    shared: &'s Shared,
    texts: Vec<String>,
    most: usize,
}

impl Write for Ending<'_> {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        if !text.is_empty() {
            self.texts.push(String::from_utf8(text.to_vec()).unwrap());
        }
        if self.texts.len() >= self.most {
            self.shared.now().has_ended = true;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn where_there_is_no_terminal_a_line_is_written_so_often_and_nothing_else() {
    let shared = Shared::new(
        "title".to_owned(),
        Aim::Load { ramp_up: Duration::ZERO, lasts: Some(seconds(3600.0)), requests: None },
    );
    let mut out = Ending { shared: &shared, texts: Vec::new(), most: 3 };
    let output = Output::Log { every: Duration::from_millis(2), due: Duration::ZERO };
    shared.show(output, Duration::from_millis(1), &mut out);
    assert_eq!(out.texts.len(), 3);
    assert!(out.texts.iter().all(|line| line.contains(", ETA ") && line.ends_with('\n')), "{:?}", out.texts);
    let mut log = Output::Log { every: LINE_EVERY, due: LINE_EVERY };
    let mut at = |at_s: f64| !log.of(&State::new(String::new(), Aim::Plan).view(seconds(at_s))).is_empty();
    assert_eq!([9.9, 10.0, 10.5, 19.9, 20.0].map(&mut at), [false, true, false, false, true]);
}

#[test]
fn a_terminal_is_left_as_it_was() {
    let shared = Shared::new("title".to_owned(), Aim::Plan);
    shared.now().notes = "tollgate: something is left\n".to_owned();
    let mut out = Ending { shared: &shared, texts: Vec::new(), most: 2 };
    shared.show(Output::Terminal(Drawn::default()), Duration::from_millis(1), &mut out);
    let begins = ["tollgate: something is left\n  ", "\r  ", "\r\x1b[J"];
    assert_eq!(out.texts.len(), begins.len());
    assert!(out.texts.iter().zip(begins).all(|(text, begin)| text.starts_with(begin)), "{:?}", out.texts);
}

/// Status, head and body of a GET.
fn get(address: SocketAddr, host: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

#[test]
fn the_page_and_its_state_are_served_until_the_end() {
    let shown = Shown { quiet: true, live: Some((Ipv4Addr::LOCALHOST, 0).into()) };
    let aim = Aim::Load { ramp_up: Duration::ZERO, lasts: Some(seconds(3600.0)), requests: None };
    let view = LiveView::begin(shown, "<b>title</b>".to_owned(), aim).unwrap();
    view.progress(&Progress::Loading { counters: &LiveCounters::default() });
    let address = view.page.as_ref().unwrap().address();
    let (head, body) = get(address, "localhost", "/");
    assert!(head.contains("content-security-policy: default-src 'none'; style-src 'sha256-"), "{head}");
    assert!(body.starts_with("<!doctype html>") && !body.contains("title</b>"), "{body}");
    let (head, body) = get(address, "127.0.0.1:1", "/state.json");
    let state: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert!(head.contains("application/json") && state["title"] == "<b>title</b>" && state["failed"] == 0, "{state}");
    for (host, path, expected) in [("localhost", "/other", "404"), ("evil.example", "/state.json", "421")] {
        let (head, _) = get(address, host, path);
        assert!(head.contains(expected), "{head}");
    }
    let taken = LiveView::begin(Shown { quiet: true, live: Some(address) }, String::new(), Aim::Plan);
    assert!(taken.unwrap_err().to_string().contains(&format!("--live {address}: ")));
    view.end();
}

#[test]
fn a_port_alone_is_one_of_this_machine() {
    let check = |text: &str, expected: Result<&str, &str>| {
        let found = live_address(text).map(|address| address.to_string());
        assert_eq!(found.as_ref().map(String::as_str).map_err(String::as_str), expected, "{text}");
    };
    check("8090", Ok("127.0.0.1:8090"));
    check("0.0.0.0:8090", Ok("0.0.0.0:8090"));
    let error =
        "that is no address with a port: expected an address and a port, such as 127.0.0.1:8080, or a port alone";
    check("99999", Err(error));
}
