//! Detects whether the client is still there while a backend, or another request, is waited for: nobody else shall wait
//! behind a request whose answer nobody takes.
//!
//! The end of the client's side alone is no proof: it may have ended that, and still read (RFC 9112, section 9.6). The
//! proof is to send something. A client that is gone answers with a reset, and one that is there reads an interim
//! answer, which it has to accept (RFC 9110, section 15.2). HTTP/1.0 knows none: such a client is taken to be there.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::super::super::head::Version;
use super::super::core::TICK;
use super::{Exchange, ExchangeError, Sending};

/// The bytes sent to a client that ended its side.
const INTERIM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Time from the end of its side until it is asked, and interval of looking for a reset: nothing wakes for one where
/// the end came before. Earlier answers are sent without asking.
const LOOK_EVERY: Duration = TICK;

/// The known state of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// No end was seen.
    There,
    /// It ended its side.
    Ended {
        /// The time when it is asked whether it is gone.
        ask_at: Instant,
    },
    /// It was sent something after that.
    Asked {
        /// The time of the next look for a reset.
        look_at: Instant,
    },
    /// It ended its side, and cannot be asked.
    Unknown,
}

impl Exchange<'_> {
    /// Waits for what is none of this exchange's own, for as long as its client is there.
    ///
    /// # Errors
    /// It is gone.
    pub async fn wait_for<T>(&mut self, awaited: impl Future<Output = T>) -> Result<T, ExchangeError> {
        let mut awaited = pin!(awaited);
        let waited = std::future::poll_fn(|cx| {
            // First, so that nothing is begun for a client that is known to be gone.
            let look_again = self.look_for_client(cx)?;
            if let Poll::Ready(came) = awaited.as_mut().poll(cx) {
                return Poll::Ready(Ok(came));
            }
            self.link.core.park(self.buffers);
            if let Some(look_again) = look_again {
                // That lies ahead: it was reckoned from the same time.
                let _ = self.link.wait_until(cx, look_again);
            }
            Poll::Pending
        });
        let waited = waited.await;
        self.link.disarm();
        self.link.core.lend(self.buffers);
        waited
    }

    /// Looks whether the client is there, and has the task woken when that may have changed; returns when to look
    /// again, if nothing would wake it. Bytes behind the request are read once, and stay in the read buffer.
    ///
    /// # Errors
    /// It is gone.
    pub(super) fn look_for_client(&mut self, cx: &mut Context<'_>) -> Result<Option<Instant>, ExchangeError> {
        match self.presence {
            Presence::There if self.decoder.is_done() && self.buffers.input.is_empty() => {
                if self.link.poll_readable(cx).is_ready() {
                    self.read_ahead(cx)?;
                }
            }
            Presence::Ended { ask_at } if ask_at <= self.link.core.now() => self.ask_client(cx)?,
            Presence::Asked { look_at } if look_at <= self.link.core.now() => {
                if self.link.is_broken() {
                    return Err(gone());
                }
                self.presence = Presence::Asked { look_at: self.soon() };
            }
            Presence::There | Presence::Ended { .. } | Presence::Asked { .. } | Presence::Unknown => {}
        }
        Ok(match self.presence {
            Presence::Ended { ask_at: at } | Presence::Asked { look_at: at } => Some(at),
            Presence::There | Presence::Unknown => None,
        })
    }

    fn read_ahead(&mut self, cx: &mut Context<'_>) -> Result<(), ExchangeError> {
        let was_parked = self.buffers.input.is_without_memory();
        self.link.core.lend(self.buffers);
        // What was gathered stays where it is.
        let keep_from = self.gathered.map_or(self.buffers.input.start(), |(start, _)| start);
        let kept_at = self.buffers.input.make_room(keep_from);
        if let Some((start, end)) = self.gathered {
            self.gathered = Some((kept_at, end - (start - kept_at)));
        }
        let read = self.link.poll_read(cx, self.buffers.input.room());
        match read {
            Poll::Ready(Ok(0)) => self.presence = Presence::Ended { ask_at: self.soon() },
            Poll::Ready(Ok(count)) => self.buffers.input.filled(count),
            Poll::Ready(Err(error)) => return Err(ExchangeError::Broken(error)),
            Poll::Pending => {}
        }
        if was_parked {
            self.link.core.park(self.buffers);
        }
        Ok(())
    }

    /// Sends something that a client which is gone answers with a reset.
    fn ask_client(&mut self, cx: &mut Context<'_>) -> Result<(), ExchangeError> {
        self.presence = Presence::Unknown;
        // Within an answer the rest of that does it.
        if self.sending != Sending::Nothing || self.buffers.head.version() != Version::Http11 {
            return Ok(());
        }
        let mut sent = 0;
        match self.link.poll_write_parts(cx, [INTERIM, b"", b""], &mut sent) {
            Poll::Ready(Ok(())) => {
                self.presence = Presence::Asked { look_at: self.soon() };
                Ok(())
            }
            Poll::Ready(Err(error)) => Err(ExchangeError::Broken(error)),
            // Half of it may stand in front of the answer now; a client that takes so little took nothing for a while.
            Poll::Pending => Err(gone()),
        }
    }

    fn soon(&self) -> Instant {
        self.link.core.now() + LOOK_EVERY
    }
}

fn gone() -> ExchangeError {
    ExchangeError::Broken(io::Error::new(io::ErrorKind::ConnectionAborted, "the client went away"))
}
