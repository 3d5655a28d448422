//! TLS as a client: verified against the machine's own roots or, on demand, not at all.
//!
//! It keeps no connections; the serving side stands beside it.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::Resumption as ClientResumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::meter::Metered;

/// How a server's certificate is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TlsChoice {
    /// Against the machine's own roots, name included.
    #[default]
    Verify,
    /// Any certificate is taken (`--insecure`); that the server holds its key is still checked.
    Insecure,
}

/// Whether a later connection may take up an earlier one's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Resumption {
    /// As a browser does.
    #[default]
    Allowed,
    /// Each handshake is a full one: for measuring what that costs.
    Disabled,
}

/// What kind of handshake opened a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeKind {
    /// With certificates and signatures.
    Full,
    /// From an earlier connection's session.
    Resumed,
}

/// A client's configuration, shared by all of its connections.
///
/// # Errors
/// When the machine offers no usable roots, with the reason.
pub fn client_config(choice: TlsChoice, resumption: Resumption) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("the TLS provider offers no protocol version: {error}"))?;
    let mut config = match choice {
        TlsChoice::Verify => builder.with_root_certificates(native_roots()?).with_no_client_auth(),
        TlsChoice::Insecure => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate { provider }))
            .with_no_client_auth(),
    };
    // Said aloud, so that a server that also speaks HTTP/2 does not choose it.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    if resumption == Resumption::Disabled {
        config.resumption = ClientResumption::disabled();
    }
    Ok(Arc::new(config))
}

/// TLS that is opened over a connection which began without: how databases do it.
#[derive(Clone, Debug)]
pub struct Upgrade(Arc<ClientConfig>);

/// A connection under TLS.
pub type Over<S> = TlsStream<S>;

impl Upgrade {
    /// Certificates are judged as `choice` says; `protocol` is the name under which the protocol inside is registered
    /// (ALPN).
    ///
    /// # Errors
    /// As [`client_config`].
    pub fn new(choice: TlsChoice, protocol: &str) -> Result<Upgrade, String> {
        let mut config = (*client_config(choice, Resumption::Allowed)?).clone();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        Ok(Upgrade(Arc::new(config)))
    }

    /// Opens TLS; `host` is whom the certificate must name, where it is judged.
    ///
    /// # Errors
    /// When the certificate is refused, the protocol fails or the connection ends.
    pub async fn open<S: AsyncRead + AsyncWrite + Unpin>(self, host: String, stream: S) -> io::Result<Over<S>> {
        let name = ServerName::try_from(host)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, format!("no TLS server name: {error}")))?;
        TlsConnector::from(self.0).connect(name, stream).await
    }
}

/// Opens TLS over a connection and says how long the handshake took and of what kind it was.
///
/// # Errors
/// When the certificate is refused, the protocol fails, the connection ends, or `timeout` passes.
pub async fn handshake(
    config: &Arc<ClientConfig>,
    host: &str,
    socket: TcpStream,
    timeout: Duration,
) -> io::Result<(TlsStream<Metered<TcpStream>>, Duration, HandshakeKind)> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, format!("no TLS server name: {host}")))?;
    let start = Instant::now();
    let opening = TlsConnector::from(config.clone()).connect(name, Metered::new(socket));
    let stream = tokio::time::timeout(timeout, opening)
        .await
        .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, format!("no TLS handshake within {timeout:?}")))??;
    let took = start.elapsed();
    let kind = match stream.get_ref().1.handshake_kind() {
        Some(rustls::HandshakeKind::Resumed) => HandshakeKind::Resumed,
        _ => HandshakeKind::Full,
    };
    Ok((stream, took, kind))
}

fn native_roots() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let reason = found.errors.first().map_or_else(|| "none installed".to_owned(), ToString::to_string);
        return Err(format!("no trusted root certificates on this machine ({reason}); --insecure goes without"));
    }
    Ok(roots)
}

/// Takes any certificate, but still checks the handshake's signatures, so that the cost measured is the true one.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
