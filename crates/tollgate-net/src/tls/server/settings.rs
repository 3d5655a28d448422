//! The settings of a TLS listener, and the reading of the files that they name.
//!
//! Here all that can be wrong with them is found: behind an [`Acceptor`](super::Acceptor) nothing can be.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::{Error, InconsistentKeys, RootCertStore, ServerConfig};

use super::super::agreement::Version;
use super::super::certificate::{self, Facts};

/// The settings of a TLS listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The certificate in PEM, the intermediates behind it.
    pub certificate: PathBuf,
    /// Its private key in PEM.
    pub key: PathBuf,
    /// The versions that are spoken, at least one.
    pub versions: Vec<Version>,
    /// Whether a client may resume an earlier session.
    pub tickets: Tickets,
    /// Whether clients show certificates.
    pub client_certificates: ClientCertificates,
}

/// Whether a client may resume an earlier session instead of a full handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tickets {
    /// By tickets for which the server keeps nothing, under keys that change every six hours; a client of TLS 1.2
    /// without tickets by a cache of the last sessions.
    #[default]
    On,
    /// Never: each handshake is a full one.
    Off,
}

/// Whether clients show certificates.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum ClientCertificates {
    /// Certificates are not requested.
    #[default]
    Off,
    /// A client may show one; it must then be of an authority in this PEM file.
    Optional(PathBuf),
    /// A client without one of an authority in this PEM file gets no connection.
    Required(PathBuf),
}

/// The setting that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The certificate's file.
    Certificate,
    /// The key's file.
    Key,
    /// The versions.
    Versions,
    /// The file of the authorities that clients' certificates come from.
    ClientAuthorities,
}

/// The reason why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The wrong setting.
    pub setting: Setting,
    message: String,
}

/// Largest file of certificates or keys that is read; a bundle of all public authorities is a quarter of it.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Sessions of TLS 1.2 kept for clients without tickets, about 200 bytes each.
const SESSIONS_MAX: usize = 4096;

/// Tickets that a client of TLS 1.3 gets with a full handshake, as OpenSSL does: one for each of two connections at
/// once.
const TICKETS_SENT: usize = 2;

impl Settings {
    /// Both versions, tickets, and no certificates of clients.
    #[must_use]
    pub fn new(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Settings {
        Settings {
            certificate: certificate.into(),
            key: key.into(),
            versions: Version::ALL.into(),
            tickets: Tickets::On,
            client_certificates: ClientCertificates::Off,
        }
    }

    /// Reads the files and makes what connections are opened by, and what the certificate says.
    pub(super) fn load(&self) -> Result<(Arc<ServerConfig>, Facts), SettingsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions: Vec<_> = self.versions.iter().map(|version| version.supported()).collect();
        if versions.is_empty() {
            return Err(SettingsError::new(Setting::Versions, "expected at least one version of TLS, 1.2 or 1.3"));
        }
        let verifier = verifier(&self.client_certificates, &provider)?;
        let chain = certificates(&self.certificate, Setting::Certificate)?;
        let key = private_key(&self.key)?;
        let facts = certificate::facts(&chain[0]).ok_or_else(|| {
            let file = self.certificate.display();
            SettingsError::new(Setting::Certificate, format_args!("the first certificate in {file} cannot be read"))
        })?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|error| SettingsError::new(Setting::Versions, error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|error| self.mismatch(&error))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        match self.tickets {
            Tickets::On => {
                config.ticketer = rustls::crypto::ring::Ticketer::new().map_err(|error| {
                    SettingsError::new(Setting::Key, format_args!("no key for tickets can be made: {error}"))
                })?;
                config.session_storage = ServerSessionMemoryCache::new(SESSIONS_MAX);
                config.send_tls13_tickets = TICKETS_SENT;
            }
            Tickets::Off => {
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
        }
        Ok((Arc::new(config), facts))
    }

    /// The reason why rustls does not accept certificate and key.
    fn mismatch(&self, error: &Error) -> SettingsError {
        let (certificate, key) = (self.certificate.display(), self.key.display());
        match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => SettingsError::new(
                Setting::Key,
                format_args!("the key in {key} is not that of the first certificate in {certificate}"),
            ),
            Error::InvalidCertificate(_) => SettingsError::new(
                Setting::Certificate,
                format_args!("the first certificate in {certificate} cannot be used: {error}"),
            ),
            _ => SettingsError::new(Setting::Key, format_args!("the key in {key} cannot be used: {error}")),
        }
    }
}

impl ClientCertificates {
    /// The file of the authorities, where there is one.
    #[must_use]
    pub fn authorities(&self) -> Option<&Path> {
        match self {
            ClientCertificates::Off => None,
            ClientCertificates::Optional(file) | ClientCertificates::Required(file) => Some(file),
        }
    }
}

fn verifier(
    clients: &ClientCertificates,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, SettingsError> {
    let Some(file) = clients.authorities() else { return Ok(WebPkiClientVerifier::no_client_auth()) };
    let setting = Setting::ClientAuthorities;
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file, setting)? {
        roots.add(certificate).map_err(|error| {
            SettingsError::new(setting, format_args!("a certificate in {} is no authority: {error}", file.display()))
        })?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let builder = match clients {
        ClientCertificates::Optional(_) => builder.allow_unauthenticated(),
        ClientCertificates::Off | ClientCertificates::Required(_) => builder,
    };
    builder.build().map_err(|error| SettingsError::new(setting, error))
}

/// The certificates in a PEM file, at least one.
pub(crate) fn certificates(file: &Path, setting: Setting) -> Result<Vec<CertificateDer<'static>>, SettingsError> {
    let pem = read(file, setting)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let wrong = |what: fmt::Arguments<'_>| SettingsError::new(setting, format_args!("{}: {what}", file.display()));
    let found = read.map_err(|error| wrong(format_args!("not PEM: {}", not_pem(&error))))?;
    if found.is_empty() {
        return Err(wrong(format_args!("expected a certificate in PEM (-----BEGIN CERTIFICATE-----), found none")));
    }
    Ok(found)
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, SettingsError> {
    let pem = read(file, Setting::Key)?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|error| {
        let what = match error {
            pem::Error::NoItemsFound => {
                "expected a private key in PEM without a password (-----BEGIN PRIVATE KEY-----), found none".to_owned()
            }
            error => format!("not PEM: {}", not_pem(&error)),
        };
        SettingsError::new(Setting::Key, format_args!("{}: {what}", file.display()))
    })
}

/// The error in a file that should be PEM. It repeats nothing of the file, as the reader's own words do: that may be a
/// private key, and the words go to a log.
fn not_pem(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "a section has no line -----END …----- behind it",
        pem::Error::IllegalSectionStart { .. } => "a line -----BEGIN …----- does not end as it should",
        pem::Error::Base64Decode(_) => {
            "what stands between the lines -----BEGIN …----- and -----END …----- is no base64"
        }
        pem::Error::SectionTooLarge => "a section is too long",
        _ => "it cannot be read as such",
    }
}

fn read(file: &Path, setting: Setting) -> Result<Vec<u8>, SettingsError> {
    let wrong = |what: fmt::Arguments<'_>| SettingsError::new(setting, format_args!("{}: {what}", file.display()));
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|opened| opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    opened.map_err(|error| wrong(format_args!("cannot be read: {error}")))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(wrong(format_args!("larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

impl SettingsError {
    fn new(setting: Setting, message: impl fmt::Display) -> SettingsError {
        SettingsError { setting, message: message.to_string() }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for SettingsError {}
