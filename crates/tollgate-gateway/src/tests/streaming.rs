//! Long answers come in parts, and a client that is slow or gone blocks nobody.

use super::client::{Running, V2};

/// All bookings as Atom: some megabytes, more than fits in the sockets between client and gateway.
const BOOKINGS: &str = "BookingCollection";
const LARGE: &str = "pages.size = 100000\nwork_processes = { limit = 1, queue_max = 0 }";

#[test]
fn a_long_answer_is_chunked_and_whole() {
    let gateway = Running::start(LARGE);
    let answer = gateway.get(&format!("{V2}{BOOKINGS}"));
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    let count: usize = gateway.get(&format!("{V2}{BOOKINGS}/$count")).text().parse().unwrap();
    assert_eq!(answer.text().matches("<entry>").count() + answer.text().matches("<entry ").count(), count);
    assert!(answer.text().ends_with("</feed>"));
    assert!(answer.body.len() > 4_000_000, "{}", answer.body.len());
}

#[test]
fn a_client_that_stops_reading_gives_its_work_process_back_and_gets_the_rest_later() {
    let gateway = Running::start(LARGE);
    // In JSON: Atom says to the second when it was asked for.
    let bookings = format!("{V2}{BOOKINGS}?$format=json");
    let whole = gateway.get(&bookings);
    assert!(whole.body.len() > 3_000_000, "{}", whole.body.len());
    let mut slow = gateway.connect();
    slow.send("GET", &bookings, &[]);
    assert_eq!(slow.read_head().status, 200);
    // With one work process and no queue, this is answered only once the slow one does not hold it any more.
    while gateway.get("/rest/carriers/AA").status != 200 {}
    let rest = slow.read_chunks();
    assert!(rest == whole.body, "the rest goes on where it stopped: {} of {}", rest.len(), whole.body.len());
}

#[test]
fn a_client_that_goes_away_stops_its_work() {
    let gateway = Running::start(LARGE);
    let mut gone = gateway.connect();
    gone.send("GET", &format!("{V2}{BOOKINGS}"), &[]);
    assert_eq!(gone.read_head().status, 200);
    drop(gone);
    gateway.wait_for_metric("tollgate_connections_open", |open| open == 0);
    gateway.wait_for_metric("tollgate_work_processes_busy", |busy| busy == 0);
    gateway.get("/rest/carriers/AA").expect(200, "AA");
}

#[test]
fn http_1_0_gets_a_long_answer_until_the_close() {
    let gateway = Running::start(LARGE);
    let mut old = gateway.connect();
    old.send_raw(&format!("GET {V2}{BOOKINGS} HTTP/1.0\r\n\r\n"));
    let head = old.read_head();
    assert_eq!((head.status, head.header("transfer-encoding")), (200, None));
    let body = String::from_utf8(old.read_to_end()).unwrap();
    assert!(body.ends_with("</feed>"));
    assert!(body.contains(&format!("http://{}{V2}", gateway.addresses.public[0])), "without Host the address serves");
}
