//! A socket that may know when the bytes it read had come, by the kernel's own stamp (SO_TIMESTAMPNS): the time from
//! then to the reading is the reader's doing.
//!
//! The stamp comes with the bytes, in the same system call. It is the kernel's wall clock, compared with nothing else.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// Bytes lie unread for less: a longer time is that of a clock which was set.
const UNREAD_MOST: Duration = Duration::from_secs(60);

/// A socket that wants stamps for as long as the process lives: the kernel begins to stamp some time after the first asks for
/// it, and ends with the last.
static KEPT: OnceLock<Option<UdpSocket>> = OnceLock::new();

/// Makes the kernel stamp all that comes to this machine from soon on.
pub fn begin_stamping() {
    KEPT.get_or_init(|| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true).ok()?;
        Some(socket)
    });
}

/// A socket. With stamps it is for runtimes of one thread: an event that another thread notes between a read and the end of
/// its poll would be lost.
#[derive(Debug)]
pub struct Stamped {
    socket: TcpStream,
    /// Room for what comes beside bytes; absent where no stamps are asked for.
    control: Option<Vec<u8>>,
    /// The time when the last bytes that were read had come, since 1970.
    came: Option<Duration>,
}

impl Stamped {
    /// A socket whose bytes are not stamped.
    #[must_use]
    pub fn plain(socket: TcpStream) -> Stamped {
        Stamped { socket, control: None, came: None }
    }

    /// A socket whose bytes are stamped, if the kernel can do that.
    #[must_use]
    pub fn with_stamps(socket: TcpStream) -> Stamped {
        let can = setsockopt(&socket, sockopt::ReceiveTimestampns, &true).is_ok();
        Stamped { socket, control: can.then(|| nix::cmsg_space!(TimeSpec)), came: None }
    }

    /// Time for which the bytes that were just read lay in the kernel; absent if it is unknown.
    pub fn lay(&self) -> Option<Duration> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        now.checked_sub(self.came?).filter(|lay| *lay < UNREAD_MOST)
    }
}

impl AsRef<TcpStream> for Stamped {
    fn as_ref(&self) -> &TcpStream {
        &self.socket
    }
}

/// Reads what there is, and says when it had come.
fn receive(socket: &TcpStream, room: &mut [u8], control: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
    let mut parts = [IoSliceMut::new(room)];
    let read = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(control), MsgFlags::empty())?;
    let stamp = |message| match message {
        ControlMessageOwned::ScmTimestampns(came) => Some(Duration::from(came)),
        _ => None,
    };
    let came = read.cmsgs().ok().and_then(|mut messages| messages.find_map(stamp));
    Ok((read.bytes, came))
}

impl AsyncRead for Stamped {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Stamped { socket, control, came } = self.get_mut();
        let Some(control) = control else { return Pin::new(socket).poll_read(cx, buffer) };
        loop {
            ready!(socket.poll_read_ready(cx))?;
            let room = buffer.initialize_unfilled();
            let room_bytes = room.len();
            match socket.try_io(Interest::READABLE, || receive(socket, room, control)) {
                Ok((bytes, stamp)) => {
                    *came = stamp;
                    buffer.advance(bytes);
                    if (1..room_bytes).contains(&bytes) {
                        // Nothing is left: the kernel need not be asked for that.
                        let _ = socket.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
                    }
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Stamped {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write(cx, bytes)
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write_vectored(cx, parts)
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn pair() -> (Stamped, TcpStream) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (Stamped::with_stamps(near), listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn bytes_that_lay_for_a_while_say_for_how_long() {
        begin_stamping();
        let (mut near, mut far) = pair().await;
        let mut buffer = [0; 16];
        // The first ones may come before the kernel stamps.
        for _ in 0..500 {
            far.write_all(b"answer").await.unwrap();
            // On this machine they are there when the writer goes on.
            let begun = std::time::Instant::now();
            while begun.elapsed() < Duration::from_millis(10) {
                std::hint::spin_loop();
            }
            assert_eq!(near.read(&mut buffer).await.unwrap(), 6);
            if let Some(lay) = near.lay() {
                assert!(lay >= Duration::from_millis(9), "{lay:?}");
                return;
            }
        }
        panic!("the kernel stamps nothing");
    }

    #[tokio::test]
    async fn all_bytes_come_in_pieces_of_any_size_and_the_end_after_them() {
        let (mut near, mut far) = pair().await;
        let sent: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        let expected = sent.clone();
        let writing = tokio::spawn(async move {
            for piece in sent.chunks(7_001) {
                far.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut read = Vec::new();
        near.read_to_end(&mut read).await.unwrap();
        writing.await.unwrap();
        assert!(read == expected);
    }
}
