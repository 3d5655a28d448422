//! The load engine by itself: exact counts, exact bytes, and times that are never below the truth.

use std::collections::BTreeMap;

use tollgate_facts::results::Verdict;
use tollgate_facts::results::load::QuickResult;
use tollgate_lab::load::target::Connection;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, quick};

use crate::server::{TruthServer, truth_server};

/// A histogram of three significant digits may report a value by this share too low.
const DIGITS_ERROR: f64 = 0.001;

fn load(server: &TruthServer, path: &str, requests: u64, concurrency: usize) -> QuickResult {
    let load = QuickLoad { requests: Some(requests), concurrency, ..QuickLoad::new(server.url(path)) };
    quick(&load, &StopFlag::new()).unwrap()
}

#[test]
fn a_constant_service_time_is_never_reported_as_less() {
    let server = truth_server();
    for (class, constant_ms, requests, concurrency) in
        [("constant-1000", 1.0, 400, 1), ("constant-5000", 5.0, 600, 16), ("constant-60000", 60.0, 600, 64)]
    {
        let found = load(&server, &format!("{class}/x"), requests, concurrency);
        let did = server.did(class);
        assert_eq!((found.requests, found.errors.len()), (requests, 0), "{class}: {found:?}");
        assert_eq!((did.count("received"), did.count("answered/200")), (requests, requests), "{class}");
        // Users whose answers take a while are all there at the same time, and never one more.
        assert_eq!(did.count("in_flight_max"), concurrency as u64, "{class}");
        // Nor without what the generator itself is late.
        let times = [Some(found.response_time_ms), found.undelayed_ms].into_iter().flatten();
        let named = times.flat_map(|times| [("p50", times.p50), ("p90", times.p90), ("max", Some(times.max))]);
        for (name, reported) in named {
            let (reported, truth) = (reported.expect("there are enough requests"), did.service_ms(name));
            assert!(truth >= constant_ms, "{class}: the server itself was early");
            assert!(reported >= truth * (1.0 - DIGITS_ERROR), "{class}: {name} is {reported}, in truth {truth}");
        }
        assert!(found.service_time_ms.p50 <= found.response_time_ms.p50, "{class}: service is a part of response");
    }
}

#[test]
fn errors_are_counted_by_class_with_difference_0() {
    let server = truth_server();
    let check = |class: &str, requests: u64, expected: &[(&str, &str)]| {
        let found = load(&server, &format!("{class}/x"), requests, 4);
        let did = server.did(class);
        let truth: BTreeMap<String, u64> = expected
            .iter()
            .map(|(class, counted)| ((*class).to_owned(), did.count(counted)))
            .filter(|(_, count)| *count > 0)
            .collect();
        assert_eq!(found.errors, truth, "{class}");
        assert_eq!(found.requests, did.count("answered/200"), "{class}");
        assert_eq!(did.count("received"), requests, "{class}");
    };
    check("errors-0", 1000, &[("status-500", "answered/500")]);
    check("errors-1", 3000, &[("status-500", "answered/500")]);
    check("errors-37", 2000, &[("status-500", "answered/500")]);
    check("errors-500", 1000, &[("status-500", "answered/500")]);
    check("halves-37,size-5000", 1000, &[("closed-within-answer", "halved")]);
    check("errors-100,halves-50", 1000, &[("status-500", "answered/500"), ("closed-within-answer", "halved")]);
}

#[test]
fn a_server_that_answers_less_and_less_within_a_load_is_marked_though_its_times_stay_as_they_are() {
    let server = truth_server();
    let found = load(&server, "constant-1000,failing-2000/x", 2000, 2);
    assert_eq!((found.requests, found.errors["status-500"]), (1000, 1000));
    let steady = found.validity.iter().find(|mark| mark.rule == "steady").expect("it is marked");
    assert!(steady.verdict == Verdict::Marked && steady.reason.contains(" went from "), "{steady:?}");
}

#[test]
fn connections_that_differ_for_as_long_as_they_live_are_marked_where_they_are_kept() {
    let server = truth_server();
    // Half of them lose, by a coin: that all of forty fall on one side is one in a million millions.
    let of = |connection: Connection| {
        let url = server.url("constant-2000,lottery-2000/x");
        let found = QuickLoad { requests: Some(4_000), concurrency: 40, connection, ..QuickLoad::new(url) };
        quick(&found, &StopFlag::new()).unwrap().validity.into_iter().find(|mark| mark.rule == "connections-differ")
    };
    // Others' work on these cores may hide it: then a further load is asked.
    let found = (0..4).find_map(|_| of(Connection::KeepAlive)).expect("it is marked of one of four");
    assert!(found.verdict == Verdict::Marked && found.value > found.bound, "{found:?}");
    assert_eq!(of(Connection::New), None);
}

#[test]
fn a_connection_that_is_reset_is_an_error_and_its_request_is_not_sent_twice_in_silence() {
    let server = truth_server();
    let found = load(&server, "resets-50/x", 1000, 4);
    let did = server.did("resets-50");
    let errors: u64 = found.errors.values().sum();
    assert_eq!(found.requests, did.count("answered/200"));
    assert_eq!(errors, did.count("reset"), "{:?}", found.errors);
    assert_eq!(found.requests + errors, did.count("received"));
}

#[test]
fn bytes_are_exact() {
    let server = truth_server();
    for size in [0, 1, 1460, 65_536, 1 << 20] {
        let path = format!("size-{size}/x");
        let answer_bytes = server.client().answer(&path).len() as u64;
        let requests = if size > 100_000 { 20 } else { 200 };
        let found = load(&server, &path, requests, 2);
        assert_eq!(found.bytes_received, requests * answer_bytes, "{path}");
    }
}

#[test]
fn bodies_in_chunks_are_read_to_their_end() {
    let server = truth_server();
    let class = "chunked-1,size-10000";
    let found = load(&server, &format!("{class}/x"), 300, 3);
    assert_eq!((found.requests, found.connections), (300, 3), "{found:?}");
    assert_eq!(server.did(class).count("body_bytes"), 300 * 10_000);
}

#[test]
fn connections_are_as_many_as_the_policy_says() {
    let server = truth_server();
    for (policy, expected) in [(Connection::KeepAlive, 5), (Connection::New, 100)] {
        let url = server.url("plain/x");
        let load = QuickLoad { requests: Some(100), concurrency: 5, connection: policy, ..QuickLoad::new(url) };
        assert_eq!(quick(&load, &StopFlag::new()).unwrap().connections, expected, "{policy:?}");
    }
}
