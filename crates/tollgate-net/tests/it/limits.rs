//! Every limit of the table, at the limit and one above.

use std::io::Read;
use std::time::Duration;

use tollgate_net::http1::Fault;
use tollgate_net::http1::server::{CloseCause, ConnectionState};
use tollgate_net::limits::{Limits, TABLE};

use super::server;
use super::support::{Client, Running, wait_until_read};

/// Each limit with the test that is about it; a limit without one is a mistake.
const TESTED: &[(&str, fn())] = &[
    ("head_bytes_max", head_bytes),
    ("headers_max", headers),
    ("target_bytes_max", target_bytes),
    ("body_bytes_max", body_bytes),
    ("held_bytes_max", held_bytes),
    ("unsent_bytes_max", unsent_bytes),
    ("header_timeout", header_timeout_before_and_within_a_head),
    ("body_grace", body_rate),
    ("body_bytes_per_second_min", body_rate),
    ("idle_timeout", idle_timeout),
    ("requests_per_connection_max", requests_per_connection),
    ("connections_max", connections),
    ("connections_waiting_max", connections_waiting),
    ("connections_per_client_max", connections_per_client),
    ("write_stall_timeout", server::a_client_that_takes_nothing_is_given_up_and_its_memory_is_bounded),
    ("chunk_extension_bytes_max", chunk_extension_bytes),
    ("trailer_bytes_max", trailer_bytes),
    ("discarded_body_bytes_max", server::a_small_unread_body_is_dropped_and_a_large_one_ends_the_connection),
    ("linger_timeout", lingering_ends_with_its_time),
    ("linger_bytes_max", lingering_ends_with_its_bytes),
    ("drain_timeout", server::draining_ends_at_its_deadline_even_if_an_exchange_does_not),
];

#[test]
fn every_limit_of_the_table_is_tested() {
    let names: Vec<_> = TABLE.iter().map(|limit| limit.name).collect();
    let tested: Vec<_> = TESTED.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, tested);
}

/// The status of the answer to `request` under `limits`, all at once and in two pieces.
fn status(limits: &Limits, request: &str) -> u16 {
    let server = Running::start(limits.clone());
    let whole = server.converse(request);
    let mut client = server.connect();
    let (start, end) = request.split_at(request.len() / 2);
    client.send(start);
    client.send(end);
    client.end();
    let pieces = client.rest();
    assert_eq!(whole[..12], pieces[..12], "{whole} {pieces}");
    whole[9..12].parse().unwrap()
}

fn padded(start: &str, length: usize) -> String {
    let end = "\r\n\r\n";
    format!("{start}{}{end}", "x".repeat(length - start.len() - end.len()))
}

#[test]
fn head_bytes() {
    let limits = Limits { head_bytes_max: 500, ..Limits::default() };
    let head = |length| padded("GET / HTTP/1.1\r\nHost: a\r\nX: ", length);
    assert_eq!(status(&limits, &head(500)), 200);
    assert_eq!(status(&limits, &head(501)), 431);
    // An endless head is refused as soon as it cannot fit any more.
    assert_eq!(status(&limits, &head(600)[..500]), 431);
}

#[test]
fn headers() {
    let limits = Limits { headers_max: 5, ..Limits::default() };
    let head = |count: usize| format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(count - 1));
    assert_eq!(status(&limits, &head(5)), 200);
    assert_eq!(status(&limits, &head(6)), 431);
}

#[test]
fn target_bytes() {
    let limits = Limits { target_bytes_max: 50, ..Limits::default() };
    let head = |length: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(length - 1));
    assert_eq!(status(&limits, &head(50)), 200);
    assert_eq!(status(&limits, &head(51)), 414);
    assert_eq!(status(&limits, &head(90)[..60]), 414);
}

#[test]
fn body_bytes() {
    let limits = Limits { body_bytes_max: 20_000, ..Limits::default() };
    for verb in ["echo", "stream"] {
        let by_length = |length: usize| {
            format!("POST /{verb} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{}", "x".repeat(length))
        };
        let chunked = |length: usize| {
            let half = format!("{:x}\r\n{}\r\n", length / 2, "x".repeat(length / 2));
            let rest = format!("{:x}\r\n{}\r\n0\r\n\r\n", length - length / 2, "x".repeat(length - length / 2));
            format!("POST /{verb} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{half}{rest}")
        };
        assert_eq!((status(&limits, &by_length(20_000)), status(&limits, &chunked(20_000))), (200, 200));
        assert_eq!((status(&limits, &by_length(20_001)), status(&limits, &chunked(20_001))), (413, 413));
    }
    let up_to = |length: usize| {
        format!("POST /up-to/10 HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{}", "x".repeat(length))
    };
    assert_eq!((status(&limits, &up_to(10)), status(&limits, &up_to(11))), (200, 413));
    let server = Running::start(limits);
    let answer = server.converse(up_to(11));
    assert!(answer.ends_with("my own words") && answer.contains("Connection: close\r\n"), "{answer}");
}

#[test]
fn held_bytes() {
    let server = Running::start(Limits { held_bytes_max: 100, ..Limits::default() });
    let start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    let part = |length: usize| format!("{start}{}", "x".repeat(length - start.len()));
    let held = |bytes| server.wait_until(|counters| counters.held_bytes() == bytes);
    // All of them together count, and nothing of them but what came.
    let (mut first, mut second, mut third) = (server.connect(), server.connect(), server.connect());
    first.send(part(60));
    held(60);
    second.send(part(40));
    held(100);
    third.send("G");
    let answer = third.answer();
    assert!(answer.status == 503 && answer.head.contains("Retry-After: 1\r\n"), "{answer:?}");
    // Whoever ends in one piece needs nothing of it, and what was held is given back.
    assert_eq!(server.connect().ask("/").status, 200);
    for client in [&mut first, &mut second] {
        client.send("\r\n\r\n");
        assert_eq!(client.answer().status, 200);
    }
    held(0);
    // A body that is gathered holds the buffers of its exchange while it waits, one that is streamed gives them back.
    let request = |verb: &str| format!("POST /{verb} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
    let (mut gathered, mut streamed) = (server.connect(), server.connect());
    gathered.send(request("echo"));
    assert_eq!(gathered.answer().status, 503);
    streamed.send(request("stream"));
    server.wait_until(|counters| counters.connections(ConnectionState::Reading) == 1);
    streamed.send("123456789");
    assert_eq!(streamed.answer().status, 200);
    held(0);
    assert_eq!(server.counters.faults(Fault::MemoryFull), 2);
}

#[test]
fn a_large_body_is_held_for_as_long_as_its_service_takes() {
    let server = Running::start(Limits { held_bytes_max: 200_000, ..Limits::default() });
    let ponder = |length: usize| {
        format!("POST /ponder HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{}", "x".repeat(length))
    };
    let (mut first, mut second, mut small) = (server.connect(), server.connect(), server.connect());
    first.send(ponder(100_000));
    server.wait_until(|counters| counters.held_bytes() >= 100_000);
    second.send(ponder(100_000));
    assert_eq!(second.answer().status, 503);
    drop(second);
    // One of the usual size needs nothing of it.
    small.send(ponder(1_000));
    server.wait_until(|counters| counters.connections(ConnectionState::Working) == 2);
}

#[test]
fn unsent_bytes() {
    // Far more than what sockets take.
    const BODY_BYTES: u64 = 16_000_000;
    let server = Running::start(Limits { unsent_bytes_max: 35_000_000, ..Limits::default() });
    let unsent = |count: u64| server.wait_until(|counters| counters.unsent_bytes() >= count * BODY_BYTES);
    let cut = || server.counters.connections_closed(CloseCause::UnsentFull);
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for (client, expected) in clients.iter_mut().zip([1, 2, 2]) {
        client.send(format!("GET /large/{BODY_BYTES} HTTP/1.1\r\nHost: a\r\n\r\n"));
        unsent(expected);
    }
    server.wait_until(|_| cut() == 1);
    // Whoever takes an answer at once needs nothing of it.
    assert_eq!(server.connect().ask("/").status, 200);
    let read = |client: &mut Client| {
        let mut answer = Vec::new();
        client.end();
        client.socket.read_to_end(&mut answer).map(|_| answer.len() as u64)
    };
    let read: Vec<_> = clients.iter_mut().map(read).collect();
    let whole = read.iter().flatten().filter(|length| **length > BODY_BYTES).count();
    assert_eq!((read.iter().filter(|read| read.is_err()).count(), whole), (1, 2), "{read:?}");
    server.wait_until(|counters| counters.unsent_bytes() == 0);
    assert!(server.counters.unsent_bytes_peak() <= 35_000_000);
    assert_eq!(cut(), 1);
    // One answer that is larger than all may be is not begun in vain: what the socket takes at once is sent.
    let server = Running::start(Limits { unsent_bytes_max: 1, ..Limits::default() });
    assert_eq!(server.connect().ask("/").status, 200);
    let mut client = server.connect();
    client.send(format!("GET /large/{BODY_BYTES} HTTP/1.1\r\nHost: a\r\n\r\n"));
    server.wait_until(|counters| counters.connections_closed(CloseCause::UnsentFull) == 1);
}

#[test]
fn a_head_that_waits_holds_its_bytes_and_no_buffer() {
    let server = Running::start(Limits::default());
    let mut clients: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for (sent, byte) in "GET / HTTP/1.1\r\nHost: a\r\n\r".bytes().enumerate() {
        clients.iter_mut().for_each(|client| client.send([byte]));
        server.wait_until(|counters| counters.held_bytes() == 200 * (sent as u64 + 1));
    }
    for client in &mut clients {
        client.send("\n");
        assert_eq!(client.answer().status, 200);
    }
    server.wait_until(|counters| counters.held_bytes() == 0);
}

#[test]
fn header_timeout_before_and_within_a_head() {
    let server = Running::start(Limits::default());
    let mut silent = server.connect();
    server.wait_until(|counters| counters.connections_open() == 1);
    // One tick short of the limit it is still open: the request is answered.
    server.clock.advance(Duration::from_millis(9_999));
    assert_eq!(silent.ask("/").status, 200);
    let mut silent = server.connect();
    let mut slow = server.connect();
    slow.send("GET / HTTP/1.1\r\nHost:");
    server.wait_until(|counters| counters.connections_open() == 3);
    wait_until_read(&slow.socket);
    let timed_out = |fault| server.counters.faults(fault) == 1;
    server.advance_until(|| timed_out(Fault::HeaderTimeout));
    let answer = slow.answer();
    assert!(answer.status == 408 && answer.head.contains("Connection: close\r\n"), "{answer:?}");
    server.advance_until(|| server.counters.connections_closed(CloseCause::IdleTimeout) >= 1);
    assert_eq!(silent.rest(), "");
}

#[test]
fn idle_timeout() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    assert_eq!(client.ask("/").status, 200);
    server.clock.advance(Duration::from_millis(74_999));
    assert_eq!(client.ask("/").status, 200);
    server.advance_until(|| server.counters.connections_closed(CloseCause::IdleTimeout) == 1);
    assert_eq!(client.rest(), "");
    assert_eq!(server.counters.responses(4), 0);
}

#[test]
fn body_rate() {
    for verb in ["echo", "stream"] {
        let server = Running::start(Limits::default());
        let mut client = server.connect();
        client.send(format!("POST /{verb} HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n"));
        server.wait_until(|counters| counters.requests() == 1);
        server.advance_until(|| server.counters.faults(Fault::BodyTimeout) == 1);
        assert_eq!(client.answer().status, 408);
    }
    // What keeps to the rate is not cut off, however long it takes: 60 s here.
    let server = Running::start(Limits { body_bytes_per_second_min: 10, ..Limits::default() });
    let mut client = server.connect();
    let head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1200\r\n\r\n";
    client.send(head);
    for count in 1..=120 {
        client.send("0123456789");
        server.wait_until(|counters| count == 120 || counters.received_bytes() == head.len() as u64 + count * 10);
        server.clock.advance(Duration::from_millis(500));
    }
    assert_eq!(client.answer().status, 200);
}

#[test]
fn requests_per_connection() {
    let server = Running::start(Limits { requests_per_connection_max: 3, ..Limits::default() });
    let mut client = server.connect();
    for _ in 0..2 {
        assert!(!client.ask("/").head.contains("Connection"));
    }
    assert!(client.ask("/").head.contains("Connection: close\r\n"));
    assert_eq!(client.rest(), "");
    server.wait_until(|counters| counters.connections_closed(CloseCause::RequestsSpent) == 1);
}

#[test]
fn connections() {
    let server = Running::start(Limits { connections_max: 2, ..Limits::default() });
    let (mut first, mut second) = (server.connect(), server.connect());
    assert_eq!((first.ask("/").status, second.ask("/").status), (200, 200));
    let mut third = server.connect();
    third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let answer = third.answer();
    assert!(answer.status == 503 && answer.head.contains("Retry-After: 1\r\n"), "{answer:?}");
    third.end();
    assert_eq!(third.rest(), "");
    drop(second);
    server.wait_until(|counters| counters.connections_open() == 1);
    assert_eq!(server.connect().ask("/").status, 200);
    assert_eq!(server.counters.faults(Fault::ConnectionsFull), 1);
}

#[test]
fn connections_waiting() {
    let limits = Limits { connections_max: 2, connections_waiting_max: 1, ..Limits::default() };
    let server = Running::start(limits);
    let mut first = server.connect();
    assert!(!first.ask("/").head.contains("Connection"), "there is another place");
    let mut second = server.connect();
    server.wait_until(|counters| counters.connections_open() == 2);
    let mut third = server.connect();
    third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_until(|counters| counters.connections_waiting() == 1);
    let mut fourth = server.connect();
    fourth.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((fourth.answer().status, server.counters.faults(Fault::ConnectionsFull)), (503, 1));
    fourth.end();
    // Who has a place gives it back behind the answer, and who waited is served in it.
    assert!(second.ask("/").head.contains("Connection: close\r\n"));
    second.end();
    assert_eq!((third.answer().status, server.counters.connections_waiting()), (200, 0));
    third.end();
    server.wait_until(|counters| counters.connections_closed(CloseCause::MadeRoom) == 2);
    server.wait_until(|counters| counters.connections_open() == 1);
    assert!(!first.ask("/").head.contains("Connection"), "there is a place again");
}

#[test]
fn connections_per_client() {
    let limits = Limits { connections_per_client_max: 2, ..Limits::default() };
    let server = Running::start(limits);
    let mut held = [server.connect(), server.connect()];
    held.iter_mut().for_each(|client| assert_eq!(client.ask("/").status, 200));
    let mut third = server.connect();
    third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((third.answer().status, server.counters.faults(Fault::ClientConnectionsFull)), (429, 1));
    third.end();
    held.iter_mut().for_each(|client| assert_eq!(client.ask("/").status, 200, "those that are there stay"));
    drop(held);
    server.wait_until(|counters| counters.connections_open() == 0);
    assert_eq!(server.connect().ask("/").status, 200);
}

#[test]
fn a_client_gets_its_places_back_after_a_panic_and_from_the_queue() {
    let limits =
        Limits { connections_max: 1, connections_waiting_max: 4, connections_per_client_max: 2, ..Limits::default() };
    let server = Running::start(limits);
    let mut first = server.connect();
    assert_eq!(first.ask("/panic").status, 500);
    first.end();
    server.wait_until(|counters| counters.connections_open() == 0);
    let mut held = server.connect();
    held.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_until(|counters| counters.requests() == 2);
    let mut waiting = server.connect();
    waiting.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_until(|counters| counters.connections_waiting() == 1);
    let mut refused = server.connect();
    assert_eq!(refused.answer().status, 429, "who waits counts");
    refused.end();
    drop(held);
    assert_eq!(waiting.answer().status, 200);
    waiting.end();
    server.wait_until(|counters| counters.connections_open() == 0);
    let again: Vec<_> = (0..2).map(|_| server.connect()).collect();
    server.wait_until(|counters| counters.connections_open() + counters.connections_waiting() == 2);
    assert_eq!(server.counters.faults(Fault::ClientConnectionsFull), 1);
    drop(again);
}

#[test]
fn who_waits_too_long_for_a_place_is_turned_away() {
    let limits = Limits { connections_max: 1, connections_waiting_max: 1, ..Limits::default() };
    let server = Running::start(limits);
    let mut first = server.connect();
    first.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_until(|counters| counters.requests() == 1);
    let mut second = server.connect();
    second.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    server.wait_until(|counters| counters.connections_waiting() == 1);
    server.clock.advance(Limits::default().header_timeout);
    // Tiny moves: the first one is given up only after three times as long.
    while server.counters.faults(Fault::ConnectionsFull) == 0 {
        server.clock.advance(Duration::from_micros(1));
        std::thread::yield_now();
    }
    assert_eq!(second.answer().status, 503);
}

#[test]
fn chunk_extension_bytes() {
    let limits = Limits { chunk_extension_bytes_max: 20, ..Limits::default() };
    // Counted over all chunks, semicolons included.
    let request = |length: usize| {
        let (first, second) = (";".to_owned() + &"x".repeat(9), ";".to_owned() + &"x".repeat(length - 11));
        format!(
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1{first}\r\na\r\n0{second}\r\n\r\n"
        )
    };
    assert_eq!((status(&limits, &request(20)), status(&limits, &request(21))), (200, 400));
}

#[test]
fn trailer_bytes() {
    let limits = Limits { trailer_bytes_max: 20, ..Limits::default() };
    let request = |length: usize| {
        let trailer = format!("A: {}\r\n", "x".repeat(length - 5));
        format!("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{trailer}\r\n")
    };
    assert_eq!((status(&limits, &request(20)), status(&limits, &request(21))), (200, 431));
}

#[test]
fn lingering_ends_with_its_time() {
    let server = Running::start(Limits::default());
    let mut client = server.connect();
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.answer().status, 400);
    // Our side stays open: only the clock ends the lingering.
    assert_eq!(server.counters.connections_open(), 1);
    server.advance_until(|| server.counters.connections_open() == 0);
}

#[test]
fn lingering_ends_with_its_bytes() {
    let server = Running::start(Limits { linger_bytes_max: 10_000, ..Limits::default() });
    let mut client = server.connect();
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.answer().status, 400);
    client.send(vec![b'x'; 9_999]);
    server.wait_until(|counters| counters.connections_open() == 1);
    client.send("x");
    server.wait_until(|counters| counters.connections_open() == 0);
}
