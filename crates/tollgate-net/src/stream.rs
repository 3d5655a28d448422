//! One connection as bytes: plain TCP or TLS over it, each counted at the socket.
//!
//! A variant per kind instead of a trait object: the hot path pays one predictable branch.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::meter::Metered;
use crate::tcp::{Stamped, TcpCounts};
use crate::tls::{client, server};

pub use crate::tls::Transport;

/// A connection's bytes.
#[derive(Debug)]
pub enum Stream {
    /// TCP as it is.
    Plain(Metered<Stamped>),
    /// TLS, asked for by us.
    TlsClient(Box<client::Connection<Metered<Stamped>>>),
    /// TLS, asked of us.
    TlsServer(Box<server::Connection>),
}

impl Stream {
    /// A plain stream that counts from zero.
    #[must_use]
    pub fn plain(socket: TcpStream) -> Stream {
        Stream::over(Stamped::plain(socket))
    }

    /// The same over a socket of either kind.
    pub(crate) fn over(socket: Stamped) -> Stream {
        Stream::Plain(Metered::new(socket))
    }

    /// Time for which the bytes that were just read lay in the kernel; absent if it is unknown.
    #[must_use]
    pub fn lay(&self) -> Option<Duration> {
        self.metered().socket().lay()
    }

    fn socket(&self) -> &TcpStream {
        self.metered().socket().as_ref()
    }

    /// The counted socket below everything.
    fn metered(&self) -> &Metered<Stamped> {
        match self {
            Stream::Plain(socket) => socket,
            Stream::TlsClient(connection) => connection.socket(),
            Stream::TlsServer(connection) => connection.metered(),
        }
    }

    /// Bytes that came from the network, below TLS.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.metered().received_bytes()
    }

    /// Bytes that went to the network, below TLS.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.metered().sent_bytes()
    }

    /// Number of times that bytes came back after some were sent, below TLS.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.metered().turns()
    }

    /// TCP counters of the connection; absent if the kernel does not report them.
    #[must_use]
    pub fn tcp_counts(&self) -> Option<TcpCounts> {
        TcpCounts::of(self.socket())
    }

    /// Our own address.
    ///
    /// # Errors
    /// When the socket is gone.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// Waits until something came, or the end of it, or the other side is gone. That is no system call, and once the end
    /// came there is no waiting any more.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Whoever reads then meets the error.
        self.socket().poll_read_ready(cx).map(|_| ())
    }

    /// Whether the other side broke the connection off; true only once.
    pub(crate) fn is_broken(&self) -> bool {
        !matches!(self.socket().take_error(), Ok(None))
    }

    /// Makes dropping this stream send a reset instead of an orderly end.
    ///
    /// # Errors
    /// When the socket is gone.
    pub fn reset_on_drop(&self) -> io::Result<()> {
        // tokio's own setter is deprecated for lingers that block; a linger of zero does not.
        socket2::SockRef::from(self.socket()).set_linger(Some(Duration::ZERO))
    }
}

impl AsyncRead for Stream {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_read(cx, buffer),
            Stream::TlsClient(connection) => Pin::new(&mut **connection).poll_read(cx, buffer),
            Stream::TlsServer(connection) => Pin::new(&mut **connection).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
            Stream::TlsClient(connection) => Pin::new(&mut **connection).poll_write(cx, bytes),
            Stream::TlsServer(connection) => Pin::new(&mut **connection).poll_write(cx, bytes),
        }
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
            Stream::TlsClient(connection) => Pin::new(&mut **connection).poll_write_vectored(cx, parts),
            Stream::TlsServer(connection) => Pin::new(&mut **connection).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::TlsClient(connection) => Pin::new(&mut **connection).poll_flush(cx),
            Stream::TlsServer(connection) => Pin::new(&mut **connection).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Stream::TlsClient(connection) => Pin::new(&mut **connection).poll_shutdown(cx),
            Stream::TlsServer(connection) => Pin::new(&mut **connection).poll_shutdown(cx),
        }
    }
}
