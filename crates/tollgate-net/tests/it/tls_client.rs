//! The client over TLS against a server that cuts, closes, changes its keys or breaks the rules as it likes.

use std::io::{Read, Write};
use std::net::Shutdown;

use rustls::SupportedProtocolVersion;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tollgate_net::http1::client::{Answers, ClientConnection, Connector, ErrorClass, ExchangeError, Exchanged, Target};
use tollgate_net::tls::{TlsChoice, Upgrade};

use super::tls_peer::{Peer, SELF_SIGNED, config, serve};
use super::tls_server::{BOTH, TLS12, TLS13};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const ENDLESS: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nhello";

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn start(
    versions: &[&'static SupportedProtocolVersion],
    script: impl Fn(Peer) + Clone + Send + 'static,
) -> (Connector, Target) {
    let target = Target::parse(&format!("https://{}/", serve(config(SELF_SIGNED, versions), script))).unwrap();
    (Connector::new(TlsChoice::Insecure), target)
}

/// A connection to a server that behaves until it has read the first request, and then as the script says.
async fn open(
    versions: &[&'static SupportedProtocolVersion],
    script: impl Fn(Peer) + Clone + Send + 'static,
) -> ClientConnection {
    let (connector, target) = start(versions, move |mut peer: Peer| {
        if peer.handshake() && peer.request(REQUEST.len()).is_some() {
            script(peer);
        }
    });
    connector.open(&target).await.unwrap()
}

async fn ask(connection: &mut ClientConnection, request: &[u8]) -> Result<(Exchanged, Vec<u8>), ExchangeError> {
    let mut body = Vec::new();
    let exchanged = connection.exchange(request, Answers::Ordinary, &mut body).await?;
    Ok((exchanged, body))
}

#[test]
fn records_may_come_byte_by_byte_the_handshake_included() {
    fn dribble(peer: &mut Peer) {
        for byte in peer.records() {
            peer.socket.write_all(&[byte]).unwrap();
        }
    }
    block_on(async {
        for versions in [TLS12, TLS13] {
            let (connector, target) = start(versions, |mut peer| {
                while peer.tls.is_handshaking() {
                    peer.tls.read_tls(&mut peer.socket).unwrap();
                    peer.tls.process_new_packets().unwrap();
                    dribble(&mut peer);
                }
                while peer.request(REQUEST.len()).is_some() {
                    peer.tls.writer().write_all(ANSWER).unwrap();
                    dribble(&mut peer);
                }
            });
            let mut connection = connector.open(&target).await.unwrap();
            for _ in 0..2 {
                let (exchanged, body) = ask(&mut connection, REQUEST).await.unwrap();
                assert_eq!((exchanged.status, exchanged.reusable, body.as_slice()), (200, true, &b"hello"[..]));
            }
        }
    });
}

#[test]
fn an_answer_that_ends_with_its_connection_is_whole_only_after_a_goodbye() {
    let check = |answer: &'static [u8], says_goodbye: bool, expected: Result<&[u8], ErrorClass>| {
        for versions in [TLS12, TLS13] {
            let came = block_on(async {
                let mut connection = open(versions, move |mut peer| {
                    peer.answer(answer);
                    if says_goodbye {
                        peer.tls.send_close_notify();
                    }
                    let records = peer.records();
                    peer.socket.write_all(&records).unwrap();
                    peer.socket.shutdown(Shutdown::Write).unwrap();
                    let _ = peer.socket.read(&mut [0; 64]);
                })
                .await;
                ask(&mut connection, REQUEST).await
            });
            let came = came.map(|(_, body)| body).map_err(|error| error.class());
            assert_eq!(came, expected.map(<[u8]>::to_vec), "{:?}", String::from_utf8_lossy(answer));
        }
    };
    check(ENDLESS, true, Ok(b"hello"));
    check(ENDLESS, false, Err(ErrorClass::ClosedWithinAnswer));
    // Its length says that nothing is missing.
    check(ANSWER, true, Ok(b"hello"));
    check(ANSWER, false, Ok(b"hello"));
    check(b"", true, Err(ErrorClass::ClosedBeforeAnswer));
    check(b"", false, Err(ErrorClass::ClosedBeforeAnswer));
}

#[test]
fn a_goodbye_between_two_answers_is_told_before_the_second() {
    block_on(async {
        let mut connection = open(BOTH, |mut peer| {
            let mut records = peer.seal(ANSWER);
            peer.tls.send_close_notify();
            records.extend(peer.records());
            peer.socket.write_all(&records).unwrap();
            while peer.request(1).is_some() {}
        })
        .await;
        assert_eq!(ask(&mut connection, REQUEST).await.unwrap().1, b"hello");
        let error = ask(&mut connection, REQUEST).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::ClosedBeforeAnswer, "{error}");
    });
}

#[test]
fn keys_may_change_at_any_time() {
    block_on(async {
        let mut connection = open(TLS13, |mut peer| {
            loop {
                // It asks us to change ours as well.
                peer.tls.refresh_traffic_keys().unwrap();
                let (head, body) = ANSWER.split_at(20);
                peer.answer(head);
                peer.tls.refresh_traffic_keys().unwrap();
                peer.answer(body);
                if peer.request(REQUEST.len()).is_none() {
                    return;
                }
            }
        })
        .await;
        for _ in 0..5 {
            assert_eq!(ask(&mut connection, REQUEST).await.unwrap().1, b"hello");
        }
    });
}

#[test]
fn what_came_before_an_alert_counts_and_the_alert_is_told_after_it() {
    block_on(async {
        let mut connection = open(TLS13, |mut peer| {
            let mut records = peer.seal(ANSWER);
            // A record that nobody sealed: rustls answers it by an alert.
            peer.tls.read_tls(&mut &b"\x17\x03\x03\x00\x20................................"[..]).unwrap();
            peer.tls.process_new_packets().unwrap_err();
            records.extend(peer.records());
            peer.socket.write_all(&records).unwrap();
            let _ = peer.socket.read(&mut [0; 64]);
        })
        .await;
        assert_eq!(ask(&mut connection, REQUEST).await.unwrap().1, b"hello");
        let error = ask(&mut connection, REQUEST).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Tls, "{error}");
    });
}

#[test]
fn a_record_that_was_tampered_with_is_an_error_and_the_server_is_told_why() {
    let (told, hears) = std::sync::mpsc::channel();
    block_on(async {
        let mut connection = open(TLS13, move |mut peer| {
            let mut records = peer.seal(ANSWER);
            *records.last_mut().unwrap() ^= 1;
            peer.socket.write_all(&records).unwrap();
            while peer.tls.read_tls(&mut peer.socket).unwrap() > 0 {
                if let Err(error) = peer.tls.process_new_packets() {
                    told.send(error).unwrap();
                    return;
                }
            }
        })
        .await;
        let error = ask(&mut connection, REQUEST).await.unwrap_err();
        assert_eq!(
            (error.class(), error.to_string().as_str()),
            (ErrorClass::Tls, "TLS failed: cannot decrypt peer's message")
        );
    });
    let alert = rustls::AlertDescription::BadRecordMac;
    assert_eq!(hears.recv().unwrap(), rustls::Error::AlertReceived(alert));
}

#[test]
fn a_handshake_that_comes_to_nothing_says_why() {
    let check = |first: &'static [u8], expected: &str| {
        let (connector, target) = start(BOTH, |mut peer: Peer| {
            let mut hello = [0; 64];
            peer.socket.read_exact(&mut hello).unwrap();
            peer.socket.write_all(first).unwrap();
            peer.socket.shutdown(Shutdown::Write).unwrap();
            let _ = peer.socket.read_to_end(&mut Vec::new());
        });
        let error = block_on(connector.open(&target)).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Tls);
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(b"", "the server closed the connection within the TLS handshake");
    check(b"\x16\x03\x03\x00\x40\x02", "the server closed the connection within the TLS handshake");
    check(b"HTTP/1.1 400 Bad Request\r\n\r\n", "received corrupt message");
    check(b"\x15\x03\x03\x00\x02\x02\x28", "fatal alert: HandshakeFailure");
}

#[test]
fn large_bodies_go_both_ways_whole_however_slowly_they_are_taken() {
    const BYTES: usize = 3_000_000;
    fn body(seed: usize) -> impl Iterator<Item = u8> {
        (0..BYTES).map(move |index| ((index + seed) * 31 % 251) as u8)
    }
    let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BYTES}\r\n\r\n");
    let request: Vec<u8> = head.bytes().chain(body(1)).collect();
    block_on(async {
        for versions in [TLS12, TLS13] {
            let (length, expected) = (request.len(), request.clone());
            let (connector, target) = start(versions, move |mut peer| {
                if !peer.handshake() {
                    return;
                }
                while let Some(came) = peer.request(length) {
                    assert!(came == expected, "the request came otherwise than it was sent");
                    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n");
                    let records = peer.seal(&answer.bytes().chain(body(2)).collect::<Vec<u8>>());
                    // Never on the edge of a record.
                    for part in records.chunks(9_973) {
                        peer.socket.write_all(part).unwrap();
                    }
                }
            });
            let mut connection = connector.open(&target).await.unwrap();
            for _ in 0..2 {
                let (exchanged, came) = ask(&mut connection, &request).await.unwrap();
                assert!(came.iter().copied().eq(body(2)), "{versions:?}");
                assert!(exchanged.wire_sent_bytes > length as u64 && exchanged.reusable);
            }
        }
    });
}

#[test]
fn what_began_without_tls_goes_on_over_it_and_ends_with_a_goodbye() {
    let (told, hears) = std::sync::mpsc::channel();
    let address = serve(config(SELF_SIGNED, BOTH), move |mut peer| {
        let mut asked = [0; 3];
        peer.socket.read_exact(&mut asked).unwrap();
        peer.socket.write_all(b"yes").unwrap();
        assert!(&asked == b"tls" && peer.handshake());
        let came = peer.request(5).unwrap();
        peer.answer(&came);
        assert_eq!(peer.request(1), None);
        told.send(peer.tls.process_new_packets().unwrap().peer_has_closed()).unwrap();
    });
    block_on(async {
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        socket.write_all(b"tls").await.unwrap();
        socket.read_exact(&mut [0; 3]).await.unwrap();
        let upgrade = Upgrade::new(TlsChoice::Insecure, "postgresql").unwrap();
        let mut stream = upgrade.open("localhost".to_owned(), socket).await.unwrap();
        stream.write_all(b"hello").await.unwrap();
        stream.flush().await.unwrap();
        let mut came = [0; 5];
        stream.read_exact(&mut came).await.unwrap();
        assert_eq!(&came, b"hello");
        stream.shutdown().await.unwrap();
        assert_eq!(stream.read(&mut came).await.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
    });
    assert!(hears.recv().unwrap(), "it ended without the goodbye");
}
