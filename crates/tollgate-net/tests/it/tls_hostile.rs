//! Clients that must not hurt a TLS listener: they say nothing, half of something, or something else.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use tollgate_net::http1::Fault;
use tollgate_net::http1::server::{CloseCause, ConnectionState};
use tollgate_net::limits::Limits;
use tollgate_net::tls::HandshakeKind;
use tollgate_net::tls::server::{Acceptor, HandshakeFailure};

use super::support::{Running, wait_until_read};
use super::tls_server::{BOTH, Client, TLS12, TLS13, WORLD};

fn start(limits: Limits) -> Running {
    Running::start_tls(limits, &Acceptor::new(&WORLD.settings()).unwrap())
}

/// The first message of a client.
fn hello() -> Vec<u8> {
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = ClientConnection::new(WORLD.client(BOTH, None), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_request_without_tls_is_told_so_and_closed() {
    let server = start(Limits::default());
    let answer = server.converse("GET /rows HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("Connection: close"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nthis port speaks TLS: ask with https\n"), "{answer}");
    assert!(server.converse("GET").starts_with("HTTP/1.1 400 "));
    server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::PlainRequest) == 2);
    assert_eq!(server.counters.faults(Fault::PlainRequest), 2);
    assert_eq!(server.counters.requests(), 0);
}

#[test]
fn what_is_neither_tls_nor_a_request_is_closed_without_a_word() {
    let server = start(Limits::default());
    for bytes in [&b"\0\0\0\0"[..], b"\x80\x2e\x01\x00\x02", b"\xff\xff"] {
        assert_eq!(server.converse(bytes), "");
    }
    server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::NotTls) == 3);
    server.wait_until(|counters| counters.connections_closed(CloseCause::Handshake) == 3);
}

#[test]
fn what_only_looks_like_a_handshake_is_answered_by_an_alert() {
    let server = start(Limits::default());
    let mut broken = hello();
    broken[5] ^= 0x40;
    for bytes in [b"\x16\x03\x01\x00\x05hello".to_vec(), broken, b"\x16\x03\x03\xff\xff".to_vec()] {
        let mut client = server.connect();
        client.send(bytes);
        client.end();
        let mut answer = Vec::new();
        std::io::Read::read_to_end(&mut client.socket, &mut answer).unwrap();
        assert!(answer.is_empty() || answer[0] == 21, "{answer:?}");
    }
    let failed = |counters: &tollgate_net::http1::server::Counters| {
        counters.handshakes_failed(HandshakeFailure::Misbehaved) + counters.handshakes_failed(HandshakeFailure::Closed)
    };
    server.wait_until(|counters| failed(counters) == 3);
}

#[test]
fn a_client_with_unknown_ciphers_only_gets_an_alert_and_is_counted() {
    let server = start(Limits::default());
    let mut hello = hello();
    // Behind the heads of record and message (5 + 4), version and random (2 + 32): the session, then the suites.
    let suites = 44 + usize::from(hello[43]);
    let length = usize::from(u16::from_be_bytes([hello[suites], hello[suites + 1]]));
    for suite in hello[suites + 2..][..length].chunks_exact_mut(2) {
        // RSA key exchange with RC4, of which nothing here knows.
        suite.copy_from_slice(&[0x00, 0x05]);
    }
    let mut client = server.connect();
    client.send(hello);
    client.end();
    let mut answer = Vec::new();
    std::io::Read::read_to_end(&mut client.socket, &mut answer).unwrap();
    assert_eq!(answer, b"\x15\x03\x03\x00\x02\x02\x28", "handshake_failure");
    server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::Cipher) == 1);
}

#[test]
fn a_client_that_does_not_go_on_is_counted_by_its_reason() {
    let check = |client: ClientConfig, expected: HandshakeFailure| {
        let server = start(Limits::default());
        assert!(Client::connect(server.address, &Arc::new(client)).ask("/").is_err());
        server.wait_until(|counters| counters.handshakes_failed(expected) == 1);
        assert_eq!(server.counters.handshakes(HandshakeKind::Full), 0, "{expected:?}");
    };
    let mut only_http_2 = (*WORLD.client(TLS13, None)).clone();
    only_http_2.alpn_protocols = vec![b"h2".to_vec()];
    check(only_http_2, HandshakeFailure::Protocol);
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let trusts_nobody = ClientConfig::builder_with_provider(ring)
        .with_protocol_versions(TLS12)
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    check(trusts_nobody, HandshakeFailure::RefusedByClient);
}

#[test]
fn who_says_nothing_or_half_of_it_is_closed_in_time_while_others_are_served() {
    let server = start(Limits::default());
    let hello = hello();
    let mut waiting: Vec<_> = (0..300).map(|_| server.connect()).collect();
    for (index, client) in waiting.iter_mut().enumerate() {
        match index % 3 {
            0 => {}
            1 => client.send(&hello[..hello.len() / 2]),
            // All of the first message, and never the second.
            _ => client.send(&hello),
        }
    }
    server.wait_until(|counters| counters.connections(ConnectionState::Handshaking) == 300);
    // What is still unread when a connection is closed would make a reset of its end.
    waiting.iter().for_each(|client| wait_until_read(&client.socket));
    // Fresh clients meanwhile.
    let config = WORLD.client(BOTH, None);
    for _ in 0..5 {
        Client::connect(server.address, &config).ask("/").unwrap();
    }
    assert_eq!(server.counters.connections(ConnectionState::Handshaking), 300);
    server.advance_until(|| server.counters.handshakes_failed(HandshakeFailure::Timeout) == 300);
    server.wait_until(|counters| counters.connections(ConnectionState::Handshaking) == 0);
    for client in &mut waiting {
        // What came of the server's own messages, and then the end.
        let mut answer = Vec::new();
        std::io::Read::read_to_end(&mut client.socket, &mut answer).unwrap();
    }
    assert_eq!(server.counters.held_bytes(), 0);
}

#[test]
fn the_handshake_counts_into_the_time_of_the_first_head() {
    let limits = Limits { header_timeout: std::time::Duration::from_secs(10), ..Limits::default() };
    let server = start(limits);
    let mut client = Client::connect(server.address, &WORLD.client(TLS13, None));
    client.send("GET /").unwrap();
    server.wait_until(|counters| counters.connections(ConnectionState::Reading) == 1);
    client.wait_until_read();
    server.advance_until(|| server.counters.faults(Fault::HeaderTimeout) == 1);
    let (head, _) = client.answer().unwrap();
    assert!(head.starts_with("HTTP/1.1 408 "), "{head}");
}

#[test]
fn records_may_come_byte_by_byte() {
    let server = start(Limits::default());
    for versions in [TLS12, TLS13] {
        let name = ServerName::try_from("localhost").unwrap();
        let mut tls = ClientConnection::new(WORLD.client(versions, None), name).unwrap();
        let mut raw = server.connect();
        let request = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
        std::io::Write::write_all(&mut tls.writer(), request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"hello") {
            let mut outgoing = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut outgoing).unwrap();
            }
            for byte in outgoing {
                raw.send([byte]);
            }
            tls.read_tls(&mut raw.socket).unwrap();
            tls.process_new_packets().unwrap();
            let mut buffer = [0; 1000];
            if let Ok(count) = std::io::Read::read(&mut tls.reader(), &mut buffer) {
                answer.extend_from_slice(&buffer[..count]);
            }
        }
        assert!(answer.starts_with(b"HTTP/1.1 200 "));
    }
    assert_eq!(server.counters.handshakes(HandshakeKind::Full), 2);
}

#[test]
fn a_record_that_was_tampered_with_ends_the_connection() {
    let server = start(Limits::default());
    let mut raw = server.connect();
    let name = ServerName::try_from("localhost").unwrap();
    let mut tls = ClientConnection::new(WORLD.client(TLS13, None), name).unwrap();
    while tls.is_handshaking() {
        tls.complete_io(&mut raw.socket).unwrap();
    }
    while tls.wants_write() {
        tls.write_tls(&mut raw.socket).unwrap();
    }
    server.wait_until(|counters| counters.connections(ConnectionState::Idle) == 1);
    std::io::Write::write_all(&mut tls.writer(), b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut record = Vec::new();
    tls.write_tls(&mut record).unwrap();
    *record.last_mut().unwrap() ^= 1;
    raw.send(record);
    server.wait_until(|counters| counters.connections_closed(CloseCause::Broken) == 1);
    assert_eq!(server.counters.requests(), 0);
}

#[test]
fn unfinished_handshakes_hold_no_more_memory_than_they_may() {
    let server = start(Limits { held_bytes_max: 4096, ..Limits::default() });
    // A message that says that it is long, and most of it.
    let mut long = b"\x16\x03\x01\x3f\xff\x01\x00\x3f\xfb".to_vec();
    long.resize(8000, 0);
    let mut client = server.connect();
    client.send(&long);
    server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::MemoryFull) == 1);
    let config: Arc<_> = WORLD.client(TLS13, None);
    Client::connect(server.address, &config).ask("/").unwrap();
}

#[test]
fn beyond_the_limit_connections_are_closed_without_a_handshake() {
    let server = start(Limits { connections_max: 1, ..Limits::default() });
    let first = server.connect();
    server.wait_until(|counters| counters.connections_open() == 1);
    assert_eq!(server.converse(""), "");
    server.wait_until(|counters| counters.faults(Fault::ConnectionsFull) == 1);
    drop(first);
    server.wait_until(|counters| counters.connections_open() == 0);
    Client::connect(server.address, &WORLD.client(TLS13, None)).ask("/").unwrap();
}
