//! Limits of answers, over HTTP.

use super::client::{Running, V4};

#[test]
fn readers_that_take_nothing_are_cut_off_where_their_answers_need_too_much_memory() {
    // Each of them holds three parts of 136 KiB: two have room.
    let gateway = Running::start("limits.unsent_bytes_max = 1000000");
    let target = format!("{V4}FlightCollection?$expand=flightBookings($expand=bookedFlight($expand=flightBookings))");
    let mut slow: Vec<_> = (0..6).map(|_| gateway.connect()).collect();
    slow.iter_mut().for_each(|client| client.send("GET", &target, &[]));
    let cut = "tollgate_limit_met_total{of=\"connections\",limit=\"unsent_bytes_max\"}";
    gateway.wait_for_metric(cut, |cut| cut >= 4);
    assert!(gateway.metric("tollgate_unsent_bytes") <= 1_000_000);
    gateway.get("/rest/carriers/AA").expect(200, "AA");
    drop(slow);
    gateway.wait_for_metric("tollgate_unsent_bytes", |bytes| bytes == 0);
}
