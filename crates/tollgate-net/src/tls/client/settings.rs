//! TLS settings of a client: its trust, the versions it offers, and whether it resumes earlier sessions.
//!
//! A [`Client`](super::Client) makes a configuration of these settings.

use std::path::PathBuf;

use super::super::Version;
use super::suites::Suite;

/// The judgement of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TlsChoice {
    /// Against the machine's own roots, name included.
    #[default]
    Verify,
    /// Any certificate is accepted (`--insecure`); that the server has its key is still checked.
    Insecure,
}

/// Whether a later connection may resume an earlier one's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Resumption {
    /// As a browser does.
    #[default]
    Allowed,
    /// Each handshake is a full one: for measuring what that costs.
    Disabled,
}

/// Whether a client names the server that it wants (SNI, RFC 6066 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ServerNameSent {
    /// As browsers do; an address is never named.
    #[default]
    Yes,
    /// It does not, and gets the certificate that the server has for such clients.
    No,
}

/// TLS settings of a client.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ClientSettings {
    /// The judgement of certificates.
    pub choice: TlsChoice,
    /// A PEM file of authorities that are trusted besides the machine's own roots.
    pub authorities: Option<PathBuf>,
    /// The only version that is offered; absent: each that there is.
    pub version: Option<Version>,
    /// Whether sessions are resumed.
    pub resumption: Resumption,
    /// The only cipher suites that are offered; empty: each that there is.
    pub suites: Vec<Suite>,
    /// Whether the server is named.
    pub server_name: ServerNameSent,
    /// A PEM file with the client's own certificate, those above it, and its key; absent: it shows none.
    pub identity: Option<PathBuf>,
}

impl From<TlsChoice> for ClientSettings {
    fn from(choice: TlsChoice) -> ClientSettings {
        ClientSettings { choice, ..ClientSettings::default() }
    }
}
