//! One connection's reads and writes under its deadlines, its bytes counted.
//!
//! It knows nothing of requests and answers.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::error::Fault;
use super::core::{Core, Watch};
use super::counters::ConnectionState;
use super::guests::Guest;
use super::held::Held;
use super::unsent::{Full, Progress, Unsent};
use crate::stream::{Stream, Transport};
use crate::tls::PeerCertificate;
use crate::tls::server::{self, HandshakeFailure};

/// A connection of the server.
pub(super) struct Link {
    pub(super) core: Rc<Core>,
    pub(super) peer: SocketAddr,
    stream: Stream,
    watch: Rc<Watch>,
    /// The time by which its first head must be there, the handshake before it included.
    pub(super) first_head_by: Instant,
    state: ConnectionState,
    /// The memory of the stream's unfinished records and handshakes.
    held: Held,
    /// The memory of an answer that waits for its client.
    unsent: Unsent,
    received_counted: u64,
    sent_counted: u64,
    /// Its place among the connections of its client.
    _guest: Option<Guest>,
}

/// The reason why a write did not succeed.
#[derive(Debug)]
pub(super) enum WriteError {
    /// The connection broke.
    Broken(io::Error),
    /// The client took nothing for too long.
    Stalled,
    /// The client took so little that others needed the memory.
    Full,
}

impl Link {
    pub(super) fn new(core: Rc<Core>, stream: Stream, peer: SocketAddr, guest: Option<Guest>) -> Link {
        let watch = core.enter();
        let first_head_by = core.now() + core.limits.header_timeout;
        let held = Held::nothing(&core);
        let unsent = Unsent::nothing(&core, &watch);
        let state = match &stream {
            Stream::TlsServer(_) => ConnectionState::Handshaking,
            Stream::Plain(_) | Stream::TlsClient(_) => ConnectionState::Idle,
        };
        core.counters().begins(state);
        Link {
            core,
            peer,
            stream,
            watch,
            first_head_by,
            state,
            held,
            unsent,
            received_counted: 0,
            sent_counted: 0,
            _guest: guest,
        }
    }

    /// Updates the gauges with the new activity of the connection.
    #[inline]
    pub(super) fn becomes(&mut self, state: ConnectionState) {
        if self.state != state {
            self.core.counters().ends(self.state);
            self.core.counters().begins(state);
            self.state = state;
        }
    }

    /// The way in which its bytes travel.
    pub(super) fn transport(&self) -> Transport {
        match &self.stream {
            Stream::TlsServer(connection) => connection.transport(),
            Stream::Plain(_) | Stream::TlsClient(_) => Transport::Plain,
        }
    }

    /// The client's certificate, if it showed one.
    pub(super) fn peer_certificate(&self) -> Option<&PeerCertificate> {
        match &self.stream {
            Stream::TlsServer(connection) => connection.peer_certificate(),
            Stream::Plain(_) | Stream::TlsClient(_) => None,
        }
    }

    /// The side of TLS that is ours, on a listener that speaks it.
    pub(super) fn tls(&mut self) -> Option<&mut server::Connection> {
        match &mut self.stream {
            Stream::TlsServer(connection) => Some(connection),
            Stream::Plain(_) | Stream::TlsClient(_) => None,
        }
    }

    /// Accounts for the memory that the stream keeps while it waits.
    ///
    /// # Errors
    /// It is more than all connections of the core may use together.
    pub(super) fn hold(&mut self) -> Result<(), HandshakeFailure> {
        let kept = match &self.stream {
            Stream::TlsServer(connection) => connection.kept_bytes(),
            Stream::Plain(_) | Stream::TlsClient(_) => return Ok(()),
        };
        self.held.resize(kept).map_err(|_| HandshakeFailure::MemoryFull)
    }

    pub(super) fn local(&self) -> io::Result<SocketAddr> {
        self.stream.local_address()
    }

    /// Reads once; no bytes mean that the client ended its side.
    #[inline]
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(room);
        match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(buffer.filled().len())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => match self.hold() {
                Ok(()) => Poll::Pending,
                Err(_) => {
                    self.core.counters().fault(Fault::MemoryFull);
                    Poll::Ready(Err(io::ErrorKind::OutOfMemory.into()))
                }
            },
        }
    }

    /// Waits until there is something to read, if only the end.
    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.stream.poll_readable(cx)
    }

    /// Whether the client broke the connection off; true only once.
    pub(super) fn is_broken(&self) -> bool {
        self.stream.is_broken()
    }

    /// Has the task woken at `deadline` at the latest; says whether that has already passed.
    pub(super) fn wait_until(&self, cx: &Context<'_>, deadline: Instant) -> Wait {
        if self.core.now() >= deadline {
            return Wait::Over;
        }
        self.watch.arm(cx, deadline);
        Wait::Armed
    }

    /// Ends all waiting.
    pub(super) fn disarm(&self) {
        self.watch.disarm();
    }

    /// Counts `occupied` bytes, and what the stream keeps, for an answer that waits for its client.
    ///
    /// # Errors
    /// It must end: others need the memory.
    pub(super) fn wait_for_reader(&mut self, occupied: usize, progress: Progress) -> Result<(), Full> {
        self.unsent.wait(occupied + self.kept_bytes(), progress)
    }

    /// The client has taken what was waited for.
    pub(super) fn was_read(&mut self) {
        self.unsent.release();
    }

    /// Bytes that the stream keeps of unfinished and unsent records.
    fn kept_bytes(&self) -> usize {
        match &self.stream {
            Stream::TlsServer(connection) => connection.kept_bytes(),
            Stream::Plain(_) | Stream::TlsClient(_) => 0,
        }
    }

    /// Writes all of `parts`, in one system call where the socket takes it. If it does not, the memory that they keep
    /// `occupied` counts while their client is waited for.
    pub(super) async fn write_all(
        &mut self,
        parts: &mut [IoSlice<'_>],
        occupied: impl Fn() -> usize,
    ) -> Result<(), WriteError> {
        let written = self.write_parts(parts, occupied).await;
        self.was_read();
        written
    }

    async fn write_parts(
        &mut self,
        mut parts: &mut [IoSlice<'_>],
        occupied: impl Fn() -> usize,
    ) -> Result<(), WriteError> {
        IoSlice::advance_slices(&mut parts, 0);
        let mut deadline = None;
        let mut sent_before = self.stream.sent_bytes();
        std::future::poll_fn(|cx| {
            loop {
                // One part is the usual case, and send is cheaper than writev. TLS may still hold records when it has
                // taken all parts; without it there is nothing to flush.
                let polled = match &*parts {
                    [] => match Pin::new(&mut self.stream).poll_flush(cx) {
                        Poll::Ready(Ok(())) => {
                            self.becomes(ConnectionState::Working);
                            return Poll::Ready(Ok(()));
                        }
                        Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                        Poll::Pending => Poll::Pending,
                    },
                    [only] => Pin::new(&mut self.stream).poll_write(cx, only),
                    several => Pin::new(&mut self.stream).poll_write_vectored(cx, several),
                };
                match polled {
                    Poll::Ready(Ok(0)) => {
                        return Poll::Ready(Err(WriteError::Broken(io::ErrorKind::WriteZero.into())));
                    }
                    Poll::Ready(Ok(written)) => {
                        IoSlice::advance_slices(&mut parts, written);
                        deadline = None;
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(WriteError::Broken(error))),
                    Poll::Pending => {
                        self.becomes(ConnectionState::Writing);
                        let sent = self.stream.sent_bytes();
                        if sent != sent_before {
                            (sent_before, deadline) = (sent, None);
                        }
                        let progress = if deadline.is_none() { Progress::Some } else { Progress::None };
                        if let Err(Full) = self.wait_for_reader(occupied(), progress) {
                            return Poll::Ready(Err(WriteError::Full));
                        }
                        let stall = self.core.limits.write_stall_timeout;
                        let deadline = *deadline.get_or_insert_with(|| self.core.now() + stall);
                        return match self.wait_until(cx, deadline) {
                            Wait::Over => Poll::Ready(Err(WriteError::Stalled)),
                            Wait::Armed => Poll::Pending,
                        };
                    }
                }
            }
        })
        .await
    }

    /// Writes what the socket takes of `parts` behind the first `sent` bytes of them, and counts that in `sent`.
    pub(super) fn poll_write_parts(
        &mut self,
        cx: &mut Context<'_>,
        parts: [&[u8]; 3],
        sent: &mut usize,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut skipped = *sent;
            let mut slices = parts.map(|part| {
                let skips = skipped.min(part.len());
                skipped -= skips;
                IoSlice::new(&part[skips..])
            });
            // In front of those that are left, none is empty; behind them that does not matter.
            let mut left = &mut slices[..];
            IoSlice::advance_slices(&mut left, 0);
            let polled = match &*left {
                [] => return Pin::new(&mut self.stream).poll_flush(cx),
                [only] => Pin::new(&mut self.stream).poll_write(cx, only),
                several => Pin::new(&mut self.stream).poll_write_vectored(cx, several),
            };
            match polled {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(written)) => *sent += written,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Says goodbye in the way of TLS, where that costs no waiting.
    pub(super) fn say_goodbye(&mut self) {
        if let Some(connection) = self.tls() {
            connection.say_goodbye();
        }
    }

    /// Ends our side and reads on for a while, so that the client gets the last answer before a reset could destroy it
    /// (RFC 9112 section 9.6).
    pub(super) async fn linger(&mut self) {
        let core = self.core.clone();
        let (deadline, mut bytes_left) = (core.now() + core.limits.linger_timeout, core.limits.linger_bytes_max);
        std::future::poll_fn(|cx| {
            // Lent for this poll only: a buffer here would be part of every connection's memory.
            let mut buffers = core.take_buffers();
            buffers.input.clear();
            buffers.input.make_room(0);
            let polled = self.poll_linger(cx, buffers.input.room(), deadline, &mut bytes_left);
            core.give_buffers(buffers);
            polled
        })
        .await;
    }

    fn poll_linger(
        &mut self,
        cx: &mut Context<'_>,
        room: &mut [u8],
        deadline: Instant,
        bytes_left: &mut usize,
    ) -> Poll<()> {
        match Pin::new(&mut self.stream).poll_shutdown(cx) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(_)) | Poll::Pending => return Poll::Ready(()),
        }
        loop {
            // What comes now is not even decrypted.
            let read = match self.tls() {
                Some(connection) => connection.poll_discard(cx, room),
                None => self.poll_read(cx, room),
            };
            match read {
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(count)) => {
                    *bytes_left = bytes_left.saturating_sub(count);
                    if *bytes_left == 0 {
                        return Poll::Ready(());
                    }
                }
                Poll::Pending => {
                    return match self.wait_until(cx, deadline) {
                        Wait::Over => Poll::Ready(()),
                        Wait::Armed => Poll::Pending,
                    };
                }
            }
        }
    }

    /// Makes the end of this connection a reset.
    pub(super) fn reset_on_drop(&self) {
        // A socket that is already gone cannot be reset, which is as good.
        let _ = self.stream.reset_on_drop();
    }

    /// Brings the core's byte counts up to date.
    pub(super) fn count_bytes(&mut self) {
        let (received, sent) = (self.stream.received_bytes(), self.stream.sent_bytes());
        self.core.counters().received_bytes.add(received - self.received_counted);
        self.core.counters().sent_bytes.add(sent - self.sent_counted);
        (self.received_counted, self.sent_counted) = (received, sent);
    }
}

/// The result of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The task will be woken.
    Armed,
    /// The deadline has passed.
    Over,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.count_bytes();
        self.core.counters().ends(self.state);
        self.core.leave(&self.watch);
    }
}
