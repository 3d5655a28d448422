//! The messages of an exchange, against a rustls server, full and resumed in both versions.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tollgate_net::listen::Reserved;
use tollgate_net::tls::flow::{Asked, Exchange, Side, observe};
use tollgate_net::tls::{Client, ClientSettings, HandshakeKind, TlsChoice, Version};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A server for a number of connections, one after another, with TLS or without.
fn serve(connections: usize, encrypted: bool) -> SocketAddr {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("certificates/localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("certificates/localhost.key")).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.ticketer = rustls::crypto::ring::Ticketer::new().unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for _ in 0..connections {
            let (mut socket, _) = listener.accept().unwrap();
            let mut request = vec![0; REQUEST.len()];
            if encrypted {
                let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), socket);
                stream.read_exact(&mut request).unwrap();
                stream.write_all(ANSWER).unwrap();
                stream.conn.send_close_notify();
                stream.flush().unwrap();
            } else {
                socket.read_exact(&mut request).unwrap();
                socket.write_all(ANSWER).unwrap();
            }
            assert_eq!(request, REQUEST);
        }
    });
    address
}

fn words(exchange: &Exchange) -> Vec<String> {
    let arrow = |side| if side == Side::Client { ">" } else { "<" };
    exchange.steps.iter().map(|step| format!("{} {}", arrow(step.from), step.what)).collect()
}

#[test]
fn every_message_is_named_or_said_to_be_encrypted() {
    let check = |version: Version, full: &[&str], resumed: &[&str]| {
        let address = serve(2, true);
        let settings = ClientSettings { version: Some(version), ..TlsChoice::Insecure.into() };
        let client = Client::new(&settings, "http/1.1").unwrap();
        let asked = Asked { address, host: "localhost", request: REQUEST, timeout: Duration::from_secs(20) };
        for (kind, expected) in [(HandshakeKind::Full, full), (HandshakeKind::Resumed, resumed)] {
            let exchange = observe(&asked, Some(&client)).unwrap();
            assert_eq!((exchange.kind, exchange.status), (Some(kind), 200), "{version:?}");
            let words = words(&exchange);
            assert_eq!(words[..3], ["> SYN", "< SYN, ACK", "> ACK"]);
            // Tickets may be read together with the answer or before it.
            let named: Vec<&String> = words[3..].iter().filter(|word| !word.contains("NewSessionTicket, e")).collect();
            assert_eq!(named, expected, "{version:?} {kind:?}");
            assert!(exchange.steps.windows(2).all(|pair| pair[0].at <= pair[1].at), "{exchange:?}");
            assert!(exchange.steps[3..].iter().all(|step| step.bytes > 0), "{exchange:?}");
        }
    };
    check(
        Version::Tls13,
        &[
            "> ClientHello",
            "< ServerHello, ChangeCipherSpec, encrypted",
            "> ChangeCipherSpec, encrypted",
            "> request",
            "< answer",
        ],
        &[
            "> ClientHello",
            "< ServerHello, ChangeCipherSpec, encrypted",
            "> ChangeCipherSpec, encrypted",
            "> request",
            "< answer",
        ],
    );
    check(
        Version::Tls12,
        &[
            "> ClientHello",
            "< ServerHello, Certificate, ServerKeyExchange, ServerHelloDone",
            "> ClientKeyExchange, ChangeCipherSpec, encrypted",
            "< NewSessionTicket, ChangeCipherSpec, encrypted",
            "> request",
            "< answer",
        ],
        &[
            "> ClientHello",
            "< ServerHello, NewSessionTicket, ChangeCipherSpec, encrypted",
            "> ChangeCipherSpec, encrypted",
            "> request",
            "< answer",
        ],
    );
}

#[test]
fn without_tls_there_are_the_request_and_the_answer() {
    let asked = Asked { address: serve(1, false), host: "", request: REQUEST, timeout: Duration::from_secs(20) };
    let exchange = observe(&asked, None).unwrap();
    assert_eq!(words(&exchange), ["> SYN", "< SYN, ACK", "> ACK", "> request", "< answer"]);
    assert_eq!(exchange.steps[4].bytes, ANSWER.len() as u64);
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let nobody = Reserved::on_loopback().unwrap();
    let client = Client::new(&ClientSettings::from(TlsChoice::Insecure), "http/1.1").unwrap();
    let address = nobody.address();
    let asked = Asked { address, host: "localhost", request: REQUEST, timeout: Duration::from_secs(20) };
    assert!(observe(&asked, Some(&client)).is_err());
}
