//! One connection that asks for TLS, over any transport.
//!
//! Opening and sealing records, and the memory kept while it waits, are in the channel that both sides share.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, NamedGroup};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::certificate::public_key;
use super::super::channel::{Channel, Failure, Incoming};
use super::super::{HandshakeKind, Version};
use super::Agreed;
use super::suites::Suite;
use super::trust::CertificateRefused;

/// A connection under TLS, asked for by us.
pub struct Connection<S> {
    socket: S,
    tls: Channel<UnbufferedClientConnection>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Opens TLS over a connection.
    ///
    /// # Errors
    /// When the certificate is refused, the protocol fails, or the connection ends.
    pub(super) async fn open(config: Arc<ClientConfig>, name: ServerName<'static>, socket: S) -> io::Result<Self> {
        let protocol = UnbufferedClientConnection::new(config, name).map_err(invalid)?;
        let mut connection = Connection { socket, tls: Channel::new(protocol) };
        connection.tls.begin(&[]).map_err(invalid)?;
        std::future::poll_fn(|cx| connection.poll_open(cx)).await?;
        Ok(connection)
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(self.tls.poll_handshake(&mut self.socket, cx)) {
            // Our last message leaves at once and by itself: the server's work is not to wait for a request.
            Ok(()) => self.tls.poll_flush(&mut self.socket, cx),
            Err(Failure::Closed) => {
                let error = "the server closed the connection within the TLS handshake";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, error)))
            }
            Err(Failure::Socket(error)) => Poll::Ready(Err(error)),
            Err(Failure::Protocol(error)) => Poll::Ready(Err(invalid(error))),
        }
    }
}

impl<S> Connection<S> {
    /// The transport below it.
    pub(crate) fn socket(&self) -> &S {
        &self.socket
    }

    /// The kind of handshake that opened it.
    pub(super) fn handshake_kind(&self) -> HandshakeKind {
        self.tls.handshake_kind()
    }

    /// The parameters agreed on. It allocates nothing.
    pub(super) fn agreed(&self) -> Agreed {
        let common = self.tls.agreed();
        let certificates = common.peer_certificates().unwrap_or_default();
        Agreed {
            version: self.version(),
            suite: self.tls.suite().map(Suite),
            group: common.negotiated_key_exchange_group().map(|group| match group.name() {
                NamedGroup::X25519 => "x25519",
                NamedGroup::secp256r1 => "secp256r1",
                NamedGroup::secp384r1 => "secp384r1",
                NamedGroup::X25519MLKEM768 => "X25519MLKEM768",
                _ => "another group",
            }),
            protocol: common.alpn_protocol().map(|protocol| match protocol {
                b"http/1.1" => "http/1.1",
                b"h2" => "h2",
                b"postgresql" => "postgresql",
                _ => "another protocol",
            }),
            key: certificates.first().and_then(|leaf| public_key(leaf)),
            certificates: u32::try_from(certificates.len()).unwrap_or(u32::MAX),
        }
    }

    /// The version that was agreed on.
    pub(super) fn version(&self) -> Version {
        self.tls.version()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Connection<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = room.filled().len();
        ready!(this.tls.poll_read(&mut this.socket, cx, room))?;
        if room.filled().len() == before && room.remaining() > 0 && this.tls.incoming() == Incoming::Cut {
            // Somebody in between may have cut it: an answer that ends with its connection would seem whole.
            let error = "the connection ended without the closing message of TLS";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, error)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.tls.poll_write(&mut this.socket, cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.tls.poll_flush(&mut this.socket, cx))?;
        Pin::new(&mut this.socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.tls.poll_shutdown(&mut this.socket, cx)
    }
}

fn invalid(error: rustls::Error) -> io::Error {
    match error {
        rustls::Error::InvalidCertificate(why) => io::Error::new(io::ErrorKind::InvalidData, CertificateRefused(why)),
        error => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

impl<S> std::fmt::Debug for Connection<S> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Connection").field("version", &self.version()).finish_non_exhaustive()
    }
}
