//! The scripted server's own account: its log and its counts agree, nothing leaves early, drawn values come from its
//! seed, and its lateness is reported.

use std::process::Stdio;

use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, quick};

use crate::server::{Logged, TruthServer, truth_server, truth_server_with};

fn ask(server: &TruthServer, class: &str, requests: u64, concurrency: usize) {
    let load = QuickLoad { requests: Some(requests), concurrency, ..QuickLoad::new(server.url(&format!("{class}/x"))) };
    let found = quick(&load, &StopFlag::new()).unwrap();
    assert_eq!((found.requests, found.errors.len()), (requests, 0), "{class}");
}

/// The log in the order of arrival.
fn by_arrival(server: &TruthServer, class: &str) -> Vec<Logged> {
    let mut log = server.log(class);
    log.sort_by_key(|logged| logged.arrival_ns);
    log
}

#[test]
fn log_and_counts_say_the_same_and_nothing_leaves_early() {
    let server = truth_server();
    let class = "exponential-1000,seed-5";
    ask(&server, class, 500, 9);
    let (log, did) = (by_arrival(&server, class), server.did(class));
    assert_eq!((log.len() as u64, did.count("received")), (500, 500));
    for logged in &log {
        assert_eq!(logged.due_ns, logged.arrival_ns + logged.service_ns, "nobody waits for anybody here");
        assert!(logged.departure_ns >= logged.due_ns, "{logged:?}");
    }
    let sojourn = |logged: &Logged| logged.departure_ns - logged.arrival_ns;
    assert_eq!(log.iter().map(sojourn).max(), Some(did.count("service_ns/max")));
    assert_eq!(log.iter().map(|logged| logged.service_ns).min(), Some(did.count("drawn_ns/min")));
    // Arrivals and departures in order: a request that came when another left was there with it or not.
    let mut steps: Vec<(u64, i64)> =
        log.iter().flat_map(|logged| [(logged.arrival_ns, 1), (logged.departure_ns, -1)]).collect();
    steps.sort_by_key(|(at, step)| (*at, -step));
    let most = steps.iter().scan(0, |there, (_, step)| {
        *there += step;
        Some(*there)
    });
    assert_eq!(most.max(), Some(did.count("in_flight_max") as i64));
}

#[test]
fn one_seed_serves_alike_and_another_one_does_not() {
    let server = truth_server();
    let drawn = |class: &str| {
        ask(&server, class, 200, 1);
        by_arrival(&server, class).iter().map(|logged| logged.service_ns).collect::<Vec<u64>>()
    };
    for time in ["exponential-300", "lognormal-300,sigma-90", "bimodal-100"] {
        let first = drawn(&format!("{time},seed-1"));
        assert_eq!(first, drawn(&format!("seed-1,{time}")), "{time}");
        assert_ne!(first, drawn(&format!("{time},seed-2")), "{time}");
    }
}

#[test]
fn a_queue_serves_one_at_a_time_in_the_order_of_arrival() {
    let server = truth_server();
    let class = "exponential-2000,queue-1";
    ask(&server, class, 400, 8);
    let mut free_ns = 0;
    for logged in by_arrival(&server, class) {
        // The recursion of Lindley (1952), by the due times and not by what the machine made of them.
        let due_ns = logged.arrival_ns.max(free_ns) + logged.service_ns;
        assert_eq!(logged.due_ns, due_ns, "{logged:?}");
        assert!(logged.departure_ns >= due_ns, "{logged:?}");
        free_ns = due_ns;
    }
    assert_eq!(server.did(class).count("in_flight_max"), 8);
}

#[test]
fn it_says_how_late_it_was_itself_when_asked_and_when_it_ends() {
    let server = truth_server_with("", Stdio::piped());
    ask(&server, "constant-1000", 20, 2);
    let line = "constant-1000: 20 answers left after they were due, half of them by at most ";
    let error = server.error();
    assert!(error.starts_with(line) && error.ends_with(" µs\n"), "{error}");
    assert_eq!(server.end(), error);
}

#[test]
fn a_class_that_is_none_is_answered_with_what_there_is() {
    let server = truth_server();
    let check = |class: &str, expected: &str| {
        let answer = server.client().answer(&format!("{class}/x"));
        assert!(answer.starts_with("HTTP/1.1 404 ") && answer.contains(expected), "{answer}");
    };
    check("slow-5", "expected a list of constant-, exponential-, ");
    check("errors-1001", "`errors-1001` is beyond 1000");
    check("constant-1,bimodal-1", "`constant-1,bimodal-1` has 2 service times");
    assert!(server.did("slow-5").count("received") == 0);
}
