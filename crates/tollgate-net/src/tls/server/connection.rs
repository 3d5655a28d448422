//! One connection of a TLS listener: raw bytes until it is known that TLS comes, then the handshake, then records.
//!
//! While it waits it keeps what cannot be given up (half a record) and nothing else. What it must send of its own
//! accord, such as tickets, leaves with the first answer, or when it would wait otherwise: a system call less per
//! handshake.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::ServerConfig;
use rustls::server::UnbufferedServerConnection;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::super::certificate::PeerCertificate;
use super::failure::HandshakeFailure;
use super::records::{self, Driven};
use super::scratch::{self, READ_BYTES_MAX, RECORD_OVERHEAD_BYTES, Scratch};
use super::settings::Version;
use crate::meter::Metered;
use crate::stream::Transport;

/// Bytes kept of unfinished records and messages at most; rustls takes no handshake message over 64 KiB.
const KEPT_BYTES_MAX: usize = 80 * 1024;

/// Room below this is not worth a read of its own.
const READ_BYTES_MIN: usize = 4 * 1024;

/// Records up to this wait for what comes next; beyond it they go first.
const UNSENT_BYTES_JOINED_MAX: usize = 4 * 1024;

/// One connection of a TLS listener.
pub struct Connection {
    socket: Metered<TcpStream>,
    /// `None` while it is not known yet that TLS comes, and where it does not.
    tls: Option<Box<UnbufferedServerConnection>>,
    /// Bytes that are no whole record or message yet.
    kept: Vec<u8>,
    /// Plaintext that had no room.
    opened: Vec<u8>,
    /// Records that are to go, from `unsent_start` on.
    unsent: Vec<u8>,
    unsent_start: usize,
    ended: bool,
    /// After an error nothing more may be opened or sealed.
    failed: bool,
    transport: Transport,
    peer: Option<Box<PeerCertificate>>,
}

/// A handshake that failed: by which cause, and what rustls says of it.
pub(crate) type Failed = (HandshakeFailure, Option<rustls::Error>);

impl Connection {
    /// A connection over which nothing has come yet.
    pub(crate) fn new(socket: TcpStream) -> Connection {
        Connection {
            socket: Metered::new(socket),
            tls: None,
            kept: Vec::new(),
            opened: Vec::new(),
            unsent: Vec::new(),
            unsent_start: 0,
            ended: false,
            failed: false,
            transport: Transport::Plain,
            peer: None,
        }
    }

    /// The counted socket below.
    pub(crate) fn metered(&self) -> &Metered<TcpStream> {
        &self.socket
    }

    /// How it is encrypted, once it is.
    pub(crate) fn transport(&self) -> Transport {
        self.transport
    }

    /// The client's certificate, if it showed one.
    pub(crate) fn peer_certificate(&self) -> Option<&PeerCertificate> {
        self.peer.as_deref()
    }

    /// Bytes that it keeps while it waits.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.kept.capacity() + self.opened.capacity() + self.unsent.capacity()
    }

    /// Begins the handshake with what came first.
    pub(crate) fn begin(&mut self, config: Arc<ServerConfig>, first: &[u8]) -> Result<(), Failed> {
        let tls = UnbufferedServerConnection::new(config).map_err(failed)?;
        self.tls = Some(Box::new(tls));
        scratch::with(|scratch| {
            scratch.room(first.len()).copy_from_slice(first);
            self.advance(scratch, first.len(), None).map_err(failed)
        })
    }

    /// Goes on with the handshake.
    pub(crate) fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        loop {
            let tls = self.tls.as_ref().expect("the handshake was begun");
            if !tls.is_handshaking() {
                self.transport = Transport::Tls {
                    version: match tls.protocol_version() {
                        Some(rustls::ProtocolVersion::TLSv1_2) => Version::Tls12,
                        _ => Version::Tls13,
                    },
                    cipher: tls.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()).unwrap_or_default(),
                    resumed: tls.handshake_kind() == Some(rustls::HandshakeKind::Resumed),
                };
                let leaf = tls.peer_certificates().and_then(<[_]>::first);
                self.peer = leaf.and_then(|leaf| PeerCertificate::parse(leaf)).map(Box::new);
                return Poll::Ready(Ok(()));
            }
            if ready!(self.poll_flush(cx)).is_err() {
                return Poll::Ready(Err((HandshakeFailure::Closed, None)));
            }
            let read = scratch::with(|scratch| {
                let Ok(count) = ready!(self.poll_fetch(cx, scratch, READ_BYTES_MIN)) else {
                    return Poll::Ready(Err((HandshakeFailure::Closed, None)));
                };
                if count == 0 {
                    return Poll::Ready(Err((HandshakeFailure::Closed, None)));
                }
                Poll::Ready(self.advance(scratch, self.kept.len() + count, None).map_err(failed))
            });
            if let Err(error) = ready!(read) {
                // The alert says why; who does not take it at once goes without.
                let _ = self.poll_flush(cx);
                return Poll::Ready(Err(error));
            }
        }
    }

    /// Reads and forgets, without opening anything: after the last answer.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        poll_raw(&mut self.socket, cx, room)
    }

    /// Says goodbye where that costs no waiting.
    pub(crate) fn say_goodbye(&mut self) {
        self.add_goodbye();
        if self.unsent_start < self.unsent.len() {
            // Who takes nothing now learns it from the end of the connection.
            let _ = self.socket.try_write(&self.unsent[self.unsent_start..]);
        }
    }

    /// Reads bytes behind those that are kept; none mean that the client ended its side.
    fn poll_fetch(&mut self, cx: &mut Context<'_>, scratch: &mut Scratch, wanted: usize) -> Poll<io::Result<usize>> {
        let kept = self.kept.len();
        if kept > KEPT_BYTES_MAX {
            let error = "a record or message is longer than the protocol allows";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
        }
        let bytes = wanted.clamp(READ_BYTES_MIN, READ_BYTES_MAX) + RECORD_OVERHEAD_BYTES;
        let room = scratch.room(kept + bytes);
        match poll_raw(&mut self.socket, cx, &mut room[kept..]) {
            Poll::Ready(read) => {
                room[..kept].copy_from_slice(&self.kept);
                Poll::Ready(read)
            }
            Poll::Pending => {
                // Nothing is there: what waits for company leaves alone.
                if self.unsent_start < self.unsent.len()
                    && let Poll::Ready(Err(error)) = self.poll_flush(cx)
                {
                    return Poll::Ready(Err(error));
                }
                Poll::Pending
            }
        }
    }

    /// Works through the first `count` bytes of what came, and keeps those that are no whole record yet.
    fn advance(
        &mut self,
        scratch: &mut Scratch,
        count: usize,
        mut room: Option<&mut ReadBuf<'_>>,
    ) -> Result<(), rustls::Error> {
        let Scratch { incoming, outgoing, .. } = scratch;
        let incoming = &mut incoming[..count];
        outgoing.clear();
        let opened = &mut self.opened;
        let deliver = |plaintext: &[u8]| {
            let mut rest = plaintext;
            if let Some(room) = &mut room
                && opened.is_empty()
            {
                let (fits, left) = rest.split_at(rest.len().min(room.remaining()));
                room.put_slice(fits);
                rest = left;
            }
            opened.extend_from_slice(rest);
        };
        let tls = self.tls.as_mut().expect("records come within TLS only");
        let driven = records::drive(tls, incoming, outgoing, deliver, |_, _| ());
        self.unsent.extend_from_slice(outgoing.records());
        self.failed = driven.is_err();
        let Driven { used, ended, .. } = driven?;
        self.ended |= ended;
        keep(&mut self.kept, &incoming[used..]);
        Ok(())
    }

    /// Seals as much of `parts` as goes at once, and sends it as far as the socket takes it.
    fn poll_seal(&mut self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if self.unsent.len() - self.unsent_start > UNSENT_BYTES_JOINED_MAX {
            ready!(self.poll_flush(cx))?;
        }
        scratch::with(|scratch| {
            let Scratch { outgoing, gathered, .. } = scratch;
            outgoing.clear();
            outgoing.append(&self.unsent[self.unsent_start..]);
            let taken = self.write(outgoing, |traffic, outgoing| records::seal(traffic, parts, gathered, outgoing))?;
            let Some(taken) = taken else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
            let taken = taken?;
            let sent = match Pin::new(&mut self.socket).poll_write(cx, outgoing.records()) {
                Poll::Ready(sent) => sent?,
                Poll::Pending => 0,
            };
            self.unsent_start = 0;
            keep(&mut self.unsent, &outgoing.records()[sent..]);
            Poll::Ready(Ok(taken))
        })
    }

    /// Lets something be sealed; `None` where nothing can be any more.
    fn write<T>(
        &mut self,
        outgoing: &mut scratch::Outgoing,
        write: impl FnOnce(
            &mut rustls::unbuffered::WriteTraffic<'_, rustls::server::ServerConnectionData>,
            &mut scratch::Outgoing,
        ) -> T,
    ) -> io::Result<Option<T>> {
        if self.failed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let opened = &mut self.opened;
        let tls = self.tls.as_mut().expect("records go within TLS only");
        let deliver = |plaintext: &[u8]| opened.extend_from_slice(plaintext);
        let driven = records::drive(tls, &mut self.kept, outgoing, deliver, write);
        self.failed = driven.is_err();
        let Driven { used, ended, written } = driven.map_err(invalid)?;
        self.ended |= ended;
        self.kept.drain(..used);
        Ok(written)
    }

    fn add_goodbye(&mut self) {
        if self.tls.as_ref().is_none_or(|tls| tls.is_handshaking()) {
            return;
        }
        scratch::with(|scratch| {
            scratch.outgoing.clear();
            // After an error there is nothing to say that the alert has not said.
            let _ = self.write(&mut scratch.outgoing, records::close);
            self.unsent.extend_from_slice(scratch.outgoing.records());
        });
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.tls.is_none() {
            return Pin::new(&mut this.socket).poll_read(cx, room);
        }
        if this.failed {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        if !this.opened.is_empty() {
            let count = this.opened.len().min(room.remaining());
            room.put_slice(&this.opened[..count]);
            this.opened.drain(..count);
            if this.opened.is_empty() {
                this.opened = Vec::new();
            }
            return Poll::Ready(Ok(()));
        }
        let before = room.filled().len();
        scratch::with(|scratch| {
            while room.filled().len() == before && !this.ended {
                let count = ready!(this.poll_fetch(cx, scratch, room.remaining()))?;
                if count == 0 {
                    // Without a goodbye: HTTP knows by its own framing whether something is missing.
                    this.ended = true;
                    break;
                }
                this.advance(scratch, this.kept.len() + count, Some(room)).map_err(invalid)?;
            }
            Poll::Ready(Ok(()))
        })
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match this.tls {
            Some(_) => this.poll_seal(cx, &[IoSlice::new(bytes)]),
            None => Pin::new(&mut this.socket).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match this.tls {
            Some(_) => this.poll_seal(cx, parts),
            None => Pin::new(&mut this.socket).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.add_goodbye();
        ready!(this.poll_flush(cx))?;
        Pin::new(&mut this.socket).poll_shutdown(cx)
    }
}

impl Connection {
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.unsent_start < self.unsent.len() {
            match ready!(Pin::new(&mut self.socket).poll_write(cx, &self.unsent[self.unsent_start..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => self.unsent_start += sent,
            }
        }
        if self.unsent.capacity() > 0 {
            (self.unsent, self.unsent_start) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

/// Makes `kept` hold `bytes`, in no more memory than they take.
fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        if kept.capacity() > 0 {
            *kept = Vec::new();
        }
        return;
    }
    kept.clear();
    kept.reserve_exact(bytes.len());
    kept.extend_from_slice(bytes);
}

fn poll_raw(socket: &mut Metered<TcpStream>, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(room);
    ready!(Pin::new(socket).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

fn failed(error: rustls::Error) -> Failed {
    (HandshakeFailure::of(&error), Some(error))
}

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Connection").field("transport", &self.transport).finish_non_exhaustive()
    }
}
