//! Backends over TLS: verified, and refused without a trusted authority. The backend is a gateway of its own.

use std::path::Path;

use crate::tests::client::Running;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/auth/certificates").join(name);
    format!("{:?}", path.to_str().unwrap())
}

fn backend() -> Running {
    Running::start(&format!(
        "[[tls]]\naddresses = [\"127.0.0.1:0\"]\ncertificate = {}\nkey = {}",
        file("server.pem"),
        file("server.key")
    ))
}

fn before(backend: &Running, endpoint: &str) -> Running {
    let port = backend.addresses.tls[0].port();
    Running::start(&format!(
        "[[endpoint]]\nname = \"backend\"\nurls = [\"https://localhost:{port}\"]\n{endpoint}\n\
         [[route]]\npath = \"/passed\"\nendpoint = \"backend\"\nto = \"/rest\"\n"
    ))
}

#[test]
fn a_backend_whose_certificate_is_trusted_is_asked_over_tls_again_and_again() {
    let backend = backend();
    let gateway = before(&backend, &format!("ca = {}", file("ca.pem")));
    let mut client = gateway.connect();
    for _ in 0..3 {
        client.ask("GET", "/passed/carriers/AA", &[]).expect(200, "AA");
    }
    let place = gateway.shared.proxied.groups().next().unwrap().members()[0].id;
    let counted = gateway.shared.connections.to(place);
    assert_eq!((counted.opened, counted.reused), (1, 2), "{counted:?}");
}

#[test]
fn a_backend_whose_certificate_nobody_trusted_vouches_for_is_not_asked() {
    let backend = backend();
    let gateway = before(&backend, "");
    gateway.get("/passed/carriers/AA").expect(502, "BadGateway");
    let place = gateway.shared.proxied.groups().next().unwrap().members()[0].place.look(std::time::Instant::now());
    assert_eq!(place.failed, [0, 1, 0, 0], "by TLS");
}
