//! Opening connections, each step timed: name, TCP, TLS.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use super::connection::ClientConnection;
use super::error::{ConnectError, ErrorClass};
use super::route::{Route, tunnel};
use super::target::{Scheme, Target};
use crate::connect::{SocketOptions, connect_unix, connect_with, resolve};
use crate::stream::Stream;
use crate::tcp::Stamped;
use crate::tls::{Agreed, Client, ClientSettings, HandshakeKind, Resumption, Sessions};

/// Time for the connection, and once more for the TLS handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of HTTP/1.1 in TLS.
const PROTOCOL: &str = "http/1.1";

/// Opens connections; clones share TLS sessions.
#[derive(Clone, Debug)]
pub struct Connector {
    settings: ClientSettings,
    socket: SocketOptions,
    route: Route,
    connect_timeout: Duration,
    exchange_timeout: Duration,
    /// Made when the first https target is opened: loading the machine's roots takes milliseconds.
    client: Arc<OnceLock<Result<Client, String>>>,
}

/// The way in which a connection was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The address that answered; 0.0.0.0:0 of a Unix socket.
    pub address: SocketAddr,
    /// The TCP handshake, in nanoseconds; with that for a proxy's tunnel.
    pub connect_ns: u64,
    /// The TLS handshake, in nanoseconds, where there was one.
    pub tls_ns: Option<u64>,
    /// The kind of the TLS handshake.
    pub handshake: Option<HandshakeKind>,
    /// The parameters agreed on with TLS; absent without.
    pub agreed: Option<Agreed>,
}

impl Connector {
    /// A connector that speaks TLS as the settings say; a [`TlsChoice`](crate::tls::TlsChoice) alone will do.
    #[must_use]
    pub fn new(settings: impl Into<ClientSettings>) -> Connector {
        Connector {
            settings: settings.into(),
            socket: SocketOptions::default(),
            route: Route::Direct,
            connect_timeout: CONNECT_TIMEOUT,
            exchange_timeout: super::connection::EXCHANGE_TIMEOUT,
            client: Arc::default(),
        }
    }

    /// Sets whether later connections may resume earlier TLS sessions.
    #[must_use]
    pub fn resumption(mut self, resumption: Resumption) -> Connector {
        self.settings.resumption = resumption;
        self.client = Arc::default();
        self
    }

    /// Makes ready what the first https connection would have to wait for, such as reading the machine's roots.
    ///
    /// # Errors
    /// There is no authority to trust, with the reason.
    pub fn prepare(&self, target: &Target) -> Result<(), String> {
        match target.scheme() {
            Scheme::Http => Ok(()),
            Scheme::Https => self.client().as_ref().map(drop).map_err(Clone::clone),
        }
    }

    /// Number of connections to the target that could resume a TLS session now, each its own.
    #[must_use]
    pub fn sessions_ready(&self, target: &Target) -> usize {
        self.client().as_ref().map_or(0, |client| client.sessions_ready(target.host()))
    }

    /// Sets the options of its sockets.
    #[must_use]
    pub fn socket(mut self, options: SocketOptions) -> Connector {
        self.socket = options;
        self
    }

    /// Sets the way in which its connections reach their targets.
    #[must_use]
    pub fn route(mut self, route: Route) -> Connector {
        self.route = route;
        self
    }

    /// The time that connecting may take, and once more the TLS handshake.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Connector {
        self.connect_timeout = timeout;
        self
    }

    /// The time that each exchange may take on the connections opened.
    #[must_use]
    pub fn exchange_timeout(mut self, timeout: Duration) -> Connector {
        self.exchange_timeout = timeout;
        self
    }

    /// Finds the addresses of a target, for opening many connections to it without asking each time. By a Unix socket there
    /// are none.
    ///
    /// # Errors
    /// [`ErrorClass::ResolveFailed`].
    pub async fn resolve(&self, target: &Target) -> Result<Vec<SocketAddr>, ConnectError> {
        if let Route::Unix(_) = self.route {
            return Ok(Vec::new());
        }
        resolve(target.host(), target.port()).await.map_err(|error| {
            ConnectError::new(ErrorClass::ResolveFailed, format!("no address for {}", target.host()), Some(error))
        })
    }

    /// Opens a connection to the target's host.
    ///
    /// # Errors
    /// Why there is none, in its class.
    pub async fn open(&self, target: &Target) -> Result<ClientConnection, ConnectError> {
        let addresses = self.resolve(target).await?;
        self.open_at(target, &addresses).await
    }

    /// Opens a connection to the first of `addresses` that answers; the target names the scheme and the certificate.
    ///
    /// # Errors
    /// Why there is none, in its class.
    pub async fn open_at(&self, target: &Target, addresses: &[SocketAddr]) -> Result<ClientConnection, ConnectError> {
        self.open_by(target, addresses, Sessions::TakenUp).await
    }

    /// The same, but always with a full handshake; the TLS sessions that it brings are kept.
    ///
    /// # Errors
    /// Why there is none, in its class.
    pub async fn open_fully(
        &self,
        target: &Target,
        addresses: &[SocketAddr],
    ) -> Result<ClientConnection, ConnectError> {
        self.open_by(target, addresses, Sessions::OnlyKept).await
    }

    async fn open_by(
        &self,
        target: &Target,
        addresses: &[SocketAddr],
        sessions: Sessions,
    ) -> Result<ClientConnection, ConnectError> {
        let (socket, address, took) = self.reach(target, addresses).await?;
        let connect_ns = nanoseconds(took);
        let mut opening = Opening { address, connect_ns, tls_ns: None, handshake: None, agreed: None };
        let stream = match target.scheme() {
            Scheme::Http => Stream::over(Stamped::with_stamps(socket)),
            Scheme::Https => {
                let failed = |source: io::Error| {
                    let class = match source.kind() {
                        io::ErrorKind::TimedOut => ErrorClass::ConnectTimeout,
                        _ => ErrorClass::Tls,
                    };
                    ConnectError::new(class, format!("no TLS with {}", target.authority()), Some(source))
                };
                let client = self.client().as_ref();
                let client = client.map_err(|reason| ConnectError::new(ErrorClass::Tls, reason.clone(), None))?;
                let (stream, handshake) = client
                    .handshake(target.host(), Stamped::with_stamps(socket), sessions, self.connect_timeout)
                    .await
                    .map_err(failed)?;
                opening.tls_ns = Some(nanoseconds(handshake.took));
                opening.handshake = Some(handshake.kind);
                opening.agreed = Some(handshake.agreed);
                Stream::TlsClient(Box::new(stream))
            }
        };
        Ok(ClientConnection::new(stream, opening, self.exchange_timeout))
    }

    /// A socket on which the target is asked, and how long it took to get it.
    async fn reach(
        &self,
        target: &Target,
        addresses: &[SocketAddr],
    ) -> Result<(TcpStream, SocketAddr, Duration), ConnectError> {
        if let Route::Unix(path) = &self.route {
            let connected = connect_unix(path, self.connect_timeout).await;
            let none = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
            return connected
                .map(|(socket, took)| (socket, none, took))
                .map_err(|error| ConnectError::connecting(&path.display().to_string(), error));
        }
        let failed = |error| ConnectError::connecting(&asked(target, addresses), error);
        let (mut socket, address, mut took) =
            connect_with(addresses, self.socket, self.connect_timeout).await.map_err(failed)?;
        if let Route::Tunnel { authorization } = &self.route {
            let begun = Instant::now();
            let tunnel = tunnel(&mut socket, target, authorization.as_deref());
            let opened = tokio::time::timeout(self.connect_timeout, tunnel).await;
            opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(failed)?;
            took += begun.elapsed();
        }
        Ok((socket, address, took))
    }

    fn client(&self) -> &Result<Client, String> {
        self.client.get_or_init(|| Client::new(&self.settings, PROTOCOL))
    }
}

/// The peer of a new connection: the target, unless the addresses are another's, such as a proxy's.
fn asked(target: &Target, addresses: &[SocketAddr]) -> String {
    let is_its_own = |address: &SocketAddr| {
        address.port() == target.port() && target.host().parse().map_or(true, |ip: IpAddr| ip == address.ip())
    };
    match addresses.first() {
        Some(other) if !is_its_own(other) => format!("{other}, which is to be asked for {}", target.authority()),
        _ => target.authority().to_owned(),
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_fails_names_the_proxy_that_was_asked_and_not_the_target() {
        let check = |url: &str, address: &str, expected: &str| {
            assert_eq!(asked(&Target::parse(url).unwrap(), &[address.parse().unwrap()]), expected);
        };
        check("http://127.0.0.1:8080/", "127.0.0.1:8080", "127.0.0.1:8080");
        check("http://[::1]:8080/", "[::1]:8080", "[::1]:8080");
        check("http://far.example/", "192.0.2.1:80", "far.example");
        check("http://far.example/", "127.0.0.1:3128", "127.0.0.1:3128, which is to be asked for far.example");
        check("http://127.0.0.1:80/", "127.0.0.2:80", "127.0.0.2:80, which is to be asked for 127.0.0.1");
    }
}
