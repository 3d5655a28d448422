//! The body of a request: gathered whole, read part by part as it comes, or discarded if nobody reads it.
//!
//! Framing is separated from the bytes of a body in `http1::body`.

use std::io::IoSlice;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::super::super::error::Fault;
use super::super::counters::{CloseCause, ConnectionState};
use super::super::held::Held;
use super::super::link::Wait;
use super::super::response::Persistence;
use super::{Exchange, ExchangeError, Next, Sending};

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The result of gathering a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathered {
    /// All of it.
    Whole,
    /// A part at most: it is longer than the limit.
    Beginning,
}

/// Waiting for more of a body.
#[derive(Debug, Default)]
pub(super) struct BodyWait {
    began: Option<Instant>,
}

/// The rest of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    Some,
}

impl Exchange<'_> {
    /// Reads the whole body and keeps it in one piece; called again, it returns the same.
    ///
    /// # Errors
    /// [`Fault::BodyTooLarge`] beyond `max_bytes` or the server's own limit, and all that can befall a body. The
    /// service may answer a fault itself; the connection ends then in any case.
    pub async fn read_body(&mut self, max_bytes: usize) -> Result<&[u8], ExchangeError> {
        let max_bytes = max_bytes.min(self.link.core.limits.body_bytes_max);
        if self.decoder.remaining().is_some_and(|remaining| remaining > max_bytes as u64) {
            return Err(self.fault(Fault::BodyTooLarge));
        }
        if self.gathered.is_none() {
            let start = self.buffers.input.start();
            self.gathered = Some((start, start));
        }
        loop {
            self.gather(max_bytes)?;
            if self.decoder.is_done() {
                self.hold_gathered()?;
                let (start, end) = self.gathered.unwrap_or_default();
                return Ok(self.buffers.input.range(start, end));
            }
            self.fill().await?;
        }
    }

    /// Gathers the body in one piece if it has at most `max_bytes`, a number that the caller keeps small; a longer one
    /// can be streamed. Nothing is read of a body that says beforehand that it is longer.
    ///
    /// # Errors
    /// All that can befall a body.
    pub async fn gather_body(&mut self, max_bytes: usize) -> Result<Gathered, ExchangeError> {
        if self.decoder.remaining().is_some_and(|remaining| remaining > max_bytes as u64) {
            return Ok(Gathered::Beginning);
        }
        let start = self.buffers.input.start();
        self.gathered = Some((start, start));
        loop {
            // What was read beyond it is at most one read more.
            self.gather(usize::MAX)?;
            let (start, end) = self.gathered.unwrap_or_default();
            if end - start > max_bytes {
                return Ok(Gathered::Beginning);
            }
            if self.decoder.is_done() {
                self.hold_gathered()?;
                return Ok(Gathered::Whole);
            }
            self.fill().await?;
        }
    }

    /// Reads the next part of the body as it comes; `None` at its end.
    ///
    /// # Errors
    /// [`Fault::BodyTooLarge`] beyond the server's limit, and all that can befall a body.
    pub async fn next_body_part(&mut self) -> Result<Option<&[u8]>, ExchangeError> {
        let body_bytes_max = self.link.core.limits.body_bytes_max as u64;
        let declared = self.body_bytes + self.decoder.remaining().unwrap_or(0);
        if declared > body_bytes_max {
            return Err(self.fault(Fault::BodyTooLarge));
        }
        let (start, end) = loop {
            if self.decoder.is_done() {
                return Ok(None);
            }
            if self.buffers.input.is_empty() {
                self.fill().await?;
                continue;
            }
            let step = match self.decoder.decode(self.buffers.input.unused()) {
                Ok(step) => step,
                Err(fault) => return Err(self.fault(fault)),
            };
            self.buffers.input.advance(step.skipped);
            if step.data > 0 {
                self.body_bytes += step.data as u64;
                if self.body_bytes > body_bytes_max {
                    return Err(self.fault(Fault::BodyTooLarge));
                }
                let start = self.buffers.input.start();
                self.buffers.input.advance(step.data);
                break (start, start + step.data);
            }
        };
        Ok(Some(self.buffers.input.range(start, end)))
    }

    /// Accounts for a body in more memory than each exchange has: a service may make it wait long.
    fn hold_gathered(&mut self) -> Result<(), ExchangeError> {
        if !self.buffers.input.is_large() || self.gathered_held.is_some() {
            return Ok(());
        }
        let mut held = Held::nothing(&self.link.core);
        held.resize(self.buffers.size()).map_err(|fault| self.fault(fault))?;
        self.gathered_held = Some(held);
        Ok(())
    }

    /// Moves the data among the bytes read behind the data gathered so far.
    fn gather(&mut self, max_bytes: usize) -> Result<(), ExchangeError> {
        let (start, mut end) = self.gathered.unwrap_or_default();
        let input = &mut self.buffers.input;
        while !self.decoder.is_done() && !input.is_empty() {
            let step = match self.decoder.decode(input.unused()) {
                Ok(step) => step,
                Err(fault) => return Err(self.fault(fault)),
            };
            input.advance(step.skipped);
            if end - start + step.data > max_bytes {
                return Err(self.fault(Fault::BodyTooLarge));
            }
            input.gather(end, step.data);
            end += step.data;
        }
        input.close_gap(end);
        self.gathered = Some((start, end));
        Ok(())
    }

    /// Sends a waiting client the permission to go on.
    pub(super) async fn send_continue(&mut self) -> Result<(), ExchangeError> {
        if self.awaits_continue {
            self.awaits_continue = false;
            if self.sending == Sending::Nothing && self.buffers.input.is_empty() {
                self.link.write_all(&mut [IoSlice::new(CONTINUE)], || self.buffers.size()).await?;
            }
        }
        Ok(())
    }

    /// Reads once into the buffer, as long as the client keeps to the least rate.
    async fn fill(&mut self) -> Result<(), ExchangeError> {
        self.send_continue().await?;
        let mut wait = BodyWait::default();
        let mut held = Held::nothing(&self.link.core);
        std::future::poll_fn(|cx| {
            let polled = self.poll_fill(cx, &mut wait);
            if polled.is_ready() {
                return polled;
            }
            if let Err(fault) = held.resize(self.buffers.size()) {
                return Poll::Ready(Err(self.fault(fault)));
            }
            self.link.becomes(ConnectionState::Reading);
            match self.link.wait_until(cx, self.body_deadline(&mut wait)) {
                Wait::Over => Poll::Ready(Err(self.fault(Fault::BodyTimeout))),
                Wait::Armed => Poll::Pending,
            }
        })
        .await
    }

    /// Reads once into the buffer. While nothing comes, the buffer is given back if it is empty.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>, wait: &mut BodyWait) -> Poll<Result<(), ExchangeError>> {
        self.link.count_bytes();
        self.link.core.lend(self.buffers);
        let keep_from = self.gathered.map_or(self.buffers.input.start(), |(start, _)| start);
        let kept_at = self.buffers.input.make_room(keep_from);
        if let Some((start, end)) = self.gathered {
            self.gathered = Some((kept_at, end - (start - kept_at)));
        }
        let Poll::Ready(read) = self.link.poll_read(cx, self.buffers.input.room()) else {
            if self.gathered.is_none() {
                self.link.core.park(self.buffers);
            }
            return Poll::Pending;
        };
        if let Some(began) = wait.began.take() {
            self.body_waited += self.link.core.now().saturating_duration_since(began);
            self.link.disarm();
            self.link.becomes(ConnectionState::Working);
        }
        Poll::Ready(match read {
            Err(error) => Err(ExchangeError::Broken(error)),
            Ok(0) => Err(self.fault(Fault::ClosedInBody)),
            Ok(count) => {
                self.buffers.input.filled(count);
                if self.gathered.is_some() {
                    self.body_bytes += count as u64;
                }
                Ok(())
            }
        })
    }

    /// The time when the client will have been too slow, if nothing comes from now on.
    pub(super) fn body_deadline(&self, wait: &mut BodyWait) -> Instant {
        let limits = &self.link.core.limits;
        let granted =
            limits.body_grace + Duration::from_secs(self.body_bytes / limits.body_bytes_per_second_min.max(1));
        *wait.began.get_or_insert_with(|| self.link.core.now()) + granted.saturating_sub(self.body_waited)
    }

    /// Skips what of the body is already read.
    pub(super) fn skip_buffered_body(&mut self) -> Left {
        let input = &mut self.buffers.input;
        while !self.decoder.is_done() && !input.is_empty() && self.cause != Some(CloseCause::Fault) {
            match self.decoder.decode(input.unused()) {
                Ok(step) => input.advance(step.used()),
                Err(fault) => {
                    self.link.core.counters().fault(fault);
                    self.cause = Some(CloseCause::Fault);
                    self.persistence = Persistence::Close;
                }
            }
        }
        if self.decoder.is_done() { Left::Nothing } else { Left::Some }
    }

    /// Decides, before the head is sent, whether the rest of a body is worth reading.
    pub(super) fn settle_unread_body(&mut self, left: Left) {
        let small = self
            .decoder
            .remaining()
            .is_some_and(|remaining| remaining <= self.link.core.limits.discarded_body_bytes_max as u64);
        // A client that waits for 100 Continue may send its body or not: nobody could tell where the next head begins.
        if left == Left::Some && (!small || self.awaits_continue) && self.persistence == Persistence::KeepAlive {
            self.close_after(CloseCause::BodyUnread);
        }
    }

    /// Reads and drops the rest of a body after its answer was sent.
    pub(super) async fn discard_body(&mut self) -> Next {
        while !self.decoder.is_done() {
            if self.buffers.input.is_empty() {
                match self.fill().await {
                    Ok(()) => {}
                    Err(error) => return self.after(&error),
                }
            }
            if self.skip_buffered_body() == Left::Some && self.cause.is_some() {
                return Next::Linger(CloseCause::Fault);
            }
        }
        Next::Request
    }
}
