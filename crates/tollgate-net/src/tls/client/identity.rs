//! The identity of a client: its certificate and key, out of one PEM file as OpenSSL's tools write them.
//!
//! Nothing of the file is repeated in an error: it contains a private key.

use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Reads certificates, the client's own first, and the key.
///
/// # Errors
/// The missing part, with the file's name.
pub(super) fn read(file: &Path) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
    let named = |what: &str| format!("{}: {what}", file.display());
    let text = std::fs::read(file).map_err(|error| named(&error.to_string()))?;
    let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>().unwrap_or_default();
    if certificates.is_empty() {
        return Err(named("expected a certificate in PEM (-----BEGIN CERTIFICATE-----), found none"));
    }
    let key = PrivateKeyDer::from_pem_slice(&text);
    let key = key.map_err(|_| named("expected a private key in PEM without a password behind the certificate"))?;
    Ok((certificates, key))
}
