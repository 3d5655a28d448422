//! A TLS server of rustls and a socket, controlled by a test: no code of the engine is on that side.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion};

/// Longer than any test should take: a guard against hanging, not a measure.
const GUARD: Duration = Duration::from_secs(20);

/// A certificate that nobody trusts, and its key. Both were made for these tests and serve nothing else.
pub(crate) const SELF_SIGNED: [&[u8]; 2] =
    [include_bytes!("certificates/localhost.pem"), include_bytes!("certificates/localhost.key")];

/// The server's end of one connection, before its handshake.
pub(crate) struct Peer {
    pub(crate) tls: ServerConnection,
    pub(crate) socket: TcpStream,
}

/// The configuration of such a server.
pub(crate) fn config(
    [certificate, key]: [&[u8]; 2],
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(config)
}

/// Serves as many connections as come by the script, each on a thread of its own.
pub(crate) fn serve(config: Arc<ServerConfig>, script: impl Fn(Peer) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        loop {
            let (socket, _) = listener.accept().unwrap();
            socket.set_read_timeout(Some(GUARD)).unwrap();
            socket.set_write_timeout(Some(GUARD)).unwrap();
            socket.set_nodelay(true).unwrap();
            let (script, tls) = (script.clone(), ServerConnection::new(config.clone()).unwrap());
            std::thread::spawn(move || script(Peer { tls, socket }));
        }
    });
    address
}

impl Peer {
    /// Opens TLS, and says whether the client took part to the end.
    pub(crate) fn handshake(&mut self) -> bool {
        while self.tls.is_handshaking() {
            if self.tls.complete_io(&mut self.socket).is_err() {
                return false;
            }
        }
        let records = self.records();
        self.socket.write_all(&records).is_ok()
    }

    /// Records to send, with all that was written inside.
    pub(crate) fn records(&mut self) -> Vec<u8> {
        let mut records = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut records).unwrap();
        }
        records
    }

    /// The records of this plaintext.
    pub(crate) fn seal(&mut self, plaintext: &[u8]) -> Vec<u8> {
        let mut records = Vec::new();
        let mut rest = plaintext;
        while !rest.is_empty() {
            let count = self.tls.writer().write(rest).unwrap();
            records.extend(self.records());
            rest = &rest[count..];
        }
        records
    }

    /// Sends this plaintext.
    pub(crate) fn answer(&mut self, plaintext: &[u8]) {
        let records = self.seal(plaintext);
        self.socket.write_all(&records).unwrap();
    }

    /// Reads this many bytes of plaintext; `None` if the client ended before.
    pub(crate) fn request(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let mut request = vec![0; bytes];
        let mut filled = 0;
        loop {
            match self.tls.reader().read(&mut request[filled..]) {
                Ok(count) if count > 0 => filled += count,
                Ok(_) => return None,
                Err(_) => {
                    if self.tls.read_tls(&mut self.socket).ok()? == 0 {
                        return None;
                    }
                    self.tls.process_new_packets().ok()?;
                }
            }
            if filled == bytes {
                return Some(request);
            }
        }
    }
}
