//! Loads at a rate: what is due is sent or counted as unsent, and a subject that stalls is charged with all that came
//! meanwhile.

use std::time::Duration;

use tollgate_facts::results::load::QuickResult;
use tollgate_lab::load::target::Connection;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, Rate, quick};
use tollgate_lab::traffic::model::Arrivals;

use crate::server::{TruthServer, truth_server};

fn at_rate(server: &TruthServer, path: &str, per_second: f64, seconds: f64, users_max: usize) -> QuickResult {
    offered(server, path, Rate { per_second, arrivals: Arrivals::Constant, seed: 1 }, seconds, users_max)
}

fn offered(server: &TruthServer, path: &str, rate: Rate, seconds: f64, users_max: usize) -> QuickResult {
    let load = QuickLoad {
        rate: Some(rate),
        duration: Some(Duration::from_secs_f64(seconds)),
        concurrency: users_max,
        ..QuickLoad::new(server.url(path))
    };
    quick(&load, &StopFlag::new()).unwrap()
}

fn closed(server: &TruthServer, path: &str, users: usize, seconds: f64) -> QuickResult {
    let load = QuickLoad {
        duration: Some(Duration::from_secs_f64(seconds)),
        concurrency: users,
        connection: Connection::KeepAlive,
        ..QuickLoad::new(server.url(path))
    };
    quick(&load, &StopFlag::new()).unwrap()
}

#[test]
fn what_is_due_is_sent_or_counted_as_unsent() {
    let server = truth_server();
    // Two users who wait 20 ms each cannot ask more often than 100 times a second.
    let found = at_rate(&server, "constant-20000/x", 300.0, 0.5, 2);
    let offered = found.offered.as_ref().unwrap();
    let received = server.did("constant-20000").count("received");
    assert_eq!((offered.intended, offered.users), (150, 2));
    assert_eq!(offered.intended - offered.unsent, received);
    assert_eq!((found.requests, server.did("constant-20000").count("in_flight_max")), (received, 2));
    assert!(offered.unsent >= 90 && found.is_refused(), "{offered:?}");
}

#[test]
fn a_stall_is_charged_with_all_that_came_meanwhile_and_a_closed_load_hides_it() {
    let server = truth_server();
    // 20 ms of every 200 ms: a tenth of the requests wait from 0 to 20 ms, so 5 % wait 10 ms and longer.
    let open = at_rate(&server, "stall-20/x", 500.0, 2.0, 200);
    let did = server.did("stall-20");
    let offered = open.offered.as_ref().unwrap();
    assert_eq!((offered.intended, open.requests), (1000, did.count("answered/200")), "{offered:?}");
    let open_p95 = open.response_time_ms.p95.unwrap();
    // The first or the last stall may lie half outside of the two seconds, which takes some ms off.
    assert!(open_p95 >= 6.0, "{:?}", open.response_time_ms);
    // One user asks hundreds of times between two stalls and meets each stall once.
    let closed = closed(&server, "stall-20,size-1/x", 1, 2.0);
    assert!(closed.response_time_ms.p90.unwrap() < open_p95, "{:?}", closed.response_time_ms);
}
