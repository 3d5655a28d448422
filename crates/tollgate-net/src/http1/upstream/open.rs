//! Targets of connections to a backend, and opening one: name, TCP, TLS.
//!
//! The caller sets the time limit.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use super::error::UpstreamError;
use crate::connect::{connect, resolve};
use crate::stream::Stream;
use crate::tcp::Stamped;
use crate::tls::{Client, Sessions};

/// A ceiling for each step: callers give up long before.
const STEP_TIMEOUT: Duration = Duration::from_secs(600);

/// The target of connections.
#[derive(Clone, Debug)]
pub struct Place {
    host: String,
    port: u16,
    tls: Option<Client>,
}

impl Place {
    /// A host, an address or name (without the brackets of an IPv6 address), and its port.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Place {
        Place { host: host.into(), port, tls: None }
    }

    /// The same, over TLS: the certificate must be for the host.
    #[must_use]
    pub fn with_tls(self, client: Client) -> Place {
        Place { tls: Some(client), ..self }
    }

    pub(super) async fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        resolve(&self.host, self.port).await
    }

    /// Opens a connection to the first of `addresses` that answers, and says which one that was; each is asked
    /// within its share of `timeout`, which is not watched over.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn open(
        &self,
        addresses: &[SocketAddr],
        timeout: Duration,
    ) -> Result<(Stream, SocketAddr), UpstreamError> {
        // Whoever waits gives up first, and says so in its own words.
        let connected = connect(addresses, timeout * 2).await;
        let (socket, address, _) = connected.map_err(UpstreamError::unconnected)?;
        let Some(client) = &self.tls else { return Ok((Stream::plain(socket), address)) };
        let opened = client.handshake(&self.host, Stamped::plain(socket), Sessions::TakenUp, STEP_TIMEOUT).await;
        let (stream, _) = opened.map_err(UpstreamError::unencrypted)?;
        Ok((Stream::TlsClient(Box::new(stream)), address))
    }
}
