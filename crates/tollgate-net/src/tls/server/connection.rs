//! One connection of a TLS listener: raw bytes until it is known that TLS comes, then the handshake, then records.
//!
//! Opening and sealing records, and the memory kept while it waits, are in the channel that both sides share.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::ServerConfig;
use rustls::server::UnbufferedServerConnection;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::super::agreement::{HandshakeKind, Transport};
use super::super::certificate::PeerCertificate;
use super::super::channel::{Channel, Failure};
use super::failure::HandshakeFailure;
use crate::meter::Metered;
use crate::tcp::Stamped;

/// One connection of a TLS listener.
pub struct Connection {
    socket: Metered<Stamped>,
    /// `None` while it is not known yet that TLS comes, and where it does not.
    tls: Option<Box<Channel<UnbufferedServerConnection>>>,
    transport: Transport,
    peer: Option<Box<PeerCertificate>>,
}

/// A handshake that failed: by which cause, and what rustls says of it.
pub(crate) type Failed = (HandshakeFailure, Option<rustls::Error>);

impl Connection {
    /// A connection over which nothing has come yet.
    pub(crate) fn new(socket: TcpStream) -> Connection {
        Connection { socket: Metered::new(Stamped::plain(socket)), tls: None, transport: Transport::Plain, peer: None }
    }

    /// The counted socket below.
    pub(crate) fn metered(&self) -> &Metered<Stamped> {
        &self.socket
    }

    /// Its encryption, once it is encrypted.
    pub(crate) fn transport(&self) -> Transport {
        self.transport
    }

    /// The client's certificate, if it showed one.
    pub(crate) fn peer_certificate(&self) -> Option<&PeerCertificate> {
        self.peer.as_deref()
    }

    /// Bytes that it keeps while it waits.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.tls.as_ref().map_or(0, |tls| tls.kept_bytes())
    }

    /// Begins the handshake with what came first.
    pub(crate) fn begin(&mut self, config: Arc<ServerConfig>, first: &[u8]) -> Result<(), Failed> {
        let protocol = UnbufferedServerConnection::new(config).map_err(failed)?;
        self.tls.insert(Box::new(Channel::new(protocol))).begin(first).map_err(failed)
    }

    /// Goes on with the handshake.
    pub(crate) fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        let tls = self.tls.as_mut().expect("the handshake was begun");
        match ready!(tls.poll_handshake(&mut self.socket, cx)) {
            Ok(()) => {}
            Err(Failure::Protocol(error)) => return Poll::Ready(Err(failed(error))),
            Err(Failure::Closed | Failure::Socket(_)) => return Poll::Ready(Err((HandshakeFailure::Closed, None))),
        }
        let agreed = tls.agreed();
        self.transport = Transport::Tls {
            version: tls.version(),
            cipher: agreed.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()).unwrap_or_default(),
            resumed: tls.handshake_kind() == HandshakeKind::Resumed,
        };
        let leaf = agreed.peer_certificates().and_then(<[_]>::first);
        self.peer = leaf.and_then(|leaf| PeerCertificate::parse(leaf)).map(Box::new);
        Poll::Ready(Ok(()))
    }

    /// Reads and forgets, without opening anything: after the last answer.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(room);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut room))?;
        Poll::Ready(Ok(room.filled().len()))
    }

    /// Says goodbye where that costs no waiting.
    pub(crate) fn say_goodbye(&mut self) {
        let Some(tls) = &mut self.tls else { return };
        tls.add_goodbye();
        if !tls.unsent().is_empty() {
            // Who takes nothing now learns it from the end of the connection.
            let _ = self.socket.try_write(tls.unsent());
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match &mut this.tls {
            // An end without a goodbye is an end: HTTP knows by its own framing whether something is missing.
            Some(tls) => tls.poll_read(&mut this.socket, cx, room),
            None => Pin::new(&mut this.socket).poll_read(cx, room),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match &mut this.tls {
            Some(tls) => tls.poll_write(&mut this.socket, cx, &[IoSlice::new(bytes)]),
            None => Pin::new(&mut this.socket).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match &mut this.tls {
            Some(tls) => tls.poll_write(&mut this.socket, cx, parts),
            None => Pin::new(&mut this.socket).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match &mut this.tls {
            Some(tls) => tls.poll_flush(&mut this.socket, cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match &mut this.tls {
            Some(tls) => tls.poll_shutdown(&mut this.socket, cx),
            None => Pin::new(&mut this.socket).poll_shutdown(cx),
        }
    }
}

fn failed(error: rustls::Error) -> Failed {
    (HandshakeFailure::of(&error), Some(error))
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Connection").field("transport", &self.transport).finish_non_exhaustive()
    }
}
