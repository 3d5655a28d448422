//! Failures that count against a place, and those that do not: a slow or lost client says nothing about the backend.

use std::net::Shutdown;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::backend::{Backend, Script, always, answer, late, script};
use super::{before, before_by_hand};
use crate::serve::proxy::endpoint::Phase;
use crate::tests::client::Running;

/// One failure is enough, and a suspension outlasts the test.
const STRICT: &str = "suspension = { after_failures = 1, initial_ms = 600000, max_ms = 600000 }";

/// More than fits in all sockets on the way.
const LARGE: usize = 64 * 1024 * 1024;

/// A script that sends more than a client that does not read can receive.
fn large() -> Script {
    script(|peer| {
        peer.head();
        peer.send(&format!("HTTP/1.1 200 OK\r\nContent-Length: {LARGE}\r\n\r\n"));
        peer.send(&"x".repeat(LARGE));
        peer.until_end();
    })
}

fn in_flight(gateway: &Running) -> u32 {
    gateway.shared.proxied.groups().next().unwrap().members()[0].place.look(std::time::Instant::now()).in_flight
}

/// Waits until the gateway waits for a client to read more.
fn until_somebody_takes_nothing(gateway: &Running) {
    let is_it = |line: &str| line.contains("state=\"writing\"") && line.ends_with(" 1");
    while !gateway.admin().ask("GET", "/metrics", &[]).text().lines().any(is_it) {
        std::thread::yield_now();
    }
}

/// Checks that the only place has no failures and takes requests.
fn is_blameless(gateway: &Running) {
    gateway.get("/passed").expect(200, "here");
    let look = gateway.shared.proxied.groups().next().unwrap().members()[0].place.look(std::time::Instant::now());
    assert_eq!((look.phase, look.failed, look.suspended), (Phase::Ready, [0; 4], 0));
}

#[test]
fn a_client_that_takes_its_answer_too_slowly_is_not_held_against_the_backend() {
    let backend = Backend::start(vec![large(), always(answer("here"))]);
    let (gateway, hand) = before_by_hand(&[&backend], &format!("request_ms_max = 3000\n{STRICT}"), "");
    let mut client = gateway.connect();
    client.send("GET", "/passed", &[]);
    client.read_head();
    until_somebody_takes_nothing(&gateway);
    while in_flight(&gateway) > 0 {
        hand.advance(Duration::from_millis(250));
        std::thread::yield_now();
    }
    assert!(client.read_to_end().len() < LARGE);
    is_blameless(&gateway);
    drop(gateway);
    backend.join();
}

#[test]
fn a_connection_that_the_backend_closed_while_it_waited_is_not_held_against_it() {
    let closes = script(|peer| {
        peer.head();
        peer.send(&answer("first"));
        peer.head();
    });
    let backend = Backend::start(vec![closes, always(answer("here"))]);
    let gateway = before(&[&backend], STRICT, "");
    let mut client = gateway.connect();
    client.ask_with("POST", "/passed", &[], "a").expect(200, "first");
    client.ask_with("POST", "/passed", &[], "a").expect(502, "");
    is_blameless(&gateway);
    drop(gateway);
    backend.join();
}

#[test]
fn a_place_that_is_back_takes_requests_while_the_first_answer_is_still_being_taken() {
    let away = Backend::away();
    let suspension = "suspension = { after_failures = 1, initial_ms = 1000, max_ms = 1000 }";
    let (gateway, hand) = before_by_hand(&[&away], suspension, "");
    gateway.get("/passed").expect(502, "");
    gateway.get("/passed").expect(503, "");
    let backend = away.back(vec![large(), always(answer("here"))]);
    hand.advance(Duration::from_secs(2));
    let mut slow = gateway.connect();
    slow.send("GET", "/passed", &[]);
    assert_eq!(slow.read_head().status, 200);
    gateway.get("/passed").expect(200, "here");
    drop(slow);
    drop(gateway);
    backend.join();
}

#[test]
fn a_client_that_goes_away_gives_its_place_back_before_the_backend_answers() {
    let (asked, is_asked) = channel();
    let never_answers = script(move |peer| {
        peer.head();
        asked.send(()).unwrap();
        assert!(peer.until_end().is_empty());
    });
    let backend = Backend::start(vec![never_answers, always(answer("here"))]);
    let gateway = before(&[&backend], &format!("in_flight_max = 1\n{STRICT}"), "");
    let mut client = gateway.connect();
    client.send("GET", "/passed", &[]);
    is_asked.recv().unwrap();
    assert_eq!(gateway.get("/passed").status, 503);
    drop(client);
    while in_flight(&gateway) > 0 {
        std::thread::yield_now();
    }
    is_blameless(&gateway);
    assert_eq!(gateway.metric("tollgate_endpoint_left_total"), 1);
    drop(gateway);
    backend.join();
}

#[test]
fn a_client_that_ends_its_side_and_still_reads_is_answered() {
    for last in ["close", "keep-alive"] {
        let (backend, is_asked, go_on) = late();
        let gateway = before(&[&backend], "", "");
        let mut client = gateway.connect();
        client.send("GET", "/passed", &[("Connection", last)]);
        is_asked.recv().unwrap();
        client.stream().shutdown(Shutdown::Write).unwrap();
        // What asks it whether it is there.
        assert_eq!(client.read_head().status, 100);
        go_on.send(()).unwrap();
        client.read("GET").expect(200, "late");
        drop(gateway);
        backend.join();
    }
}

#[test]
fn a_client_of_before_interim_answers_that_ends_its_side_is_answered() {
    let (backend, is_asked, go_on) = late();
    let gateway = before(&[&backend], "", "");
    let mut client = gateway.connect();
    client.send_raw("GET /passed HTTP/1.0\r\n\r\n");
    client.stream().shutdown(Shutdown::Write).unwrap();
    is_asked.recv().unwrap();
    go_on.send(()).unwrap();
    client.read("GET").expect(200, "late");
    drop(gateway);
    backend.join();
}

#[test]
fn what_a_client_sends_while_it_waits_is_its_next_request() {
    let (backend, is_asked, go_on) = late();
    let gateway = before(&[&backend], "", "");
    let mut client = gateway.connect();
    client.send("GET", "/passed", &[]);
    is_asked.recv().unwrap();
    client.send("GET", "/nowhere", &[]);
    // Others are answered meanwhile, so that it was read.
    gateway.get("/").expect(200, "");
    go_on.send(()).unwrap();
    client.read("GET").expect(200, "late");
    client.read("GET").expect(404, "");
    drop(gateway);
    backend.join();
}

#[test]
fn a_client_that_sends_its_body_too_slowly_is_not_held_against_the_backend() {
    let (came, has_come) = std::sync::mpsc::channel();
    let slow = script(move |peer| {
        peer.head();
        peer.body(9);
        came.send(()).unwrap();
        peer.until_end();
    });
    let backend = Backend::start(vec![slow, always(answer("here"))]);
    let (gateway, hand) = before_by_hand(&[&backend], &format!("request_ms_max = 3000\n{STRICT}"), "");
    let mut client = gateway.connect();
    client.send("POST", "/passed", &[("Content-Length", "1000000")]);
    client.send_raw("beginning");
    has_come.recv().unwrap();
    while in_flight(&gateway) > 0 {
        hand.advance(Duration::from_millis(250));
        std::thread::yield_now();
    }
    client.read("POST").expect(408, "");
    // The clock by which its connection would be ended stands still.
    drop(client);
    is_blameless(&gateway);
    drop(gateway);
    backend.join();
}
