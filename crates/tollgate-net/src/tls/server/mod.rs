//! TLS as a server: the settings of a listener, the connections that it opens, and the reasons why some fail.
//!
//! One certificate per listener, for every name that a client asks for (SNI): a second one is a second listener. There
//! is no early data, which could be replayed.

mod connection;
mod failure;
mod settings;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use rustls::ServerConfig;

pub(crate) use self::connection::Connection;
pub use self::failure::HandshakeFailure;
pub use self::settings::{ClientCertificates, Setting, Settings, SettingsError, Tickets};
pub use super::agreement::Version;
use super::certificate::{AlternativeName, Facts};

/// A TLS listener's opener of connections; clones are the same acceptor.
#[derive(Clone, Debug)]
pub struct Acceptor {
    current: Arc<RwLock<Current>>,
}

#[derive(Debug)]
struct Current {
    config: Arc<ServerConfig>,
    certificate: Arc<OwnCertificate>,
}

/// The statements of the certificate that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCertificate {
    /// The names that it is for.
    pub alternative_names: Vec<AlternativeName>,
    /// It is not valid before.
    pub not_before: SystemTime,
    /// It is not valid afterwards.
    pub not_after: SystemTime,
}

impl Acceptor {
    /// Reads the files that the settings name.
    ///
    /// # Errors
    /// The first thing that is wrong with them.
    pub fn new(settings: &Settings) -> Result<Acceptor, SettingsError> {
        Ok(Acceptor { current: Arc::new(RwLock::new(Current::load(settings)?)) })
    }

    /// Reads the files again. Connections that are open stay as they are; their sessions end here, since the new
    /// settings may not allow them.
    ///
    /// # Errors
    /// The first thing that is wrong; everything is then as it was.
    pub fn replace(&self, settings: &Settings) -> Result<(), SettingsError> {
        let loaded = Current::load(settings)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        Ok(())
    }

    /// The certificate that is served now.
    #[must_use]
    pub fn certificate(&self) -> Arc<OwnCertificate> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).certificate.clone()
    }

    /// The configuration for the next connection. A lock per handshake is a ten-thousandth of its cost.
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).config.clone()
    }
}

impl Current {
    fn load(settings: &Settings) -> Result<Current, SettingsError> {
        let (config, Facts { alternative_names, not_before, not_after, .. }) = settings.load()?;
        Ok(Current { config, certificate: Arc::new(OwnCertificate { alternative_names, not_before, not_after }) })
    }
}
