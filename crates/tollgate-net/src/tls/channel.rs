//! TLS over a socket that is lent for each call, for either side: the handshake, then records both ways.
//!
//! While it waits it keeps only what cannot be given up (half a record): records are opened and sealed in the thread's
//! own memory. Records of the protocol's own leave with the next data that is sent, or when it would wait otherwise. It
//! knows neither certificates nor the content.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustls::CommonState;
use rustls::unbuffered::WriteTraffic;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::records::{self, Driven, Protocol};
use super::scratch::{self, Outgoing, READ_BYTES_MAX, RECORD_BYTES_MAX, RECORD_OVERHEAD_BYTES, Scratch};
use super::{HandshakeKind, Version};

/// Bytes kept of unfinished records and messages at most; rustls takes no handshake message over 64 KiB.
const KEPT_BYTES_MAX: usize = 80 * 1024;

/// Room below this is not worth a read of its own.
const READ_BYTES_MIN: usize = 4 * 1024;

/// Records up to this wait for what comes next; beyond it they go first.
const UNSENT_BYTES_JOINED_MAX: usize = 4 * 1024;

/// One connection's protocol, with its waiting bytes.
pub(super) struct Channel<P> {
    protocol: P,
    /// Bytes that are no whole record or message yet.
    kept: Vec<u8>,
    /// Plaintext that had no room.
    opened: Vec<u8>,
    /// Records that are to go, from `unsent_start` on.
    unsent: Vec<u8>,
    unsent_start: usize,
    incoming: Incoming,
    /// After an error nothing more may be opened or sealed.
    failed: Option<Box<rustls::Error>>,
}

/// Whether the peer still sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// As far as is known.
    Open,
    /// It announced its end.
    Ended,
    /// The connection ended without a word: what came may be a part only.
    Cut,
}

/// The reason why a handshake failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The peer closed the connection.
    Closed,
    /// The socket failed.
    Socket(io::Error),
    /// The protocol failed, by either side.
    Protocol(rustls::Error),
}

impl<P: Protocol> Channel<P> {
    /// A channel before the first byte.
    pub(super) fn new(protocol: P) -> Channel<P> {
        let (kept, opened, unsent) = (Vec::new(), Vec::new(), Vec::new());
        Channel { protocol, kept, opened, unsent, unsent_start: 0, incoming: Incoming::Open, failed: None }
    }

    /// The parameters agreed on.
    pub(super) fn agreed(&self) -> &CommonState {
        self.protocol.common()
    }

    /// The cipher suite that was agreed on.
    pub(super) fn suite(&self) -> Option<rustls::CipherSuite> {
        self.agreed().negotiated_cipher_suite().map(|suite| suite.suite())
    }

    /// The version that was agreed on.
    pub(super) fn version(&self) -> Version {
        match self.agreed().protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => Version::Tls12,
            _ => Version::Tls13,
        }
    }

    /// The kind of handshake that opened it.
    pub(super) fn handshake_kind(&self) -> HandshakeKind {
        match self.agreed().handshake_kind() {
            Some(rustls::HandshakeKind::Resumed) => HandshakeKind::Resumed,
            _ => HandshakeKind::Full,
        }
    }

    /// Whether the peer still sends.
    pub(super) fn incoming(&self) -> Incoming {
        self.incoming
    }

    /// Bytes that it keeps while it waits.
    pub(super) fn kept_bytes(&self) -> usize {
        self.kept.capacity() + self.opened.capacity() + self.unsent.capacity()
    }

    /// Records that are to go.
    pub(super) fn unsent(&self) -> &[u8] {
        &self.unsent[self.unsent_start..]
    }

    /// Begins the handshake: with what the peer sent, or with nothing where ours is the first message.
    pub(super) fn begin(&mut self, first: &[u8]) -> Result<(), rustls::Error> {
        scratch::with(|scratch| {
            scratch.room(first.len()).copy_from_slice(first);
            self.advance(scratch, first.len(), None)
        })
    }

    /// Goes on with the handshake. The last records are not sent yet at its end.
    pub(super) fn poll_handshake<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Failure>> {
        while self.agreed().is_handshaking() {
            ready!(self.poll_flush(socket, cx)).map_err(Failure::Socket)?;
            let read = scratch::with(|scratch| {
                let count = ready!(self.poll_fetch(socket, cx, scratch, RECORD_BYTES_MAX)).map_err(Failure::Socket)?;
                if count == 0 {
                    return Poll::Ready(Err(Failure::Closed));
                }
                Poll::Ready(self.advance(scratch, self.kept.len() + count, None).map_err(Failure::Protocol))
            });
            if let Err(failure) = ready!(read) {
                // The alert says why; who does not take it at once goes without.
                let _ = self.poll_flush(socket, cx);
                return Poll::Ready(Err(failure));
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads plaintext; none, where there is room, means that nothing more comes.
    pub(super) fn poll_read<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if room.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        if !self.opened.is_empty() {
            let count = self.opened.len().min(room.remaining());
            room.put_slice(&self.opened[..count]);
            self.opened.drain(..count);
            if self.opened.is_empty() {
                self.opened = Vec::new();
            }
            return Poll::Ready(Ok(()));
        }
        let before = room.filled().len();
        scratch::with(|scratch| {
            loop {
                if let Some(error) = &self.failed {
                    let error = invalid((**error).clone());
                    // The alert says why; who does not take it at once goes without.
                    let _ = self.poll_flush(socket, cx);
                    return Poll::Ready(Err(error));
                }
                if self.incoming != Incoming::Open {
                    return Poll::Ready(Ok(()));
                }
                let count = ready!(self.poll_fetch(socket, cx, scratch, room.remaining()))?;
                if count == 0 {
                    self.incoming = Incoming::Cut;
                    return Poll::Ready(Ok(()));
                }
                // What came before an error counts first: it is told where nothing more is there to be read.
                let _ = self.advance(scratch, self.kept.len() + count, Some(room));
                if room.filled().len() > before {
                    return Poll::Ready(Ok(()));
                }
            }
        })
    }

    /// Seals as much of `parts` as goes at once, and sends it as far as the socket takes it.
    pub(super) fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.unsent().len() > UNSENT_BYTES_JOINED_MAX {
            ready!(self.poll_flush(socket, cx))?;
        }
        scratch::with(|scratch| {
            let Scratch { outgoing, gathered, .. } = scratch;
            outgoing.clear();
            outgoing.append(self.unsent());
            let taken = self.seal(outgoing, |traffic, outgoing| records::seal(traffic, parts, gathered, outgoing))?;
            let Some(taken) = taken else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
            let taken = taken?;
            let sent = match Pin::new(socket).poll_write(cx, outgoing.records()) {
                Poll::Ready(sent) => sent?,
                Poll::Pending => 0,
            };
            self.unsent_start = 0;
            keep(&mut self.unsent, &outgoing.records()[sent..]);
            Poll::Ready(Ok(taken))
        })
    }

    /// Sends what is to go.
    pub(super) fn poll_flush<S: AsyncWrite + Unpin>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.unsent_start < self.unsent.len() {
            match ready!(Pin::new(&mut *socket).poll_write(cx, self.unsent()))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => self.unsent_start += sent,
            }
        }
        if self.unsent.capacity() > 0 {
            (self.unsent, self.unsent_start) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }

    /// Says that nothing more comes, and ends our side of the connection.
    pub(super) fn poll_shutdown<S: AsyncWrite + Unpin>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        self.add_goodbye();
        ready!(self.poll_flush(socket, cx))?;
        Pin::new(socket).poll_shutdown(cx)
    }

    /// Puts the message that nothing more comes behind what is to go; once at most.
    pub(super) fn add_goodbye(&mut self) {
        if self.agreed().is_handshaking() {
            return;
        }
        scratch::with(|scratch| {
            scratch.outgoing.clear();
            // After an error there is nothing to say that the alert has not said.
            let _ = self.seal(&mut scratch.outgoing, records::close);
            self.unsent.extend_from_slice(scratch.outgoing.records());
        });
    }

    /// Reads bytes behind those that are kept; none mean that the peer ended its side.
    fn poll_fetch<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
        wanted: usize,
    ) -> Poll<io::Result<usize>> {
        let kept = self.kept.len();
        if kept > KEPT_BYTES_MAX {
            let error = "a record or message is longer than the protocol allows";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
        }
        // What is kept opens with the rest: together they should have the room that is wanted.
        let bytes = wanted.saturating_sub(kept).clamp(READ_BYTES_MIN, READ_BYTES_MAX) + RECORD_OVERHEAD_BYTES;
        let mut room = ReadBuf::new(&mut scratch.room(kept + bytes)[kept..]);
        match Pin::new(&mut *socket).poll_read(cx, &mut room) {
            Poll::Ready(Ok(())) => {
                let count = room.filled().len();
                scratch.room(kept).copy_from_slice(&self.kept);
                Poll::Ready(Ok(count))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                // Nothing is there: what waits for company leaves alone.
                if let Poll::Ready(Err(error)) = self.poll_flush(socket, cx) {
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
        let driven = records::drive(&mut self.protocol, incoming, outgoing, deliver, |_, _| ());
        self.unsent.extend_from_slice(outgoing.records());
        let Driven { used, ended, .. } = driven.inspect_err(|error| self.failed = Some(Box::new(error.clone())))?;
        self.note_end(ended);
        keep(&mut self.kept, &incoming[used..]);
        Ok(())
    }

    /// Lets something be sealed; `None` where nothing can be any more.
    fn seal<T>(
        &mut self,
        outgoing: &mut Outgoing,
        write: impl FnOnce(&mut WriteTraffic<'_, P::Data>, &mut Outgoing) -> T,
    ) -> io::Result<Option<T>> {
        if self.failed.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let opened = &mut self.opened;
        let deliver = |plaintext: &[u8]| opened.extend_from_slice(plaintext);
        let driven = records::drive(&mut self.protocol, &mut self.kept, outgoing, deliver, write);
        match driven {
            Ok(Driven { used, ended, written }) => {
                self.note_end(ended);
                self.kept.drain(..used);
                Ok(written)
            }
            Err(error) => {
                self.failed = Some(Box::new(error.clone()));
                Err(invalid(error))
            }
        }
    }

    fn note_end(&mut self, ended: bool) {
        if ended {
            self.incoming = Incoming::Ended;
        }
    }
}

/// Makes `bytes` the content of `kept`, in no more memory than they take.
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

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
