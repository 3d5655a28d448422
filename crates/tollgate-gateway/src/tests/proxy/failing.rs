//! Failures: backends that are away, end connections, are silent or talk nonsense; and the answers to clients.

use std::time::{Duration, SystemTime};

use super::backend::{Backend, always, answer, late, script};
use super::{before, before_by_hand};
use crate::tests::client::Running;

const SOAP: &str = "soap = true";

#[test]
fn nobody_there_is_a_502_in_the_format_of_the_caller_and_then_a_503_that_says_when_to_come_back() {
    let backend = Backend::away();
    let gateway =
        before(&[&backend], "suspension = { after_failures = 3, initial_ms = 600000, max_ms = 600000 }", SOAP);
    let fields = [("Content-Type", "text/xml"), ("SOAPAction", "\"urn:a\"")];
    for _ in 0..2 {
        let told = gateway.connect().ask_with("POST", "/passed", &fields, "<a/>");
        told.expect(502, "schemas.xmlsoap.org/soap/envelope");
        assert_eq!(told.header("content-type"), Some("text/xml; charset=utf-8"));
        assert!(!told.text().contains(&backend.address.to_string()), "where backends are is nobody's business");
    }
    let newer = [("Content-Type", "application/soap+xml")];
    gateway.connect().ask_with("POST", "/passed", &newer, "<a/>").expect(502, "www.w3.org/2003/05/soap-envelope");
    let told = gateway.connect().ask_with("POST", "/passed", &newer, "<a/>");
    told.expect(503, "www.w3.org/2003/05/soap-envelope");
    // The engine's time is as coarse as a quarter of a second.
    let seconds: u32 = told.header("retry-after").unwrap().parse().unwrap();
    assert!((500..=601).contains(&seconds), "{seconds}");
}

#[test]
fn another_place_is_asked_where_there_is_no_connection() {
    let (away, here) = (Backend::away(), Backend::start(vec![always(answer("here"))]));
    let gateway = before(&[&away, &here], "balance = \"in-order\"", "");
    for _ in 0..5 {
        gateway.connect().ask_with("POST", "/passed", &[], "").expect(200, "here");
    }
    drop(gateway);
    here.join();
}

/// A backend that closes its first connection when the second request arrives, and answers on the second.
fn closes_when_asked_again() -> Backend {
    Backend::start(vec![
        script(|peer| {
            peer.head();
            peer.send(&answer("first"));
            peer.head();
        }),
        script(|peer| {
            peer.head();
            peer.send(&answer("second"));
            peer.until_end();
        }),
    ])
}

#[test]
fn a_connection_that_the_backend_closed_is_replaced_where_asking_twice_is_no_harm() {
    for (method, route) in [("GET", ""), ("PUT", ""), ("POST", "retry = \"always\"")] {
        let backend = closes_when_asked_again();
        let gateway = before(&[&backend], "", route);
        let mut client = gateway.connect();
        client.ask(method, "/passed", &[]).expect(200, "first");
        client.ask(method, "/passed", &[]).expect(200, "second");
        drop(gateway);
        backend.join();
    }
}

#[test]
fn another_place_is_asked_where_the_first_closed_its_connection_and_is_gone() {
    for (method, body) in [("GET", ""), ("PUT", "a body")] {
        // It takes one connection, and then no more.
        let first = Backend::start(vec![script(|peer| {
            peer.head();
            peer.send(&answer("first"));
            peer.head();
        })]);
        let (asked, was_asked) = std::sync::mpsc::channel();
        let second = Backend::start(vec![script(move |peer| {
            for _ in 0..2 {
                let head = peer.head();
                asked.send(head + &peer.body(body.len())).unwrap();
                peer.send(&answer("second"));
            }
            peer.until_end();
        })]);
        let gateway = before(&[&first, &second], "balance = \"in-order\"", "to = \"/there\"");
        let mut client = gateway.connect();
        for expected in ["first", "second", "second"] {
            client.ask_with(method, "/passed/on?a=b", &[("X-Kept", "it is")], body).expect(200, expected);
        }
        let [moved, straight] = [was_asked.recv().unwrap(), was_asked.recv().unwrap()];
        assert_eq!(moved, straight);
        assert!(straight.starts_with(&format!("{method} /there/on?a=b HTTP/1.1\r\nHost: {}\r\n", second.address)));
        drop(gateway);
        first.join();
        second.join();
    }
}

#[test]
fn the_whole_request_is_over_in_time_even_where_nobody_can_be_connected_to() {
    // They take connections and say nothing, which is no TLS.
    let silent: Vec<_> = (0..3).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let urls: Vec<_> =
        silent.iter().map(|listener| format!("\"https://{}\"", listener.local_addr().unwrap())).collect();
    let config = format!(
        "[[endpoint]]\nname = \"backend\"\nurls = [{}]\nrequest_ms_max = 5000\nconnect_ms_max = 3000\n\
         [[route]]\npath = \"/passed\"\nendpoint = \"backend\"\n",
        urls.join(", ")
    );
    let (gateway, hand) = Running::start_by_hand(&config, SystemTime::UNIX_EPOCH);
    let mut client = gateway.connect();
    client.send("GET", "/passed", &[]);
    // Its time begins when the first of them is asked.
    gateway.wait_for_metric("tollgate_endpoint_in_flight", |count| count == 1);
    let answered = std::thread::spawn(move || client.read("GET"));
    while !answered.is_finished() {
        hand.advance(Duration::from_millis(250));
        std::thread::yield_now();
    }
    answered.join().unwrap().expect(504, "");
    // The first had all the time that it may take, the second had less, and the third was not asked.
    let members = gateway.shared.proxied.groups().next().unwrap();
    let failed = members.members().iter().map(|member| member.place.look(std::time::Instant::now()).failed[0]);
    assert_eq!(failed.collect::<Vec<_>>(), [1, 0, 0]);
}

#[test]
fn nothing_is_asked_twice_that_might_be_done_twice() {
    for (method, route) in [("POST", ""), ("PATCH", ""), ("GET", "retry = \"never\"")] {
        let backend = Backend::start(vec![script(|peer| {
            peer.head();
            peer.send(&answer("first"));
            peer.head();
        })]);
        let gateway = before(&[&backend], "", route);
        let mut client = gateway.connect();
        client.ask(method, "/passed", &[]).expect(200, "first");
        client.ask(method, "/passed", &[]).expect(502, "");
        drop(gateway);
        backend.join();
    }
    // On a fresh connection it says something of the backend, whatever the method.
    let backend = Backend::start(vec![script(|peer| drop(peer.head()))]);
    let gateway = before(&[&backend], "", "retry = \"always\"");
    gateway.get("/passed").expect(502, "");
    drop(gateway);
    backend.join();
}

#[test]
fn a_connection_that_was_closed_while_it_waited_is_not_used() {
    let backend = Backend::start(vec![
        script(|peer| {
            peer.head();
            peer.send(&answer("first"));
        }),
        always(answer("second")),
    ]);
    let gateway = before(&[&backend], "", "");
    let mut client = gateway.connect();
    client.ask("POST", "/passed", &[("Content-Length", "0")]).expect(200, "first");
    // The loop sees the end of it before it sees another request, since that comes later.
    let place = gateway.shared.proxied.groups().next().unwrap().members()[0].id;
    while gateway.shared.connections.to(place).open > 0 {
        std::thread::yield_now();
    }
    client.ask("POST", "/passed", &[("Content-Length", "0")]).expect(200, "second");
    let counted = gateway.shared.connections.to(place);
    assert_eq!((counted.opened, counted.stale, counted.reused, counted.retried), (2, 1, 0, 0));
    drop(gateway);
    backend.join();
}

#[test]
fn what_is_no_answer_is_a_502() {
    for said in [
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    ] {
        let backend = Backend::start(vec![script(move |peer| {
            peer.head();
            peer.send(said);
            peer.end();
            peer.until_end();
        })]);
        let gateway = before(&[&backend], "", "");
        gateway.get("/passed").expect(502, "BadGateway");
        drop(gateway);
        backend.join();
    }
}

#[test]
fn a_silent_backend_is_a_504_and_its_connection_is_not_used_again() {
    let (asked, is_asked) = std::sync::mpsc::channel();
    let backend = Backend::start(vec![script(move |peer| {
        peer.head();
        asked.send(()).unwrap();
        peer.until_end();
    })]);
    let (gateway, hand) = before_by_hand(&[&backend], "first_byte_ms_max = 2000", "");
    let mut client = gateway.connect();
    client.send("GET", "/passed", &[]);
    is_asked.recv().unwrap();
    while !backend.is_done() {
        hand.advance(Duration::from_secs(1));
        std::thread::yield_now();
    }
    client.read("GET").expect(504, "GatewayTimeout");
    backend.join();
}

#[test]
fn more_than_may_be_in_flight_is_a_503_at_once() {
    let (backend, is_asked, go_on) = late();
    let gateway = before(&[&backend], "in_flight_max = 1", "");
    let mut first = gateway.connect();
    first.send("GET", "/passed", &[]);
    is_asked.recv().unwrap();
    let told = gateway.get("/passed");
    told.expect(503, "BackendFull");
    assert_eq!(told.header("retry-after"), Some("1"));
    go_on.send(()).unwrap();
    first.read("GET").expect(200, "late");
    drop(gateway);
    backend.join();
}

#[test]
fn a_client_that_sends_half_a_body_is_told_and_the_backend_never_sees_a_whole_one() {
    let backend = Backend::start(vec![script(|peer| {
        peer.head();
        peer.until_end();
    })]);
    let gateway = before(&[&backend], "", "");
    let mut client = gateway.connect();
    client.send("POST", "/passed", &[("Content-Length", "1000000")]);
    client.send_raw("beginning");
    client.stream().shutdown(std::net::Shutdown::Write).unwrap();
    client.read("POST").expect(400, "");
    drop(gateway);
    backend.join();
}
