//! One `[[tls]]`: addresses of the services over TLS, their certificate, and client authentication.
//!
//! [`TlsTable`] is the file's contents; [`TlsListener`] is its meaning. The files that it names are read when the
//! gateway starts, and again on SIGHUP.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use tollgate_net::tls::server::{ClientCertificates, Setting, Settings, SettingsError, Tickets, Version};
use toml::Spanned;

use crate::base::config_error::ConfigError;

/// A listener for the services over TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsListener {
    /// Addresses such as `127.0.0.1:8443`; port 0 takes any free one.
    pub addresses: Vec<SocketAddr>,
    /// Certificate, key, and protocol versions.
    pub settings: Settings,
    /// Its place in the file; `None` if it came from the command line.
    origin: Option<SettingsOrigin>,
}

/// Places of the settings in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SettingsOrigin {
    text: Arc<str>,
    file_name: Arc<str>,
    certificate: Range<usize>,
    key: Range<usize>,
    versions: Range<usize>,
    client_ca: Range<usize>,
}

/// Addresses of the services over TLS. One certificate for each table: a second one needs a second table.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tls")]
pub(super) struct TlsTable {
    /// Addresses such as `127.0.0.1:8443`; port 0 takes any free one.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(with = "Vec<String>", length(min = 1))]
    addresses: Vec<SocketAddr>,
    /// The certificate's file in PEM, followed by the intermediate certificates.
    #[schemars(with = "PathBuf")]
    certificate: Spanned<PathBuf>,
    /// The private key's file in PEM.
    #[schemars(with = "PathBuf")]
    key: Spanned<PathBuf>,
    /// The accepted versions of TLS; absent: both.
    #[schemars(with = "Option<Vec<Spoken>>", length(min = 1))]
    versions: Option<Spanned<Vec<Spoken>>>,
    /// Whether a client may resume an earlier session instead of a full handshake.
    #[serde(default = "yes")]
    #[schemars(default = "yes")]
    tickets: bool,
    /// Whether clients present certificates.
    #[serde(default)]
    client_certificates: ClientAuthentication,
    /// The file in PEM with the authorities of clients' certificates.
    #[schemars(with = "Option<PathBuf>")]
    client_ca: Option<Spanned<PathBuf>>,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
enum Spoken {
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "1.3")]
    Tls13,
}

/// Whether clients present certificates.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Asked")]
enum ClientAuthentication {
    /// No certificate is requested.
    #[default]
    Off,
    /// Clients may present a certificate; it must then be of an authority in `client_ca`.
    Optional,
    /// Clients without a certificate of an authority in `client_ca` are refused.
    Required,
}

impl TlsListener {
    /// Whether a client without a certificate has no connection.
    pub(super) fn requires_certificates(&self) -> bool {
        matches!(self.settings.client_certificates, ClientCertificates::Required(_))
    }

    /// Creates a listener from the command line.
    pub fn new(addresses: Vec<SocketAddr>, settings: Settings) -> TlsListener {
        TlsListener { addresses, settings, origin: None }
    }

    /// Error in a file that the settings name, with its line in the configuration.
    pub(crate) fn wrong(&self, error: &SettingsError) -> String {
        let Some(origin) = &self.origin else { return error.to_string() };
        let span = match error.setting {
            Setting::Certificate => &origin.certificate,
            Setting::Key => &origin.key,
            Setting::Versions => &origin.versions,
            Setting::ClientAuthorities => &origin.client_ca,
        };
        ConfigError::at(&origin.text, &origin.file_name, span.clone(), &error.to_string()).to_string()
    }
}

/// Checks the tables of a file and returns their meaning.
pub(super) fn listeners(
    tables: Vec<Spanned<TlsTable>>,
    text: &str,
    file_name: &str,
) -> Result<Vec<TlsListener>, ConfigError> {
    let (text, file_name): (Arc<str>, Arc<str>) = (text.into(), file_name.into());
    let meaning = |table| meaning(table, &text, &file_name);
    let listeners = tables.into_iter().map(meaning).collect::<Result<_, _>>();
    listeners.map_err(|(at, wrong): (Range<usize>, &str)| ConfigError::at(&text, &file_name, at, wrong))
}

fn meaning(
    table: Spanned<TlsTable>,
    text: &Arc<str>,
    file_name: &Arc<str>,
) -> Result<TlsListener, (Range<usize>, &'static str)> {
    let whole = table.span();
    let TlsTable { addresses, certificate, key, versions, tickets, client_certificates, client_ca } =
        table.into_inner();
    let span_of = |value: Option<Range<usize>>| value.unwrap_or_else(|| whole.clone());
    let origin = SettingsOrigin {
        text: text.clone(),
        file_name: file_name.clone(),
        certificate: certificate.span(),
        key: key.span(),
        versions: span_of(versions.as_ref().map(Spanned::span)),
        client_ca: span_of(client_ca.as_ref().map(Spanned::span)),
    };
    let versions = match versions {
        None => Version::ALL.into(),
        Some(spoken) => {
            let mut versions: Vec<_> = spoken.into_inner().into_iter().map(Version::from).collect();
            versions.sort_unstable();
            versions.dedup();
            if versions.is_empty() {
                return Err((origin.versions, "expected at least one version, 1.2 or 1.3"));
            }
            versions
        }
    };
    let client_certificates = match (client_certificates, client_ca.map(Spanned::into_inner)) {
        (ClientAuthentication::Off, None) => ClientCertificates::Off,
        (ClientAuthentication::Optional, Some(file)) => ClientCertificates::Optional(file),
        (ClientAuthentication::Required, Some(file)) => ClientCertificates::Required(file),
        (ClientAuthentication::Off, Some(_)) => {
            let wrong =
                "`client_ca` is of no use while `client_certificates` is \"off\": say \"optional\" or \"required\"";
            return Err((origin.client_ca, wrong));
        }
        (ClientAuthentication::Optional | ClientAuthentication::Required, None) => {
            let wrong = "expected `client_ca` too: the authorities that clients' certificates come from";
            return Err((origin.client_ca, wrong));
        }
    };
    let settings = Settings {
        certificate: certificate.into_inner(),
        key: key.into_inner(),
        versions,
        tickets: if tickets { Tickets::On } else { Tickets::Off },
        client_certificates,
    };
    Ok(TlsListener { addresses, settings, origin: Some(origin) })
}

impl From<Spoken> for Version {
    fn from(spoken: Spoken) -> Version {
        match spoken {
            Spoken::Tls12 => Version::Tls12,
            Spoken::Tls13 => Version::Tls13,
        }
    }
}

fn yes() -> bool {
    true
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SocketAddr>, D::Error> {
    let addresses = Vec::<SocketAddr>::deserialize(deserializer)?;
    if addresses.is_empty() {
        return Err(serde::de::Error::custom("expected at least one address"));
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_table_is_read_with_what_it_leaves_out() {
        let check = |text: &str, expected: Settings| {
            let config = Config::parse(text, "gateway.toml").unwrap();
            assert_eq!(config.tls[0].settings, expected, "{text}");
            assert_eq!(config.tls[0].addresses, ["127.0.0.1:0".parse().unwrap()]);
        };
        let least =
            "[listen]\naddresses = []\n[[tls]]\naddresses = [\"127.0.0.1:0\"]\ncertificate = \"a\"\nkey = \"b\"\n";
        check(least, Settings::new("a", "b"));
        check(
            &format!(
                "{least}versions = [\"1.3\"]\ntickets = false\nclient_certificates = \"required\"\nclient_ca = \"c\""
            ),
            Settings {
                versions: vec![Version::Tls13],
                tickets: Tickets::Off,
                client_certificates: ClientCertificates::Required("c".into()),
                ..Settings::new("a", "b")
            },
        );
        check(
            &format!("{least}versions = [\"1.3\", \"1.2\"]\nclient_certificates = \"optional\"\nclient_ca = \"c\""),
            Settings { client_certificates: ClientCertificates::Optional("c".into()), ..Settings::new("a", "b") },
        );
    }

    #[test]
    fn what_is_wrong_stands_with_its_line() {
        let check = |text: &str, line: &str, wrong: &str| {
            let told = Config::parse(text, "gateway.toml").unwrap_err().to_string();
            assert!(told.contains(&format!("gateway.toml:{line}:")) && told.contains(wrong), "{text}\n{told}");
        };
        let table =
            |rest: &str| format!("[[tls]]\naddresses = [\"127.0.0.1:0\"]\ncertificate = \"a\"\nkey = \"b\"\n{rest}\n");
        check("[listen]\naddresses = []\n", "1", "expected at least one address here, or a `[[tls]]`");
        check("[[tls]]\naddresses = []\ncertificate = \"a\"\nkey = \"b\"", "2", "expected at least one address");
        check("[[tls]]\naddresses = [\"127.0.0.1:0\"]\nkey = \"b\"", "1", "certificate");
        check(&table("versions = [\"1.1\"]"), "5", "1.1");
        check(&table("versions = []"), "5", "expected at least one version");
        check(&table("ciphers = \"RC4\""), "5", "unknown key `ciphers`");
        check(&table("client_certificates = \"required\""), "1", "expected `client_ca` too");
        check(&table("client_ca = \"c\""), "5", "of no use");
    }
}
