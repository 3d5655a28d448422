//! Treatment of valid requests by the server: persistence, pipelining, expectations, parts, the end.

use std::io::{Read, Write};
use std::time::Duration;

use tollgate_net::http1::Fault;
use tollgate_net::http1::server::CloseCause;
use tollgate_net::limits::Limits;
use tollgate_net::listen::Reserved;

use super::support::Running;

/// The one answer to `request` without its `Date` field, and whether the server closes after it.
fn check(request: &str, expected: &str) {
    let server = Running::start(Limits::default());
    let answer = server.converse(request).replace("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", "");
    assert_eq!(answer, expected, "{request:?}");
}

#[test]
fn persistence_is_as_version_and_connection_field_say() {
    let kept = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let kept_10 = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello";
    let closed = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
    check("GET / HTTP/1.1\r\nHost: a\r\n\r\n", kept);
    check("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", kept);
    check("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", closed);
    check("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\n", closed);
    check("GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: close\r\n\r\n", closed);
    check("GET / HTTP/1.0\r\n\r\n", closed);
    check("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", kept_10);
    check("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", closed);
}

#[test]
fn answers_without_a_body_have_none_and_say_what_they_must() {
    check("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    check("GET /status/204 HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n");
    check("GET /status/304 HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n");
    check("HEAD /parts/2 HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    check("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    check(
        "GET /status/150 HTTP/1.1\r\nHost: a\r\n\r\n",
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    );
}

#[test]
fn parts_are_delimited_as_the_version_allows_and_the_service_asks() {
    check(
        "GET /parts/2 HTTP/1.1\r\nHost: a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\npart 0000\n\r\na\r\npart 0001\n\r\n0\r\n\r\n",
    );
    check(
        "GET /parts/2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npart 0000\npart 0001\n",
    );
    check("GET /announced/10 HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nxxxxxxxxxx");
    check("GET /until-close HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end");
}

#[test]
fn a_last_part_ends_the_answer_and_the_connection_goes_on() {
    let request = |count: usize, version: &str| format!("GET /last/{count} {version}\r\nHost: a\r\n\r\n");
    let whole = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nlast part\n";
    check(&request(0, "HTTP/1.1"), whole);
    check(&request(0, "HTTP/1.1").repeat(2), &whole.repeat(2));
    check(
        &request(1, "HTTP/1.1"),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nsome part\n\r\na\r\nlast part\n\r\n0\r\n\r\n",
    );
    check(&request(1, "HTTP/1.0"), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nsome part\nlast part\n");
    check(&request(0, "HTTP/1.1").replace("GET", "HEAD"), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
}

#[test]
fn parts_that_are_kept_back_become_a_whole_answer_unless_they_grow_too_large() {
    let request = |bytes_max: usize| format!("GET /kept/{bytes_max} HTTP/1.1\r\nHost: a\r\n\r\n");
    let whole = "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nKept: whole\r\n\r\nsome part\nsome part\nlast part\n";
    check(&request(30).repeat(2), &whole.repeat(2));
    let parts = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        14\r\nsome part\nsome part\n\r\na\r\nlast part\n\r\n0\r\n\r\n";
    check(&request(19).repeat(2), &parts.repeat(2));
    check(&request(29), "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\nsome part\nsome part\nlast part\n");
}

#[test]
fn parts_that_are_kept_back_are_counted_and_go_as_they_come_where_memory_is_short() {
    let kept_of = |held_bytes_max: usize| {
        let server = Running::start(Limits { held_bytes_max, ..Limits::default() });
        server.converse("GET /kept/1000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    };
    // Of twenty bytes, and then of thirty, 32 are taken, which may be half of all.
    let whole = kept_of(64);
    assert!(whole.contains("Content-Length: 30\r\n") && whole.contains("Kept: whole\r\n"), "{whole}");
    let parts = kept_of(40);
    assert!(parts.ends_with("\r\n\r\n14\r\nsome part\nsome part\n\r\na\r\nlast part\n\r\n0\r\n\r\n"), "{parts}");
}

#[test]
fn a_body_that_others_hold_too_is_sent_as_any_other() {
    for length in [0, 5, 4096, 4097, 100_000] {
        let body = "x".repeat(length);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        let request = format!("GET /shared/{length} HTTP/1.1\r\nHost: a\r\n\r\n");
        check(&request.repeat(2), &format!("{head}{body}").repeat(2));
        check(&request.replace("GET", "HEAD"), &head);
    }
    // Nothing of it is left for the next answer.
    let two = "GET /shared/5 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    check(two, &format!("{head}xxxxx{head}hello"));
}

#[test]
fn fields_that_are_taken_out_of_a_request_are_not_found_any_more() {
    check(
        "GET /removed HTTP/1.1\r\nHost: a\r\nIF-None-Match: *\r\nAccept: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHost Accept",
    );
}

#[test]
fn a_service_that_sends_another_length_than_announced_has_its_connection_broken_off() {
    for length in [9, 11] {
        let server = Running::start(Limits::default());
        let mut client = server.connect();
        client.send(format!("GET /announced/{length} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert!(client.rest().starts_with("HTTP/1.1 200 OK\r\n"));
        assert_eq!(server.join().connections_closed(CloseCause::Aborted), 1);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    let request = |name: usize| format!("GET /request?{name} HTTP/1.1\r\nHost: a\r\n\r\n");
    client.send((0..100).map(request).collect::<String>());
    for name in 0..100 {
        assert_eq!(client.answer().body, format!("GET /request?{name} a"));
    }
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcPOST /stream HTTP/1.1\r\nHost: a\r\n");
    client.send("Transfer-Encoding: chunked\r\n\r\n3\r\ndef\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!([client.answer().body, client.answer().body, client.answer().body], ["abc", "def", "hello"]);
}

#[test]
fn a_body_of_any_kind_and_size_arrives_whole() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    for verb in ["echo", "stream"] {
        for size in [1, 4095, 4096, 16 * 1024, 100_000, 1_000_000] {
            let body: String = ('a'..='z').cycle().take(size).collect();
            let mut other = client.socket.try_clone().unwrap();
            let by_length = format!("POST /{verb} HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n{body}");
            let mut chunked = format!("POST /{verb} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
            for chunk in body.as_bytes().chunks(777) {
                chunked += &format!("{:x}\r\n{}\r\n", chunk.len(), std::str::from_utf8(chunk).unwrap());
            }
            chunked += "0\r\n\r\n";
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    other.write_all(by_length.as_bytes()).unwrap();
                    other.write_all(chunked.as_bytes()).unwrap();
                });
                assert!(client.answer().body == body && client.answer().body == body, "{verb} {size}");
            });
        }
    }
}

#[test]
fn whoever_expects_it_is_told_to_continue_and_only_if_the_body_is_wanted() {
    let server = Running::start(Limits::default());
    let head =
        |path: &str| format!("POST /{path} HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n");
    for path in ["echo", "stream"] {
        let mut client = server.connect();
        client.send(head(path));
        assert_eq!(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
        client.send("abc");
        assert_eq!(client.answer().body, "abc");
        // Who does not wait for it is not told.
        client.send(head(path) + "def");
        assert_eq!(client.answer().body, "def");
    }
    let mut client = server.connect();
    client.send(head("request"));
    let answer = client.answer();
    assert!(answer.status == 200 && answer.head.contains("Connection: close\r\n"), "{answer:?}");
    assert_eq!(client.rest(), "");
    let mut client = server.connect();
    client.send("POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    client.send("abc");
    assert_eq!(client.answer().body, "abc");
}

#[test]
pub(super) fn a_small_unread_body_is_dropped_and_a_large_one_ends_the_connection() {
    let limits = Limits { discarded_body_bytes_max: 1000, ..Limits::default() };
    let server = Running::start(limits);
    let post = |length: usize| format!("POST /request HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
    let mut client = server.connect();
    client.send(post(1000));
    assert_eq!(client.answer().status, 200);
    client.send("x".repeat(1000));
    assert_eq!(client.ask("/").body, "hello");
    client.send(post(1001));
    assert!(client.answer().head.contains("Connection: close\r\n"));
    client.end();
    assert_eq!(client.rest(), "");
    let mut client = server.connect();
    client.send("POST /request HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    assert_eq!((client.answer().status, client.ask("/").body.as_str()), (200, "hello"));
    client.send("POST /request HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert!(client.answer().head.contains("Connection: close\r\n"));
    client.end();
    assert_eq!(client.rest(), "");
    server.wait_until(|counters| counters.connections_closed(CloseCause::BodyUnread) == 2);
}

#[test]
fn a_slow_reader_holds_the_service_back_and_loses_nothing() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    client.send("GET /parts/200000 HTTP/1.1\r\nHost: a\r\n\r\n");
    // Nothing is read: what the sockets hold is far less than these 3 MB, so the service must be waiting.
    server.wait_until(|counters| counters.requests() == 1);
    assert_eq!(server.counters.connections_open(), 1);
    let text = client.read_until("\r\n0\r\n\r\n");
    let parts: Vec<&str> = text.lines().filter(|line| line.starts_with("part ")).collect();
    assert_eq!(parts.len(), 200_000);
    assert!(parts.iter().enumerate().all(|(index, part)| *part == format!("part {index:04}")));
}

#[test]
pub(super) fn a_client_that_takes_nothing_is_given_up_and_its_memory_is_bounded() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    client.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_until(|counters| counters.requests() == 1);
    let closed = |cause| server.counters.connections_closed(cause);
    server.advance_until(|| closed(CloseCause::WriteStall) == 1);
    let mut rest = Vec::new();
    assert!(client.socket.read_to_end(&mut rest).is_err(), "it is reset");
}

#[test]
fn a_panic_of_the_service_ends_its_request_and_nothing_else() {
    let server = Running::start(Limits::default());
    let answer = server.converse("GET /panic HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 500 Internal Server Error\r\n"), "{answer}");
    assert!(answer.contains("\r\nConnection: close\r\n") && !answer.contains("hello"), "{answer}");
    assert_eq!(server.connect().ask("/").body, "hello");
    assert_eq!(server.counters.panics(), 1);
}

#[test]
fn a_fault_that_the_service_returns_is_answered_with_its_status() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    assert_eq!(client.ask("/fault").status, Fault::BadTarget.status());
    assert_eq!(client.rest(), "");
}

#[test]
fn a_service_can_break_its_connection_off() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    client.send("GET /break HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.rest(), "");
    let mut client = server.connect();
    client.send("GET /reset HTTP/1.1\r\nHost: a\r\n\r\n");
    let error = client.socket.read(&mut [0; 16]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    server.wait_until(|counters| counters.connections_closed(CloseCause::Aborted) == 2);
}

#[test]
fn draining_finishes_what_is_in_flight_and_closes_what_is_idle() {
    let reserved = Reserved::on_loopback().unwrap();
    let server = Running::start_at(reserved.address(), Limits::default());
    let mut idle = server.connect();
    assert_eq!(idle.ask("/").body, "hello");
    let mut fresh = server.connect();
    let mut busy = server.connect();
    busy.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
    server.wait_until(|counters| counters.requests() == 2 && counters.connections_open() == 3);
    server.shutdown.begin();
    assert_eq!((idle.rest(), fresh.rest()), (String::new(), String::new()));
    assert_eq!(server.counters.connections_closed(CloseCause::Drained), 2);
    busy.send("abc");
    let answer = busy.answer();
    assert!(answer.body == "abc", "{answer:?}");
    assert_eq!(busy.rest(), "");
    let address = server.address;
    assert_eq!(server.join().connections_open(), 0);
    let refused = std::net::TcpStream::connect(address).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
}

#[test]
pub(super) fn draining_ends_at_its_deadline_even_if_an_exchange_does_not() {
    let server = Running::start(Limits { drain_timeout: Duration::from_secs(3), ..Limits::default() });
    let mut client = server.connect();
    client.send("GET /forever HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_until(|counters| counters.requests() == 1);
    let counters = server.counters.clone();
    // Dropping it moves the clock until the server is gone.
    drop(server);
    assert_eq!(counters.connections_open(), 0);
    assert_eq!(client.rest(), "");
}

#[test]
fn the_counters_add_up() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut received = 0;
    for _ in 0..3 {
        client.send(request);
        let answer = client.answer();
        received += answer.head.len() + answer.body.len();
    }
    client.ask("/status/404");
    client.end();
    client.rest();
    server.wait_until(|counters| counters.connections_closed(CloseCause::Client) == 1);
    let counters = server.join();
    assert_eq!((counters.connections_accepted(), counters.requests()), (1, 4));
    assert_eq!((counters.responses(2), counters.responses(4)), (3, 1));
    assert_eq!(
        counters.received_bytes(),
        (3 * request.len() + "GET /status/404 HTTP/1.1\r\nHost: a\r\n\r\n".len()) as u64
    );
    assert!(counters.sent_bytes() > received as u64);
}
