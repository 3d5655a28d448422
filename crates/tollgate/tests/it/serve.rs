//! `tollgate serve` from outside: it reports its address, answers there, and ends well.

use rustix::process::Signal;

use crate::helper::{get, sent, serving, tollgate};

#[test]
fn the_flights_are_served_at_once_in_every_protocol() {
    let gateway = serving(&[]);
    let check = |path: &str, expected: &str| {
        let (status, body) = get(&format!("{}{path}", gateway.url));
        assert!(status == 200 && body.contains(expected), "{path}: {status} {body}");
    };
    let flight = "FlightCollection(carrid='AA',connid='0017',fldate='20110601')";
    check(&format!("/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/{flight}"), "<entry");
    check(&format!("/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/{flight}?$format=json"), "\"carrid\":\"AA\"");
    check(&format!("/sap/opu/sdata/iwfnd/RMTSAMPLEFLIGHT/{flight}"), "<entry");
    check("/odata/v4/flights/FlightCollection?$top=1", "\"value\":[");
    check("/rest/flights/AA/0017/20110601", "\"carrid\":\"AA\"");
}

#[test]
fn just_the_named_services_are_served() {
    let gateway = serving(&["--service", "echo", "--service", "fibonacci"]);
    for (path, status) in [
        ("/echo?bytes=5", 200),
        ("/fibonacci?n=3", 200),
        ("/rest/flights", 404),
        ("/services/SimpleStockQuoteService", 404),
    ] {
        assert_eq!(get(&format!("{}{path}", gateway.url)).0, status, "{path}");
    }
    tollgate(["serve", "--service", "stockquote"]).finish().check(2, "", "stock-quote");
}

#[test]
fn the_operator_sees_the_work_processes() {
    let gateway = serving(&["--work-processes", "3"]);
    let (status, metrics) = get(&format!("{}/metrics", gateway.admin));
    assert_eq!(status, 200);
    assert!(metrics.contains("tollgate_work_processes_limit{service=\"flights\"} 3\n"), "{metrics}");
    assert!(metrics.contains("tollgate_work_processes_busy{service=\"records\"} 0\n"), "{metrics}");
}

#[test]
fn a_signal_ends_it_well() {
    for signal in [Signal::TERM, Signal::INT] {
        let gateway = serving(&[]);
        gateway.running.signal(signal);
        assert_eq!(gateway.running.finish().code, 0, "{signal:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_a_clear_error() {
    let first = serving(&[]);
    let address = first.url.trim_start_matches("http://");
    tollgate(["serve", "--listen", address]).finish().check(1, "", address);
}

#[test]
fn a_database_file_keeps_the_flights() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flights.db");
    let url = format!("sqlite:{}", file.display());
    let count = || {
        let gateway = serving(&["--flights", &url]);
        let answer = get(&format!("{}/odata/v4/flights/FlightCollection/$count", gateway.url));
        gateway.running.signal(Signal::TERM);
        assert_eq!(gateway.running.finish().code, 0);
        answer
    };
    assert_eq!((count(), count()), ((200, "400".to_owned()), (200, "400".to_owned())));
    assert!(file.exists());
}

#[test]
fn nothing_beyond_this_machine_is_open_to_anyone_unless_that_is_said() {
    let open = ["serve", "--listen", "0.0.0.0:0", "--admin", "127.0.0.1:0"];
    tollgate(open).finish().check(2, "", "anyone who reaches 0.0.0.0:0 could use services");
    let gateway = serving(&["--i-may-expose"]);
    gateway.running.signal(Signal::TERM);
    gateway.running.finish().check(0, "", "tollgate: reachable from this machine only\n");
}

#[test]
fn what_is_read_only_refuses_every_change() {
    let gateway = serving(&["--read-only"]);
    for (method, path) in [
        ("POST", "/odata/v4/flights/FlightCollection"),
        ("PATCH", "/odata/v4/flights/CarrierCollection('AA')"),
        ("DELETE", "/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')"),
        ("POST", "/rest/records"),
        ("DELETE", "/rest/records?all=true"),
        ("POST", "/rest/mass-change/insertAll"),
        ("POST", "/rest/mass-change/deleteAllRecs"),
    ] {
        assert_eq!(sent(method, &format!("{}{path}", gateway.url), "{}"), 405, "{method} {path}");
    }
    // It has no actions.
    assert_eq!(sent("POST", &format!("{}/odata/v4/flights/UpdateAgencyPhoneNo", gateway.url), "{}"), 404);
    assert_eq!(get(&format!("{}/rest/carriers/AA", gateway.url)).0, 200);
    gateway.running.signal(Signal::TERM);
    gateway.running.finish().check(0, "", "anyone who connects may read\n");
}
