//! The client over TLS: its trust, the sessions that it resumes, and its counters.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use tollgate_net::http1::client::{Answers, Connector, ErrorClass, Target};
use tollgate_net::tls::authority::{KeyKind, Validity};
use tollgate_net::tls::{ClientSettings, HandshakeKind, PublicKey, Resumption, TlsChoice, Version};

use super::tls_peer::{self, SELF_SIGNED};
use super::tls_server::{BOTH, WORLD};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Issued by `authority.pem`.
const ISSUED: [&[u8]; 2] = [include_bytes!("certificates/issued.pem"), include_bytes!("certificates/issued.key")];

/// A server with a certificate that nobody trusts.
fn serve() -> SocketAddr {
    serve_with(SELF_SIGNED)
}

/// A server that gives each request the same answer, on as many connections as come.
fn serve_with(identity: [&[u8]; 2]) -> SocketAddr {
    tls_peer::serve(tls_peer::config(identity, BOTH), |mut peer| {
        // A client that refuses the certificate ends this early.
        if !peer.handshake() {
            return;
        }
        while let Some(request) = peer.request(REQUEST.len()) {
            assert_eq!(request, REQUEST);
            peer.answer(ANSWER);
        }
    })
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Opens two connections after each other, asks twice over each, and returns how each was opened.
async fn open_twice(connector: &Connector, target: &Target) -> [Option<HandshakeKind>; 2] {
    let mut kinds = [None; 2];
    for kind in &mut kinds {
        let mut connection = connector.open(target).await.unwrap();
        assert!(connection.opening().tls_ns.is_some());
        *kind = connection.opening().handshake;
        for _ in 0..2 {
            let mut body = Vec::new();
            let exchanged = connection.exchange(REQUEST, Answers::Ordinary, &mut body).await.unwrap();
            assert_eq!((exchanged.status, body.as_slice(), exchanged.reusable), (200, &b"hello"[..], true));
            // What HTTP sees is what was sent; the network carried more than that.
            assert_eq!(exchanged.head_bytes + exchanged.body_bytes, ANSWER.len() as u64);
            assert!(exchanged.wire_received_bytes > ANSWER.len() as u64);
            assert!(exchanged.wire_sent_bytes > REQUEST.len() as u64);
        }
    }
    kinds
}

#[test]
fn the_second_handshake_is_a_resumed_one_unless_that_is_disabled() {
    block_on(async {
        let target = Target::parse(&format!("https://{}/", serve())).unwrap();
        let connector = Connector::new(TlsChoice::Insecure);
        let kinds = open_twice(&connector, &target).await;
        assert_eq!(kinds, [Some(HandshakeKind::Full), Some(HandshakeKind::Resumed)]);
        let kinds = open_twice(&connector.resumption(Resumption::Disabled), &target).await;
        assert_eq!(kinds, [Some(HandshakeKind::Full); 2]);
    });
}

#[test]
fn a_certificate_that_nobody_trusts_is_refused_unless_insecure_was_asked_for() {
    block_on(async {
        let target = Target::parse(&format!("https://{}/", serve())).unwrap();
        let error = Connector::new(TlsChoice::Verify).open(&target).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Tls, "{error}");
    });
}

#[test]
fn each_of_many_connections_has_a_session_of_its_own_once_there_are_enough() {
    const USERS: usize = 20;
    block_on(async {
        let target = Target::parse(&format!("https://{}/", serve())).unwrap();
        for version in [Version::Tls12, Version::Tls13] {
            let connector = Connector::new(ClientSettings {
                choice: TlsChoice::Insecure,
                version: Some(version),
                ..ClientSettings::default()
            });
            let addresses = connector.resolve(&target).await.unwrap();
            assert_eq!(connector.sessions_ready(&target), 0);
            while connector.sessions_ready(&target) < USERS {
                let mut connection = connector.open_fully(&target, &addresses).await.unwrap();
                assert_eq!(connection.opening().handshake, Some(HandshakeKind::Full), "{version:?}");
                connection.exchange(REQUEST, Answers::Ordinary, &mut Vec::new()).await.unwrap();
            }
            // All are opened before any of them is asked, so none brings a session for another.
            let mut opened = Vec::new();
            for _ in 0..USERS {
                opened.push(connector.open_at(&target, &addresses).await.unwrap());
            }
            for connection in &opened {
                assert_eq!(connection.opening().handshake, Some(HandshakeKind::Resumed), "{version:?}");
                assert_eq!(connection.opening().agreed.map(|agreed| agreed.version), Some(version));
            }
        }
    });
}

#[test]
fn what_was_agreed_on_is_told_of_full_handshakes_and_of_sessions_that_are_taken_up() {
    block_on(async {
        let target = Target::parse(&format!("https://{}/", serve())).unwrap();
        for (version, suite) in
            [(Version::Tls12, "ECDHE-ECDSA-AES128-GCM-SHA256"), (Version::Tls13, "TLS_AES_128_GCM_SHA256")]
        {
            let settings = ClientSettings { choice: TlsChoice::Insecure, version: Some(version), ..Default::default() };
            let connector = Connector::new(settings);
            for handshake in [HandshakeKind::Full, HandshakeKind::Resumed] {
                let mut connection = connector.open(&target).await.unwrap();
                connection.exchange(REQUEST, Answers::Ordinary, &mut Vec::new()).await.unwrap();
                assert_eq!(connection.opening().handshake, Some(handshake));
                let agreed = connection.opening().agreed.unwrap();
                assert_eq!((agreed.version, agreed.suite.unwrap().to_string().as_str()), (version, suite));
                assert_eq!((agreed.key, agreed.certificates), (Some(PublicKey::P256), 1), "{agreed:?}");
                // With TLS 1.2 a session goes on with the keys that it has.
                let has_group = version == Version::Tls13 || handshake == HandshakeKind::Full;
                assert_eq!(agreed.group, has_group.then_some("x25519"), "{agreed:?}");
            }
        }
    });
}

#[test]
fn round_trips_of_a_first_request_are_those_of_the_protocol() {
    block_on(async {
        let target = Target::parse(&format!("https://{}/", serve())).unwrap();
        // One for TCP and one for the request; between them RFC 8446 has one, RFC 5246 two, or one if it resumes.
        for (version, full, resumed) in [(Version::Tls12, 4, 3), (Version::Tls13, 3, 3)] {
            let settings = ClientSettings { choice: TlsChoice::Insecure, version: Some(version), ..Default::default() };
            let connector = Connector::new(settings);
            for expected in [full, resumed] {
                let mut connection = connector.open(&target).await.unwrap();
                connection.exchange(REQUEST, Answers::Ordinary, &mut Vec::new()).await.unwrap();
                assert_eq!(connection.round_trips(), expected, "{version:?}");
                connection.exchange(REQUEST, Answers::Ordinary, &mut Vec::new()).await.unwrap();
                assert_eq!(connection.round_trips(), expected + 1, "{version:?}");
            }
        }
    });
}

#[test]
fn authorities_of_a_file_are_trusted_and_a_file_without_any_is_refused_by_its_name() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/certificates/");
    let connector = |file: &str| {
        Connector::new(ClientSettings { authorities: Some(format!("{folder}{file}").into()), ..Default::default() })
    };
    block_on(async {
        let port = serve_with(ISSUED).port();
        let target = Target::parse(&format!("https://localhost:{port}/")).unwrap();
        let trusting = connector("authority.pem").resumption(Resumption::Disabled);
        // The second handshake finds the chain verified already; another name is verified anew.
        for _ in 0..2 {
            let mut connection = trusting.open(&target).await.unwrap();
            connection.exchange(REQUEST, Answers::Ordinary, &mut Vec::new()).await.unwrap();
        }
        let elsewhere = Target::parse(&format!("https://other.localhost:{port}/")).unwrap();
        let addresses = trusting.resolve(&target).await.unwrap();
        assert_eq!(trusting.open_at(&elsewhere, &addresses).await.unwrap_err().class(), ErrorClass::Tls);
        assert_eq!(connector("localhost.pem").open(&target).await.unwrap_err().class(), ErrorClass::Tls);
        for (file, expected) in [("localhost.key", "a certificate in PEM is expected"), ("none.pem", "No such file")] {
            let refused = connector(file).prepare(&target).unwrap_err();
            assert!(refused.contains(file) && refused.contains(expected), "{refused}");
        }
    });
}

#[test]
fn a_certificate_out_of_its_days_is_refused_however_trusted_its_authority_is() {
    let day = Duration::from_secs(86_400);
    let check = |from: SystemTime, expected: Result<(), &str>| {
        let names = ["localhost".to_owned()];
        let issued = WORLD.authority.server(KeyKind::P256, &names, 0, Validity::days(from, 2)).unwrap();
        let port = serve_with([issued.certificate.as_bytes(), issued.key.as_bytes()]).port();
        let target = Target::parse(&format!("https://localhost:{port}/")).unwrap();
        let settings = ClientSettings { authorities: Some(WORLD.path("ca.pem")), ..Default::default() };
        let opened = block_on(Connector::new(settings).open(&target)).map(drop).map_err(|error| error.to_string());
        match expected {
            Ok(()) => opened.unwrap(),
            Err(reason) => assert!(opened.as_ref().is_err_and(|error| error.contains(reason)), "{opened:?}"),
        }
    };
    let now = SystemTime::now();
    check(now - day, Ok(()));
    check(now - 10 * day, Err("certificate expired"));
    check(now + 10 * day, Err("certificate not valid yet"));
}
