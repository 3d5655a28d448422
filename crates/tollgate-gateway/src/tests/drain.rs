//! Shutdown without losing requests in flight.

use super::client::{Running, somebody};

#[test]
fn a_request_in_flight_is_answered_before_the_end_and_readiness_is_taken_back() {
    let mut gateway = Running::start("work_processes = { limit = 1, queue_max = 1, wait_ms_max = 600000 }");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let held = runtime.block_on(gateway.shared.services[0].hosted.pool.acquire(&somebody())).unwrap();
    let mut in_flight = gateway.connect();
    in_flight.send("GET", "/rest/carriers/AA", &[]);
    gateway.wait_for_metric("tollgate_work_processes_waiting", |waiting| waiting == 1);
    let mut idle = gateway.connect();
    idle.ask("GET", "/rest/planes", &[]).expect(404, "");
    gateway.admin().ask("GET", "/readyz", &[]).expect(200, "ready");
    gateway.shutdown.begin();
    gateway.admin().ask("GET", "/readyz", &[]).expect(503, "shutting down");
    gateway.admin().ask("GET", "/healthz", &[]).expect(200, "ok");
    // Who is idle is let go at once.
    assert_eq!(idle.read_to_end(), b"");
    drop(held);
    let answer = in_flight.read("GET");
    answer.expect(200, "AA");
    assert_eq!(answer.header("connection"), Some("close"));
    assert_eq!(in_flight.read_to_end(), b"");
    gateway.stop();
}

#[test]
fn after_the_deadline_what_is_in_flight_is_cut_off() {
    let mut gateway = Running::start("drain_seconds = 0\nwork_processes = { limit = 1, wait_ms_max = 600000 }");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _held = runtime.block_on(gateway.shared.services[0].hosted.pool.acquire(&somebody())).unwrap();
    let mut in_flight = gateway.connect();
    in_flight.send("GET", "/rest/carriers/AA", &[]);
    gateway.wait_for_metric("tollgate_work_processes_waiting", |waiting| waiting == 1);
    gateway.stop();
    assert_eq!(in_flight.read_to_end(), b"");
}
