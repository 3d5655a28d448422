//! Distributions, bodies and users as the load engine reports them, against the server's own account: what is counted is
//! equal, and no time is below the truth.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::time::Duration;
use tollgate_facts::results::load::QuickResult;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, quick};

use crate::server::{TruthServer, truth_server};

/// A histogram of three significant digits may report a value by this share too low.
const DIGITS_ERROR: f64 = 0.001;

fn load(server: &TruthServer, class: &str, requests: u64, concurrency: usize) -> QuickResult {
    let timeout = Duration::from_secs(60);
    let url = server.url(&format!("{class}/x"));
    let load = QuickLoad { requests: Some(requests), concurrency, timeout, ..QuickLoad::new(url) };
    quick(&load, &StopFlag::new()).unwrap()
}

#[test]
fn no_percentile_of_what_is_drawn_is_reported_as_less() {
    let server = truth_server();
    for class in ["exponential-1000,seed-2", "lognormal-1000,sigma-60,seed-2", "bimodal-500,seed-2"] {
        let found = load(&server, class, 600, 12);
        assert_eq!((found.requests, found.errors.len()), (600, 0), "{class}");
        let (times, did) = (found.response_time_ms, server.did(class));
        let all = [("p50", times.p50), ("p90", times.p90), ("p95", times.p95), ("max", Some(times.max))];
        for (name, reported) in all {
            let (reported, truth) = (reported.expect("there are enough requests"), did.service_ms(name));
            assert!(reported >= truth * (1.0 - DIGITS_ERROR), "{class}: {name} is {reported}, in truth {truth}");
        }
        assert!(times.mean >= did.service_ms("mean") * (1.0 - DIGITS_ERROR), "{class}: {times:?}");
    }
}

#[test]
fn bytes_are_exact_however_a_body_is_framed() {
    let server = truth_server();
    for bytes in [0, 1, 1460, 65_536, 10 << 20] {
        for framing in ["chunked-0", "chunked-1", "close-1"] {
            let class = format!("bytes-{bytes},{framing}");
            let requests = if bytes > 1_000_000 { 2 } else { 12 };
            let found = load(&server, &class, requests, 2);
            let did = server.did(&class);
            assert_eq!((found.requests, found.errors.len()), (requests, 0), "{class}: {found:?}");
            assert_eq!(found.body_bytes_received, requests * bytes, "{class}");
            assert_eq!(did.count("body_bytes"), requests * bytes, "{class}");
            // A body that ends with its connection takes one connection for each.
            assert_eq!(found.connections, if framing == "close-1" { requests } else { 2 }, "{class}");
        }
    }
}

#[test]
fn half_a_body_is_an_error_however_it_is_framed() {
    let server = truth_server();
    for framing in ["chunked-0", "chunked-1", "close-1", "pace-5000000", "chunked-1,pace-5000000"] {
        let class = format!("bytes-5000,halves-100,{framing}");
        let found = load(&server, &class, 200, 4);
        let did = server.did(&class);
        assert_eq!((found.requests, did.count("halved")), (did.count("answered/200"), 20), "{class}");
        assert_eq!(found.errors.values().sum::<u64>(), 20, "{class}: {:?}", found.errors);
    }
}

#[test]
fn a_paced_body_is_never_reported_faster_than_its_pace() {
    const BYTES: u64 = 1 << 20;
    const BYTES_PER_SECOND: u64 = 10 << 20;
    let server = truth_server();
    for framing in ["chunked-0", "chunked-1"] {
        let class = format!("bytes-{BYTES},pace-{BYTES_PER_SECOND},{framing}");
        let found = load(&server, &class, 4, 4);
        assert_eq!((found.requests, found.body_bytes_received), (4, 4 * BYTES), "{class}: {found:?}");
        let least_ms = BYTES as f64 / BYTES_PER_SECOND as f64 * 1e3 * (1.0 - DIGITS_ERROR);
        // From the send to the last byte, on average: none of them can have taken less.
        let (service, response) = (found.service_time_ms.mean, found.response_time_ms.mean);
        assert!(service >= least_ms && response >= least_ms, "{class}: {service} and {response}, at least {least_ms}");
    }
}

#[test]
fn the_server_sees_exactly_as_many_users_as_there_are() {
    let limit = getrlimit(Resource::Nofile);
    // A limit that cannot be raised is found below.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let server = truth_server();
    // Up to 2,560 in `truths`: their ports wait for a minute, and tests that are repeated would run out of them.
    for users in [1, 2, 7, 64, 300] {
        if users + 100 > allowed {
            println!("skipped: {users} users, since {allowed} descriptors are allowed");
            continue;
        }
        // Nobody is answered before all of them have asked: fewer would wait until the server gives up.
        let class = format!("gate-{users}");
        let found = load(&server, &class, 3 * users, users as usize);
        let did = server.did(&class);
        assert_eq!((found.requests, found.errors.len(), found.connections), (3 * users, 0, users), "{users}");
        assert_eq!((did.count("received"), did.count("in_flight_max")), (3 * users, users));
    }
}
