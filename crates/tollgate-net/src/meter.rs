//! Counting: events that one thread counts and any thread may read, and the bytes that pass through a socket.
//!
//! Nothing here interprets what it counts.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A count with one writing thread and any number of readers.
///
/// Adding is a plain load and store (under 1 ns) instead of a locked instruction (about 5 ns): with a second writer
/// counts would be lost, though nothing else would break.
#[derive(Debug, Default)]
pub struct Tally(AtomicU64);

impl Tally {
    /// Adds `count`; only ever called by the thread that owns this tally.
    #[inline]
    pub fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    /// Takes `count` away, for gauges; only ever called by the thread that owns this tally.
    #[inline]
    pub fn subtract(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_sub(count), Ordering::Relaxed);
    }

    /// Raises a peak to `count`, if it is less; only ever called by the thread that owns this tally.
    #[inline]
    pub fn raise_to(&self, count: u64) {
        if count > self.value() {
            self.0.store(count, Ordering::Relaxed);
        }
    }

    /// The current count.
    #[inline]
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A socket that counts the bytes passing through it: put below TLS, it counts what the network carried.
#[derive(Debug)]
pub struct Metered<S> {
    socket: S,
    received_bytes: u64,
    sent_bytes: u64,
    turns: u32,
    last: Direction,
}

/// The direction in which bytes went last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Received,
    Sent,
}

impl<S> Metered<S> {
    /// Starts counting at zero.
    pub fn new(socket: S) -> Metered<S> {
        Metered { socket, received_bytes: 0, sent_bytes: 0, turns: 0, last: Direction::Received }
    }

    /// Number of times that bytes came back after some were sent: round trips of an owner that sends first.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    #[inline]
    fn sent(&mut self, bytes: usize) {
        if bytes > 0 {
            self.sent_bytes += bytes as u64;
            self.last = Direction::Sent;
        }
    }

    /// The socket below.
    pub fn socket(&self) -> &S {
        &self.socket
    }

    /// Bytes read so far.
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Bytes written so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }
}

impl<S: AsRef<tokio::net::TcpStream>> Metered<S> {
    /// Writes what the socket takes at once.
    ///
    /// # Errors
    /// Broken connections, and [`io::ErrorKind::WouldBlock`] if the socket takes nothing.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.socket.as_ref().try_write(bytes)?;
        self.sent_bytes += sent as u64;
        Ok(sent)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut this.socket).poll_read(cx, buffer));
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            this.received_bytes += bytes as u64;
            this.turns += u32::from(this.last == Direction::Sent);
            this.last = Direction::Received;
        }
        Poll::Ready(result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = ready!(Pin::new(&mut this.socket).poll_write(cx, bytes));
        this.sent(*result.as_ref().unwrap_or(&0));
        Poll::Ready(result)
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // One piece, as TLS has mostly, goes by the cheaper system call.
        if let [part] = parts {
            return self.poll_write(cx, part);
        }
        let this = self.get_mut();
        let result = ready!(Pin::new(&mut this.socket).poll_write_vectored(cx, parts));
        this.sent(*result.as_ref().unwrap_or(&0));
        Poll::Ready(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn a_tally_goes_up_and_down() {
        let tally = Tally::default();
        tally.add(5);
        tally.subtract(2);
        assert_eq!(tally.value(), 3);
        tally.raise_to(2);
        assert_eq!(tally.value(), 3);
        tally.raise_to(4);
        assert_eq!(tally.value(), 4);
    }

    #[test]
    fn a_metered_socket_counts_what_passes_and_nothing_else() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (near, mut far) = tokio::io::duplex(64);
            let mut near = Metered::new(near);
            near.write_all(b"12345").await.unwrap();
            far.write_all(b"abc").await.unwrap();
            let mut buffer = [0; 16];
            assert_eq!(near.read(&mut buffer).await.unwrap(), 3);
            assert_eq!((near.received_bytes(), near.sent_bytes()), (3, 5));
            assert_eq!(near.turns(), 1);
            near.write_all(b"1").await.unwrap();
            near.write_all(b"2").await.unwrap();
            for answer in [b"a", b"b"] {
                far.write_all(answer).await.unwrap();
                assert_eq!(near.read(&mut buffer).await.unwrap(), 1);
            }
            assert_eq!(near.turns(), 2, "two writes before two reads are one round trip");
        });
    }
}
