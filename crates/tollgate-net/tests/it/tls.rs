//! The client over TLS, against a rustls server with a certificate that nobody trusts.
//!
//! Certificate and key were made for these tests and serve nothing else.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tollgate_net::http1::client::{Answers, Connector, ErrorClass, Target};
use tollgate_net::tls::{HandshakeKind, Resumption, TlsChoice};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A server that gives each request the same answer, on as many connections as come.
async fn serve() -> SocketAddr {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("certificates/localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("certificates/localhost.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that refuses the certificate ends this early.
                let Ok(mut stream) = acceptor.accept(socket).await else { return };
                let mut request = vec![0; REQUEST.len()];
                while stream.read_exact(&mut request).await.is_ok() {
                    assert_eq!(request, REQUEST);
                    stream.write_all(ANSWER).await.unwrap();
                }
            });
        }
    });
    address
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
        let target = Target::parse(&format!("https://{}/", serve().await)).unwrap();
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
        let target = Target::parse(&format!("https://{}/", serve().await)).unwrap();
        let error = Connector::new(TlsChoice::Verify).open(&target).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Tls, "{error}");
    });
}
