//! Work processes, their queue, and the answers when both are full.

use super::client::{Running, V2, V4, somebody};
use crate::work::pool::Reading;

/// Takes a work process, as a long statement would.
fn occupy(gateway: &Running) -> Reading {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(gateway.shared.services[0].hosted.pool.acquire(&somebody())).unwrap()
}

#[test]
fn long_reads_leave_a_part_of_the_pool_to_short_ones() {
    let gateway = Running::start("work_processes = { limit = 4, queue_max = 1, wait_ms_max = 600000 }");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let pool = &gateway.shared.services[0].hosted.pool;
    let task = somebody();
    let held: Vec<Reading> = (0..3).map(|_| runtime.block_on(pool.acquire_long(&task)).unwrap()).collect();
    let long = format!("{V4}FlightCollection?$expand=flightBookings");
    let mut waiting = gateway.connect();
    waiting.send("GET", &long, &[]);
    gateway.wait_for_metric("tollgate_work_processes_waiting", |waiting| waiting == 1);
    gateway.get("/rest/carriers/AA").expect(200, "AA");
    gateway.get(&long).expect(503, "ask again later");
    drop(held);
    waiting.read("GET").expect(200, "flightBookings");
}

#[test]
fn without_a_queue_a_full_pool_is_answered_503_in_the_callers_protocol() {
    let gateway = Running::start("work_processes = { limit = 1, queue_max = 0 }");
    let held = occupy(&gateway);
    for (target, fragment) in [
        (format!("{V2}CarrierCollection('AA')"), "<error"),
        (format!("{V2}CarrierCollection('AA')?$format=json"), "\"error\""),
        (format!("{V4}CarrierCollection('AA')"), "\"error\""),
        (format!("{V4}FlightCollection"), "\"error\""),
        ("/rest/carriers/AA".to_owned(), "\"status\":503"),
    ] {
        let answer = gateway.get(&target);
        answer.expect(503, fragment).expect(503, "ask again later");
        assert_eq!(answer.header("retry-after"), Some("1"), "{target}");
    }
    // What needs no work process is answered all the same.
    gateway.get(&format!("{V2}$metadata")).expect(200, "Edmx");
    assert_eq!(gateway.metric("tollgate_work_processes_refused_total{service=\"flights\",reason=\"queue-full\"}"), 5);
    drop(held);
    gateway.get("/rest/carriers/AA").expect(200, "AA");
}

#[test]
fn a_queued_request_is_answered_when_its_turn_comes_and_the_next_one_is_refused() {
    let gateway = Running::start("work_processes = { limit = 1, queue_max = 1, wait_ms_max = 600000 }");
    let held = occupy(&gateway);
    let mut queued = gateway.connect();
    queued.send("GET", "/rest/carriers/AA", &[]);
    gateway.wait_for_metric("tollgate_work_processes_waiting", |waiting| waiting == 1);
    gateway.get("/rest/carriers/AA").expect(503, "1 requests wait already");
    drop(held);
    queued.read("GET").expect(200, "AA");
    assert_eq!(gateway.metric("tollgate_work_processes_queued_total"), 1);
    assert_eq!(gateway.metric("tollgate_work_processes_waiting_peak"), 1);
    gateway.wait_for_metric("tollgate_work_processes_busy", |busy| busy == 0);
}

#[test]
fn who_waits_too_long_is_answered_503() {
    let gateway = Running::start("work_processes = { limit = 1, queue_max = 1, wait_ms_max = 1 }");
    let _held = occupy(&gateway);
    let answer = gateway.get("/rest/carriers/AA");
    answer.expect(503, "no work process became free within 1 ms");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(
        gateway.metric("tollgate_work_processes_refused_total{service=\"flights\",reason=\"waited-too-long\"}"),
        1
    );
}
