//! Users with certificates, over real TLS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::{ANN, BOB, Guarded, WRONG, lines};
use crate::tests::client::Running;

/// The public key of `ann.pem`: `openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | sha256sum`.
const KEY_OF_ANN: &str = "b72ec42d1959619fa2a488a1abdd8cad7ef99e0dedfd7445d2bd415c4e2b85dd";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/auth/certificates").join(name)
}

/// A gateway with TLS and optional client certificates; ann's is mapped to the user of that name by `mark`.
fn start(mark: &str) -> Guarded {
    let path = |name| format!("{:?}", file(name).to_str().unwrap());
    Guarded::start(&format!(
        "[[tls]]\naddresses = [\"127.0.0.1:0\"]\ncertificate = {}\nkey = {}\nclient_certificates = \"optional\"\nclient_ca = {}\n\
         [[certificate_user]]\n{mark}\nuser = \"ann\"\n\
         [[rule]]\nentity_sets = [\"BookingCollection\"]\nallow = [\"group:agents\"]",
        path("server.pem"),
        path("server.key"),
        path("ca.pem"),
    ))
}

/// The status of some requests on one connection, with this client's certificate.
fn statuses(gateway: &Running, certificate: Option<&str>, requests: &[(&str, &[(&str, &str)])]) -> Vec<u16> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file("ca.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(roots);
    let config = match certificate {
        None => builder.with_no_client_auth(),
        Some(name) => {
            let chain = vec![CertificateDer::from_pem_file(file(&format!("{name}.pem"))).unwrap()];
            builder
                .with_client_auth_cert(chain, PrivateKeyDer::from_pem_file(file(&format!("{name}.key"))).unwrap())
                .unwrap()
        }
    };
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = TcpStream::connect(gateway.addresses.tls[0]).unwrap();
    let mut stream = BufReader::new(StreamOwned::new(connection, socket));
    let ask = |(target, headers): &(&str, &[(&str, &str)])| {
        let fields: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        write!(stream.get_mut(), "GET {target} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n").unwrap();
        let (mut head, mut length) = (Vec::new(), 0);
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            if line == "\r\n" {
                break;
            }
            let lower_case = line.to_ascii_lowercase();
            if let Some(value) = lower_case.strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            head.push(line);
        }
        stream.read_exact(&mut vec![0; length]).unwrap();
        head[0].split(' ').nth(1).unwrap().parse().unwrap()
    };
    requests.iter().map(ask).collect()
}

const BOOKINGS: &str = "/odata/v4/flights/BookingCollection/$count";
const CARRIER: &str = "/rest/carriers/AA";

#[test]
fn a_certificate_is_its_users_by_an_exact_name_or_by_its_key() {
    let key = format!("public_key_sha256 = \"{KEY_OF_ANN}\"");
    let either: &[(&str, &[(&str, &str)])] = &[(BOOKINGS, &[]), (CARRIER, &[])];
    for (mark, expected) in [
        ("san = \"ann@host.example\"", [200, 200]),
        ("san = \"spiffe://host.example/ann\"", [200, 200]),
        ("san = \"Ann.Host.Example\"", [200, 200]),
        ("san = \"10.0.0.1\"", [200, 200]),
        (&*key, [200, 200]),
        ("san = \"Ann@host.example\"", [401, 401]),
        ("san = \"spiffe://host.example/an\"", [401, 401]),
        ("san = \"host.example\"", [401, 401]),
        ("san = \"10.0.0.10\"", [401, 401]),
    ] {
        let Guarded { gateway, .. } = start(mark);
        assert_eq!(statuses(&gateway, Some("ann"), either), expected, "{mark}");
        assert_eq!(statuses(&gateway, Some("stranger"), either), [401, 401], "{mark}");
        assert_eq!(statuses(&gateway, None, either), [401, 401], "{mark}");
    }
}

#[test]
fn what_a_request_says_counts_before_the_certificate_of_its_connection() {
    let Guarded { gateway, users, folder: _folder } = start("san = \"ann@host.example\"");
    let requests: &[(&str, &[(&str, &str)])] = &[
        (BOOKINGS, &[]),
        (BOOKINGS, &[BOB]),
        (CARRIER, &[BOB]),
        (CARRIER, &[WRONG]),
        (BOOKINGS, &[ANN]),
        (BOOKINGS, &[]),
    ];
    assert_eq!(statuses(&gateway, Some("ann"), requests), [200, 403, 200, 401, 200, 200]);
    assert_eq!(gateway.metric("tollgate_authentications_total{outcome=\"certificate\"}"), 2);
    // Who is in no group any more, or in no file, is a user all the same.
    std::fs::write(&users, &lines()[1]).unwrap();
    gateway.reload_the_same().unwrap();
    let requests: &[(&str, &[(&str, &str)])] = &[(BOOKINGS, &[]), (CARRIER, &[])];
    assert_eq!(statuses(&gateway, Some("ann"), requests), [403, 200]);
}
