//! The serving half over TLS, asked by a client of rustls and a socket: no code of the engine is on that side.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};
use tempfile::TempDir;
use tollgate_net::http1::server::{CloseCause, ConnectionState};
use tollgate_net::limits::Limits;
use tollgate_net::tls::HandshakeKind;
use tollgate_net::tls::authority::{Authority, Issued, KeyKind, Validity};
use tollgate_net::tls::server::{Acceptor, ClientCertificates, HandshakeFailure, Setting, Settings, Tickets, Version};

use super::support::Running;

/// Certificates for all tests: keys take time to make.
pub(crate) struct World {
    folder: TempDir,
    pub(crate) authority: Authority,
}

pub(crate) static WORLD: LazyLock<World> = LazyLock::new(|| {
    let authority = Authority::new(KeyKind::P256, SystemTime::now()).unwrap();
    let world = World { folder: TempDir::new().unwrap(), authority };
    world.write("server", &world.server(KeyKind::P256, 1));
    world.write("other", &world.server(KeyKind::P256, 0));
    std::fs::write(world.path("ca.pem"), world.authority.certificate()).unwrap();
    world
});

impl World {
    fn server(&self, kind: KeyKind, intermediates: u8) -> Issued {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        self.authority.server(kind, &names, intermediates, Validity::days(SystemTime::now(), 1)).unwrap()
    }

    fn write(&self, name: &str, issued: &Issued) {
        std::fs::write(self.path(&format!("{name}.pem")), &issued.certificate).unwrap();
        std::fs::write(self.path(&format!("{name}.key")), &issued.key).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new(self.path("server.pem"), self.path("server.key"))
    }

    pub(crate) fn start(&self, settings: &Settings) -> Running {
        Running::start_tls(Limits::default(), &Acceptor::new(settings).unwrap())
    }

    /// A client that trusts the authority, with a certificate of that name.
    pub(crate) fn client(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        name: Option<&str>,
    ) -> Arc<ClientConfig> {
        let identity =
            name.map(|name| self.authority.client(KeyKind::P256, name, Validity::days(SystemTime::now(), 1)).unwrap());
        self.client_as(versions, identity.as_ref())
    }

    fn client_as(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        identity: Option<&Issued>,
    ) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.certificate().as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match identity {
            None => builder.with_no_client_auth(),
            Some(issued) => {
                let chain: Result<_, _> = CertificateDer::pem_slice_iter(issued.certificate.as_bytes()).collect();
                let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).unwrap();
                builder.with_client_auth_cert(chain.unwrap(), key).unwrap()
            }
        };
        config.resumption = Resumption::in_memory_sessions(32);
        Arc::new(config)
    }
}

pub(crate) const BOTH: &[&SupportedProtocolVersion] = &[&rustls::version::TLS12, &rustls::version::TLS13];
pub(crate) const TLS12: &[&SupportedProtocolVersion] = &[&rustls::version::TLS12];
pub(crate) const TLS13: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13];

/// A connection of such a client.
pub(crate) struct Client {
    stream: StreamOwned<ClientConnection, TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, config: &Arc<ClientConfig>) -> Client {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        Client { stream: StreamOwned::new(ClientConnection::new(config.clone(), name).unwrap(), socket) }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stream.write_all(bytes.as_ref())?;
        self.stream.flush()
    }

    pub(crate) fn wait_until_read(&self) {
        super::support::wait_until_read(&self.stream.sock);
    }

    /// Reads one answer with a length: its head and its body.
    pub(crate) fn answer(&mut self) -> std::io::Result<(String, Vec<u8>)> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap_or("0");
        let mut body = vec![0; length.parse().unwrap()];
        self.stream.read_exact(&mut body)?;
        Ok((head, body))
    }

    pub(crate) fn ask(&mut self, path: &str) -> std::io::Result<String> {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))?;
        Ok(String::from_utf8(self.answer()?.1).unwrap())
    }

    /// Everything up to the goodbye; the end of a connection without one is an error.
    fn rest(&mut self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// The transports that two connections after each other report.
fn two(server: &Running, client: &Arc<ClientConfig>) -> [String; 2] {
    [0, 1].map(|_| Client::connect(server.address, client).ask("/transport").unwrap())
}

#[test]
fn the_second_connection_takes_up_the_first_ones_session_unless_tickets_are_off() {
    for (versions, number) in [(TLS12, "1.2"), (TLS13, "1.3")] {
        let on = WORLD.start(&WORLD.settings());
        let off = WORLD.start(&Settings { tickets: Tickets::Off, ..WORLD.settings() });
        let full = format!("{number} full -");
        assert_eq!(two(&on, &WORLD.client(versions, None)), [full.clone(), format!("{number} resumed -")]);
        assert_eq!(two(&off, &WORLD.client(versions, None)), [full.clone(), full]);
        let counted = |server: &Running| {
            (server.counters.handshakes(HandshakeKind::Full), server.counters.handshakes(HandshakeKind::Resumed))
        };
        assert_eq!((counted(&on), counted(&off)), ((1, 1), (2, 0)));
    }
}

#[test]
fn only_the_versions_that_are_configured_are_spoken() {
    for (version, spoken, refused) in [(Version::Tls12, TLS12, TLS13), (Version::Tls13, TLS13, TLS12)] {
        let server = WORLD.start(&Settings { versions: vec![version], ..WORLD.settings() });
        let answer = Client::connect(server.address, &WORLD.client(spoken, None)).ask("/transport").unwrap();
        assert_eq!(answer, format!("{} full -", version.number()));
        let error = Client::connect(server.address, &WORLD.client(refused, None)).ask("/").unwrap_err();
        assert!(error.to_string().contains("ProtocolVersion"), "{error}");
        server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::Version) == 1);
        server.wait_until(|counters| counters.connections_closed(CloseCause::Handshake) == 1);
    }
}

#[test]
fn clients_show_certificates_as_far_as_they_are_asked() {
    let ca = WORLD.path("ca.pem");
    let stranger = Authority::new(KeyKind::P256, SystemTime::now()).unwrap();
    let stranger = stranger.client(KeyKind::P256, "mallory", Validity::days(SystemTime::now(), 1)).unwrap();
    for versions in [TLS12, TLS13] {
        let nobody = WORLD.client(versions, None);
        let alice = WORLD.client(versions, Some("alice"));
        let mallory = WORLD.client_as(versions, Some(&stranger));
        let check = |client_certificates, expected: [Option<&str>; 3]| {
            let server = WORLD.start(&Settings { client_certificates, ..WORLD.settings() });
            for (client, expected) in [&nobody, &alice, &mallory].into_iter().zip(expected) {
                let answer = Client::connect(server.address, client).ask("/transport");
                let name = answer.as_ref().ok().and_then(|answer| answer.split(' ').next_back());
                assert_eq!(name, expected, "{answer:?}");
            }
            server
        };
        check(ClientCertificates::Off, [Some("-"), Some("-"), Some("-")]);
        let server = check(ClientCertificates::Optional(ca.clone()), [Some("-"), Some("alice"), None]);
        server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::CertificateRejected) == 1);
        let server = check(ClientCertificates::Required(ca.clone()), [None, Some("alice"), None]);
        server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::CertificateMissing) == 1);
        server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::CertificateRejected) == 1);
    }
    // What was valid once counts as nobody's.
    let validity = Validity::days(SystemTime::now() - Duration::from_secs(10 * 86_400), 1);
    let expired = WORLD.authority.client(KeyKind::P256, "alice", validity).unwrap();
    let client_certificates = ClientCertificates::Optional(ca.clone());
    let server = WORLD.start(&Settings { client_certificates, ..WORLD.settings() });
    Client::connect(server.address, &WORLD.client_as(TLS13, Some(&expired))).ask("/transport").unwrap_err();
    server.wait_until(|counters| counters.handshakes_failed(HandshakeFailure::CertificateRejected) == 1);
    // Whoever takes up a session is who opened it.
    let server = WORLD.start(&Settings { client_certificates: ClientCertificates::Required(ca), ..WORLD.settings() });
    let alice = WORLD.client(TLS13, Some("alice"));
    assert_eq!(two(&server, &alice), ["1.3 full alice", "1.3 resumed alice"]);
}

#[test]
fn large_bodies_go_both_ways_whole() {
    let server = WORLD.start(&WORLD.settings());
    for versions in [TLS12, TLS13] {
        let mut client = Client::connect(server.address, &WORLD.client(versions, None));
        for length in [0, 1, 4_000, 4_100, 16_384, 16_385, 70_000, 1_000_000, 3_000_001] {
            let body: Vec<u8> = (0..length).map(|index: u32| (index % 251) as u8).collect();
            for verb in ["echo", "stream"] {
                let head = format!("POST /{verb} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
                client.send(head).unwrap();
                client.send(&body).unwrap();
                let (_, answer) = client.answer().unwrap();
                assert!(answer == body, "{verb} {length}");
            }
            assert_eq!(client.ask(&format!("/large/{length}")).unwrap().len(), length as usize);
        }
    }
}

#[test]
fn a_connection_ends_with_a_goodbye() {
    let server = WORLD.start(&WORLD.settings());
    for versions in [TLS12, TLS13] {
        let config = WORLD.client(versions, None);
        for request in [
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "GET /parts/3 HTTP/1.0\r\n\r\n",
            "GET /until-close HTTP/1.1\r\nHost: a\r\n\r\n",
            "nonsense\r\n\r\n",
        ] {
            let mut client = Client::connect(server.address, &config);
            client.send(request).unwrap();
            let rest = client.rest().unwrap();
            assert!(rest.starts_with(b"HTTP/1.1 "), "{request} {:?}", String::from_utf8_lossy(&rest));
        }
        // Without one a client could not tell an answer that was cut off.
        let mut client = Client::connect(server.address, &config);
        client.send("GET /reset HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        client.rest().unwrap_err();
    }
}

#[test]
fn a_goodbye_of_the_clients_ends_a_connection_that_idles() {
    let server = WORLD.start(&WORLD.settings());
    let mut client = Client::connect(server.address, &WORLD.client(TLS13, None));
    client.ask("/").unwrap();
    client.stream.conn.send_close_notify();
    client.stream.flush().unwrap();
    server.wait_until(|counters| counters.connections_closed(CloseCause::Client) == 1);
}

#[test]
fn bytes_are_counted_below_tls() {
    let server = WORLD.start(&WORLD.settings());
    let mut client = Client::connect(server.address, &WORLD.client(TLS13, None));
    client.ask("/").unwrap();
    server.wait_until(|counters| counters.connections(ConnectionState::Idle) == 1);
    let (received, sent) = (server.counters.received_bytes(), server.counters.sent_bytes());
    client.ask("/large/10000").unwrap();
    server.wait_until(|counters| counters.sent_bytes() > sent + 10_000);
    // A record's header, tag and type are 22 bytes; the answer is one record with its head.
    let request = b"GET /large/10000 HTTP/1.1\r\nHost: a\r\n\r\n".len() as u64;
    assert_eq!(server.counters.received_bytes() - received, request + 22);
    let answer = server.counters.sent_bytes() - sent;
    assert!((10_000 + 22 + 60..10_000 + 22 + 120).contains(&answer), "{answer}");
}

#[test]
fn states_are_counted_and_come_to_nothing() {
    let server = WORLD.start(&WORLD.settings());
    let silent = server.connect();
    server.wait_until(|counters| counters.connections(ConnectionState::Handshaking) == 1);
    let mut client = Client::connect(server.address, &WORLD.client(TLS13, None));
    client.ask("/").unwrap();
    server.wait_until(|counters| counters.connections(ConnectionState::Idle) == 1);
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx").unwrap();
    server.wait_until(|counters| counters.connections(ConnectionState::Reading) == 1);
    client.send("x").unwrap();
    client.answer().unwrap();
    client.send("GET /forever HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    server.wait_until(|counters| counters.connections(ConnectionState::Working) == 1);
    let mut flooded = Client::connect(server.address, &WORLD.client(TLS12, None));
    flooded.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    server.wait_until(|counters| counters.connections(ConnectionState::Writing) == 1);
    drop((silent, client, flooded));
    let counters = server.counters.clone();
    drop(server);
    for state in ConnectionState::ALL {
        assert_eq!(counters.connections(*state), 0, "{}", state.name());
    }
    assert_eq!(counters.held_bytes(), 0);
}

#[test]
fn certificates_are_replaced_under_load_without_a_failed_request() {
    let acceptor = Acceptor::new(&WORLD.settings()).unwrap();
    let server = Running::start_tls(Limits::default(), &acceptor);
    let settings = [WORLD.settings(), Settings::new(WORLD.path("other.pem"), WORLD.path("other.key"))];
    let done = AtomicBool::new(false);
    let asked: u64 = std::thread::scope(|scope| {
        let clients: Vec<_> = [TLS12, TLS13, BOTH]
            .into_iter()
            .map(|versions| {
                let (server, done, config) = (&server, &done, WORLD.client(versions, None));
                scope.spawn(move || {
                    let mut asked = 0;
                    let mut kept = Client::connect(server.address, &config);
                    while !done.load(Ordering::Relaxed) {
                        kept.ask("/transport").unwrap();
                        Client::connect(server.address, &config).ask("/transport").unwrap();
                        asked += 2;
                    }
                    asked
                })
            })
            .collect();
        for round in 0..50 {
            let requests = server.counters.requests();
            acceptor.replace(&settings[round % 2]).unwrap();
            server.wait_until(|counters| counters.requests() >= requests + 6);
        }
        done.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert_eq!(server.counters.requests(), asked);
    assert!(HandshakeFailure::ALL.iter().all(|failure| server.counters.handshakes_failed(*failure) == 0));
}

#[test]
fn a_broken_certificate_leaves_the_one_that_is_served() {
    let acceptor = Acceptor::new(&WORLD.settings()).unwrap();
    let server = Running::start_tls(Limits::default(), &acceptor);
    let before = acceptor.certificate();
    let wrong = |settings: &Settings, setting: Setting, message: &str| {
        let error = acceptor.replace(settings).unwrap_err();
        assert!(error.setting == setting && error.to_string().contains(message), "{error:?}");
    };
    let (empty, none) = (WORLD.path("empty.pem"), WORLD.path("none.pem"));
    std::fs::write(&empty, "nothing here").unwrap();
    let settings = WORLD.settings();
    let (certificate, key) = (settings.certificate.clone(), settings.key.clone());
    wrong(&Settings::new(&certificate, WORLD.path("other.key")), Setting::Key, "is not that of the first certificate");
    wrong(&Settings::new(&none, &key), Setting::Certificate, "cannot be read");
    wrong(&Settings::new(&certificate, &none), Setting::Key, "cannot be read");
    wrong(&Settings::new(&empty, &key), Setting::Certificate, "expected a certificate in PEM");
    wrong(&Settings::new(&certificate, &empty), Setting::Key, "expected a private key in PEM");
    wrong(&Settings::new(&key, &key), Setting::Certificate, "expected a certificate in PEM");
    // Nothing of what may be a key is repeated.
    let broken = WORLD.path("broken.pem");
    for (text, message) in [
        ("-----BEGIN PRIVATE KEY----- c2VjcmV0", "does not end as it should"),
        ("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n", "-----END …----- behind it"),
        ("-----BEGIN PRIVATE KEY-----\nse*ret\n-----END PRIVATE KEY-----\n", "is no base64"),
    ] {
        std::fs::write(&broken, text).unwrap();
        let error = acceptor.replace(&Settings::new(&certificate, &broken)).unwrap_err();
        assert!(error.setting == Setting::Key && error.to_string().ends_with(message), "{error:?}");
    }
    wrong(&Settings { versions: vec![], ..settings.clone() }, Setting::Versions, "at least one version");
    let client_certificates = ClientCertificates::Required(none);
    wrong(&Settings { client_certificates, ..settings }, Setting::ClientAuthorities, "cannot be read");
    assert_eq!(acceptor.certificate(), before);
    Client::connect(server.address, &WORLD.client(TLS13, None)).ask("/").unwrap();
}

#[test]
fn rsa_certificates_are_served() {
    let issued = WORLD.server(KeyKind::Rsa2048, 0);
    WORLD.write("rsa", &issued);
    let server = WORLD.start(&Settings::new(WORLD.path("rsa.pem"), WORLD.path("rsa.key")));
    for versions in [TLS12, TLS13] {
        Client::connect(server.address, &WORLD.client(versions, None)).ask("/").unwrap();
    }
}
