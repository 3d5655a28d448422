//! The trust of a client: the machine's roots and named authorities, or anybody.
//!
//! A verified chain is accepted again for a short time without verifying it anew. That the server has the key is
//! checked in every full handshake.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::{ClientSettings, TlsChoice};

/// Time for which a verified chain is accepted again. A load on a server sees its chain thousands of times a second.
const REMEMBERED: Duration = Duration::from_secs(60);

/// The refusal of a server's certificate, with the reason.
#[derive(Debug)]
pub(crate) struct CertificateRefused(pub(super) CertificateError);

impl fmt::Display for CertificateRefused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            // The last two: somebody is trusted who is called as its issuer is, and did not sign it.
            CertificateError::UnknownIssuer
            | CertificateError::BadSignature
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
                formatter.write_str("its certificate is signed by nobody who is trusted here")
            }
            // Such as `openssl req -x509` makes unless it is told otherwise.
            CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => formatter.write_str(
                "its certificate is an authority's (CA:TRUE) and must not be a server's: make it with CA:FALSE",
            ),
            other => write!(formatter, "its certificate is refused: {other}"),
        }
    }
}

impl std::error::Error for CertificateRefused {}

/// Judges certificates as the settings say.
///
/// # Errors
/// There is no authority to trust, with the reason.
pub(super) fn verifier(
    settings: &ClientSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    match settings.choice {
        TlsChoice::Insecure => Ok(Arc::new(Anybody { provider: Arc::clone(provider) })),
        TlsChoice::Verify => {
            let roots = roots(settings.authorities.as_deref())?;
            let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
                .build()
                .map_err(|error| format!("the trusted roots cannot be used: {error}"))?;
            Ok(Arc::new(Remembering { inner, verified: Mutex::new(None) }))
        }
    }
}

fn roots(authorities: Option<&Path>) -> Result<RootCertStore, String> {
    let Some(file) = authorities else { return machine_roots().clone() };
    // A machine without roots of its own can still trust the file.
    let mut roots = machine_roots().clone().unwrap_or_else(|_| RootCertStore::empty());
    let named = |reason: &dyn std::fmt::Display| format!("{}: {reason}", file.display());
    let text = std::fs::read(file).map_err(|error| named(&error))?;
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| named(&error))?;
        roots.add(certificate).map_err(|error| named(&error))?;
        count += 1;
    }
    if count == 0 {
        return Err(named(&"a certificate in PEM is expected, but none is in it"));
    }
    Ok(roots)
}

/// Read once: it takes milliseconds.
fn machine_roots() -> &'static Result<RootCertStore, String> {
    static ROOTS: OnceLock<Result<RootCertStore, String>> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            let reason = found.errors.first().map_or_else(|| "none installed".to_owned(), ToString::to_string);
            return Err(format!("no trusted root certificates on this machine ({reason}); --insecure goes without"));
        }
        Ok(roots)
    })
}

/// Verifies a chain once, and then compares.
#[derive(Debug)]
struct Remembering {
    inner: Arc<WebPkiServerVerifier>,
    verified: Mutex<Option<Chain>>,
}

/// A chain that was found right.
#[derive(Debug)]
struct Chain {
    name: ServerName<'static>,
    leaf: Vec<u8>,
    intermediates: Vec<Vec<u8>>,
    at: UnixTime,
}

impl Chain {
    fn is(&self, leaf: &[u8], intermediates: &[CertificateDer<'_>], name: &ServerName<'_>, now: UnixTime) -> bool {
        now.as_secs().saturating_sub(self.at.as_secs()) < REMEMBERED.as_secs()
            && self.name == *name
            && self.leaf == leaf
            && self.intermediates.len() == intermediates.len()
            && self.intermediates.iter().zip(intermediates).all(|(known, came)| known[..] == came[..])
    }
}

impl ServerCertVerifier for Remembering {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.as_ref().is_some_and(|chain| chain.is(end_entity, intermediates, server_name, now)) {
            return Ok(ServerCertVerified::assertion());
        }
        let judged = self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)?;
        *verified = Some(Chain {
            name: server_name.to_owned(),
            leaf: end_entity.to_vec(),
            intermediates: intermediates.iter().map(|certificate| certificate.to_vec()).collect(),
            at: now,
        });
        Ok(judged)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Takes any certificate, but still checks the handshake's signatures, so that the cost measured is the true one.
#[derive(Debug)]
struct Anybody {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Anybody {
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
