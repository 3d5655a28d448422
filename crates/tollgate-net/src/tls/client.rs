//! TLS as a client: verified against the machine's own roots and named authorities or, on demand, not at all.
//!
//! It keeps no connections; the serving side is beside it.

mod connection;
mod identity;
mod sessions;
mod settings;
mod suites;
mod trust;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::Resumption as ClientResumption;
use rustls::pki_types::ServerName;
use rustls::{CipherSuite, ClientConfig, ClientConnection};
use tokio::io::{AsyncRead, AsyncWrite};

pub use connection::Connection;
pub use sessions::{SERVERS_MAX, TICKETS_MAX};
pub use settings::{ClientSettings, Resumption, ServerNameSent, TlsChoice};
pub use suites::Suite;
pub(crate) use trust::CertificateRefused;

use super::{PublicKey, Version};

pub use super::agreement::HandshakeKind;
use crate::meter::Metered;
use crate::tcp::Stamped;
use sessions::{OnlyKept, Store};

/// The use of earlier sessions in a handshake, if the settings allow to resume them at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// It resumes one if there is one.
    TakenUp,
    /// It is a full one, and only keeps its own for later ones.
    OnlyKept,
}

/// The result of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Its duration.
    pub took: Duration,
    /// Its kind.
    pub kind: HandshakeKind,
    /// The parameters agreed on.
    pub agreed: Agreed,
}

/// The parameters that a client and its server agreed on, and the key that the server showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The version.
    pub version: Version,
    /// The cipher suite.
    pub suite: Option<Suite>,
    /// The group in which keys were exchanged, by its registered name; absent where none were.
    pub group: Option<&'static str>,
    /// The protocol inside by its registered name (ALPN); absent where the server chose none.
    pub protocol: Option<&'static str>,
    /// The key of the server's certificate; of a session that was taken up, as its first handshake showed it.
    pub key: Option<PublicKey>,
    /// Certificates that the server sent; of a session that was taken up, in its first handshake.
    pub certificates: u32,
}

/// A client's side of TLS, shared by all of its connections; clones share their sessions.
#[derive(Clone, Debug)]
pub struct Client {
    config: Arc<ClientConfig>,
    /// The same, but it resumes no session.
    full: Arc<ClientConfig>,
    store: Arc<Store>,
}

impl Client {
    /// A client that speaks as the settings say, with `protocol` as the name under which the protocol inside is
    /// registered (ALPN).
    ///
    /// # Errors
    /// There is no authority to trust, with the reason.
    pub fn new(settings: &ClientSettings, protocol: &str) -> Result<Client, String> {
        let mut provider = rustls::crypto::ring::default_provider();
        // What browsers offer first, and what costs both sides less: SHA-384 alone is 15 % of the instructions of a
        // client's full handshake.
        provider.cipher_suites.sort_by_key(|suite| match suite.suite() {
            CipherSuite::TLS13_AES_128_GCM_SHA256
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
            | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => 0,
            _ => 1,
        });
        if !settings.suites.is_empty() {
            provider.cipher_suites.retain(|suite| settings.suites.contains(&Suite(suite.suite())));
        }
        let provider = Arc::new(provider);
        let verifier = trust::verifier(settings, &provider)?;
        let versions: Vec<_> = match settings.version {
            None => rustls::DEFAULT_VERSIONS.to_vec(),
            Some(version) => vec![version.supported()],
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|error| format!("no version of TLS goes with these cipher suites: {error}"))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &settings.identity {
            None => config.with_no_client_auth(),
            Some(file) => {
                let (certificates, key) = identity::read(file)?;
                let shown = config.with_client_auth_cert(certificates, key);
                shown.map_err(|error| format!("{}: the certificate cannot be shown: {error}", file.display()))?
            }
        };
        config.enable_sni = settings.server_name == ServerNameSent::Yes;
        // Said aloud, so that a server that also speaks HTTP/2 does not choose it.
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let store = Arc::new(Store::default());
        config.resumption = ClientResumption::disabled();
        let mut full = config.clone();
        if settings.resumption == Resumption::Allowed {
            config.resumption = ClientResumption::store(Arc::clone(&store) as _);
            full.resumption = ClientResumption::store(Arc::new(OnlyKept(Arc::clone(&store))));
        }
        Ok(Client { config: Arc::new(config), full: Arc::new(full), store })
    }

    /// Number of connections to `host` that could resume a session now, each its own; with TLS 1.2 any number once
    /// there is one.
    #[must_use]
    pub fn sessions_ready(&self, host: &str) -> usize {
        ServerName::try_from(host).map_or(0, |name| self.store.ready(&name))
    }

    /// The protocol by itself, for a caller that moves its bytes.
    pub(super) fn session(&self, host: &str) -> io::Result<ClientConnection> {
        ClientConnection::new(Arc::clone(&self.config), server_name(host)?).map_err(io::Error::other)
    }

    /// Opens TLS over a connection.
    ///
    /// # Errors
    /// When the certificate is refused, the protocol fails, the connection ends, or `timeout` passes.
    pub async fn handshake(
        &self,
        host: &str,
        socket: Stamped,
        sessions: Sessions,
        timeout: Duration,
    ) -> io::Result<(Connection<Metered<Stamped>>, Handshake)> {
        let start = Instant::now();
        let config = match sessions {
            Sessions::TakenUp => &self.config,
            Sessions::OnlyKept => &self.full,
        };
        let opening = Connection::open(Arc::clone(config), server_name(host)?, Metered::new(socket));
        let connection = tokio::time::timeout(timeout, opening)
            .await
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, format!("no TLS handshake within {timeout:?}")))??;
        let took = start.elapsed();
        let (kind, agreed) = (connection.handshake_kind(), connection.agreed());
        Ok((connection, Handshake { took, kind, agreed }))
    }
}

/// TLS that is opened over a connection which began without: how databases do it.
#[derive(Clone, Debug)]
pub struct Upgrade(Client);

/// A connection under TLS.
pub type Over<S> = Connection<S>;

impl Upgrade {
    /// Certificates are judged as `choice` says; `protocol` is the name under which the protocol inside is registered
    /// (ALPN).
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn new(choice: TlsChoice, protocol: &str) -> Result<Upgrade, String> {
        Client::new(&choice.into(), protocol).map(Upgrade)
    }

    /// Opens TLS; `host` is whom the certificate must name, where it is judged.
    ///
    /// # Errors
    /// When the certificate is refused, the protocol fails or the connection ends.
    pub async fn open<S: AsyncRead + AsyncWrite + Unpin>(self, host: String, stream: S) -> io::Result<Over<S>> {
        Connection::open(self.0.config, server_name(&host)?, stream).await
    }
}

fn server_name(host: &str) -> io::Result<ServerName<'static>> {
    let name = ServerName::try_from(host)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, format!("no TLS server name: {error}")))?;
    Ok(name.to_owned())
}
