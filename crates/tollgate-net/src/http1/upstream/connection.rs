//! One connection to a backend.
//!
//! The exchange over it, and its time limits, are not decided here.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::pool::{Counts, PoolLimits};
use crate::stream::Stream;

/// Whether a connection was opened for the request that it is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was: its failure says something about the backend.
    Fresh,
    /// It waited for another request: the backend may have closed it in the meantime, so its failure shows nothing.
    Reused,
}

/// A connection to a backend.
#[derive(Debug)]
pub struct UpstreamConnection {
    stream: Stream,
    origin: Origin,
    opened: Instant,
    idle_since: Instant,
    counts: Arc<Counts>,
}

impl UpstreamConnection {
    pub(super) fn new(stream: Stream, now: Instant, counts: &Arc<Counts>) -> UpstreamConnection {
        counts.opened();
        UpstreamConnection { stream, origin: Origin::Fresh, opened: now, idle_since: now, counts: Arc::clone(counts) }
    }

    /// Whether it was opened for this request.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Begins to wait for another request.
    pub(super) fn rest(&mut self, now: Instant) {
        self.origin = Origin::Reused;
        self.idle_since = now;
    }

    /// Whether it may be used for another request: it is not too old, has not waited too long, and nothing came while
    /// it waited, neither its end nor unexpected bytes. That is no system call unless something did come.
    pub(super) fn is_usable(&mut self, now: Instant, limits: &PoolLimits) -> bool {
        let young = now.saturating_duration_since(self.opened) < limits.age_max;
        let lively = now.saturating_duration_since(self.idle_since) < limits.idle_max;
        // Whoever it was used by must not be woken for it; TLS reads its tickets here.
        let mut byte = [0];
        young && lively && self.poll_read(&mut Context::from_waker(Waker::noop()), &mut byte).is_pending()
    }

    /// Reads once; no bytes mean that the backend ended its side.
    #[inline]
    pub(in crate::http1) fn poll_read(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(room);
        Pin::new(&mut self.stream).poll_read(cx, &mut buffer).map_ok(|()| buffer.filled().len())
    }

    /// Writes what the socket takes.
    #[inline]
    pub(in crate::http1) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    /// Sends the bytes that TLS has not sent yet.
    #[inline]
    pub(in crate::http1) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

impl Drop for UpstreamConnection {
    fn drop(&mut self) {
        self.counts.closed();
    }
}
