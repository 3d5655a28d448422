//! Ambiguous requests, which two readers could read differently: refused, and nothing of them reaches a backend.
//!
//! The engine's own handling of such requests is tested in `tollgate-net`; the shapes here are also those of
//! `bench/reliability`.

use super::backend::{Backend, answer, script};
use super::before;
use crate::tests::client::Running;

/// A status, a description of the request, and its bytes; explained in the file.
const SHAPES: &str = include_str!("ambiguous.txt");

#[test]
fn what_could_be_read_in_two_ways_is_refused_and_no_backend_hears_of_it() {
    let backend = Backend::start(vec![script(|peer| {
        let seen = peer.head();
        assert!(seen.starts_with("GET /passed/last "), "{seen}");
        peer.send(&answer("last"));
        assert_eq!(peer.try_head(), None);
    })]);
    let gateway = before(&[&backend], "", "");
    let mut shapes = 0;
    for line in SHAPES.lines().filter(|line| !line.starts_with('#')) {
        let (status, rest) = line.split_once(" | ").unwrap();
        let (what, request) = rest.split_once(" | ").unwrap();
        let mut bytes = unescaped(request);
        bytes.extend_from_slice(b"GET /passed/smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
        let told = told(&gateway, &bytes);
        let is_refused = told.starts_with(&format!("HTTP/1.1 {status} ")) && told.matches("HTTP/1.1 ").count() == 1;
        assert!(is_refused && told.contains("Connection: close\r\n"), "{what}: {told}");
        shapes += 1;
    }
    assert!(shapes > 80, "{shapes}");
    gateway.get("/passed/last").expect(200, "last");
    drop(gateway);
    backend.join();
}

#[test]
fn a_body_that_turns_out_to_be_none_is_never_seen_to_be_whole() {
    let backend = Backend::start(vec![script(|peer| {
        let head = peer.head();
        assert!(head.contains("Transfer-Encoding: chunked\r\n"), "{head}");
        let rest = peer.until_end();
        assert!(!rest.ends_with(b"0\r\n\r\n") && !rest.windows(5).any(|window| window == b"GET /"), "it has an end");
    })]);
    let gateway = before(&[&backend], "", "");
    let chunk = format!("{:x}\r\n{}\r\n", 100_000, "x".repeat(100_000));
    let head = "POST /passed HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let request =
        format!("{head}{chunk}{chunk}+5\r\nhello\r\n0\r\n\r\nGET /passed/smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    let told = told(&gateway, request.as_bytes());
    assert!(told.starts_with("HTTP/1.1 400 ") && told.contains("Connection: close\r\n"), "{told}");
    drop(gateway);
    backend.join();
}

/// All bytes until the gateway ends the connection.
fn told(gateway: &Running, request: &[u8]) -> String {
    let mut client = gateway.connect();
    std::io::Write::write_all(client.stream(), request).unwrap();
    String::from_utf8(client.read_to_end()).unwrap()
}

/// Replaces `\r`, `\n`, `\t` and `\xNN` by the bytes they mean.
fn unescaped(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next() {
                Some(b'r') => b'\r',
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'x') => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                other => panic!("{other:?} behind a backslash in {text}"),
            },
            byte => byte,
        });
    }
    bytes
}
