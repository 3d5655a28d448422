//! One request and its answer, as a service sees them.
//!
//! Reading the next head and deciding what becomes of the connection stand in `connection`.

mod error;
mod kept;

use std::io::IoSlice;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::{Duration, Instant};

pub use self::error::{Abort, ExchangeError};
pub use self::kept::Keeping;
use self::kept::Kept;
use super::super::body::BodyDecoder;
use super::super::chunked::{ChunkLimits, LAST_CHUNK, SizeLine};
use super::super::error::Fault;
use super::super::head::{Method, RequestHead, Version};
use super::buffers::Buffers;
use super::counters::{CloseCause, ConnectionState};
use super::held::Held;
use super::link::{Link, Wait, WriteError};
use super::response::{Delimiter, Length, Persistence, Response};
use crate::stream::Transport;
use crate::tls::PeerCertificate;

/// Bodies up to this are copied behind their head: one `send` of one buffer beats a `writev` of two.
const COPIED_BODY_BYTES_MAX: usize = 4 * 1024;

/// [`LAST_CHUNK`] with the line end that the chunk before it still needs.
const LAST_CHUNK_BEHIND_DATA: &[u8] = b"\r\n0\r\n\r\n";

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// One request and its answer.
pub struct Exchange<'c> {
    link: &'c mut Link,
    buffers: &'c mut Buffers,
    decoder: BodyDecoder,
    /// Where the gathered body stands in the read buffer.
    gathered: Option<(usize, usize)>,
    body_bytes: u64,
    body_waited: Duration,
    /// The client waits for `100 Continue`.
    awaits_continue: bool,
    sending: Sending,
    /// Parts that are kept back.
    kept: Option<Kept>,
    persistence: Persistence,
    /// Why the connection cannot be kept, as far as that is known.
    cause: Option<CloseCause>,
}

/// How far the answer has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    Nothing,
    /// The head is sent, and parts of the body follow.
    Parts(Parts),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    Chunked,
    Length(u64),
    Close,
    /// The answer has no body (HEAD, 204, 304): parts are dropped.
    Dropped,
    /// The answer is sent to its end: parts are dropped.
    Ended,
}

/// What becomes of the connection after an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Request,
    Close(CloseCause),
    /// Close it, but read on a little.
    Linger(CloseCause),
}

impl<'c> Exchange<'c> {
    /// Begins the exchange of the request that stands in `buffers`.
    pub(super) fn new(link: &'c mut Link, buffers: &'c mut Buffers, cause: Option<CloseCause>) -> Exchange<'c> {
        let limits = &link.core.limits;
        let chunk_limits = ChunkLimits {
            extension_bytes_max: limits.chunk_extension_bytes_max,
            trailer_bytes_max: limits.trailer_bytes_max,
        };
        buffers.response.clear();
        buffers.output.clear();
        let head = &buffers.head;
        let persistence =
            if cause.is_none() && head.keep_alive() { Persistence::KeepAlive } else { Persistence::Close };
        Exchange {
            decoder: BodyDecoder::new(head.framing(), chunk_limits),
            gathered: None,
            body_bytes: 0,
            body_waited: Duration::ZERO,
            awaits_continue: head.expects_continue(),
            sending: Sending::Nothing,
            kept: None,
            persistence,
            cause,
            link,
            buffers,
        }
    }

    /// The request's head.
    #[must_use]
    pub fn request(&self) -> &RequestHead {
        &self.buffers.head
    }

    /// The answer in the making. Left as it is, it is an empty 200.
    pub fn respond(&mut self) -> &mut Response {
        &mut self.buffers.response
    }

    /// Both at once.
    pub fn split(&mut self) -> (&RequestHead, &mut Response) {
        (&self.buffers.head, &mut self.buffers.response)
    }

    /// The request, its body as far as [`read_body`](Exchange::read_body) gathered it, and the answer.
    pub fn parts(&mut self) -> (&RequestHead, &[u8], &mut Response) {
        let (start, end) = self.gathered.unwrap_or_default();
        (&self.buffers.head, self.buffers.input.range(start, end), &mut self.buffers.response)
    }

    /// The client's address.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.link.peer
    }

    /// The address that the client reached us by.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.link.local().unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// How the bytes of its connection travel.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.link.transport()
    }

    /// The client's certificate, where the listener asks for one and the client showed it. It was verified when the
    /// connection, or the session that it took up, was opened.
    #[must_use]
    pub fn peer_certificate(&self) -> Option<&PeerCertificate> {
        self.link.peer_certificate()
    }

    /// The time, as coarse as the engine's own: at most a quarter of a second old. On a clock that is moved by hand it
    /// is exact.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.link.core.coarse_time()
    }

    /// Takes these fields out of the request, as if the client had not sent them.
    pub fn remove_fields(&mut self, names: &[&str]) {
        self.buffers.head.remove_fields(names);
    }

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
                let (start, end) = self.gathered.unwrap_or_default();
                return Ok(self.buffers.input.range(start, end));
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

    /// Sends what stands in the body buffer as a part of the answer, the head before the first one, and clears the
    /// buffer. It returns when the socket has taken it all: that is the back-pressure.
    ///
    /// # Errors
    /// When the connection broke or the client takes nothing.
    pub async fn flush_part(&mut self) -> Result<(), ExchangeError> {
        if self.keep_part() == Keeping::Whole {
            return Ok(());
        }
        let parts = match self.sending {
            Sending::Nothing => self.begin_parts(),
            Sending::Parts(parts) => parts,
        };
        let length = self.buffers.response.body.len();
        let result = match parts {
            Parts::Ended => Ok(()),
            Parts::Dropped => self.write_output().await,
            _ if length == 0 => self.write_output().await,
            Parts::Chunked => self.write_chunk(b"\r\n").await,
            Parts::Close | Parts::Length(_) => {
                let Buffers { output, response, .. } = &mut *self.buffers;
                let mut slices = [IoSlice::new(output), IoSlice::new(&response.body)];
                self.link.write_all(&mut slices).await
            }
        };
        if let Parts::Length(remaining) = parts {
            let Some(remaining) = remaining.checked_sub(length as u64) else {
                // More than was announced: what goes beyond would be taken for the next answer.
                return Err(ExchangeError::Abort(Abort::Close));
            };
            self.sending = Sending::Parts(Parts::Length(remaining));
        }
        self.link.count_bytes();
        self.buffers.output.clear();
        self.buffers.response.body.clear();
        result.map_err(ExchangeError::from)
    }

    /// Sends what stands in the body buffer as the last part of the answer, or as the whole of it where nothing was
    /// sent before, with what ends it in the same write, and clears the buffer. A service that wants its buffer back
    /// calls it instead of leaving the last part to the engine; nothing can be added afterwards.
    ///
    /// # Errors
    /// When the connection broke or the client takes nothing.
    pub async fn flush_last_part(&mut self) -> Result<(), ExchangeError> {
        if self.keep_part() == Keeping::Whole {
            return Ok(());
        }
        match self.sending {
            Sending::Nothing => {
                let left = self.skip_buffered_body();
                self.settle_unread_body(left);
                self.send_whole().await?;
            }
            Sending::Parts(parts) => self.send_last_part(parts).await?,
        }
        self.sending = Sending::Parts(Parts::Ended);
        self.buffers.output.clear();
        self.buffers.response.body.clear();
        Ok(())
    }

    /// Whether any of the answer has been sent.
    pub(super) fn has_begun(&self) -> bool {
        self.sending != Sending::Nothing
    }

    /// Ends the exchange well: sends the answer, or what is left of it, and says what becomes of the connection.
    pub(super) async fn finish(mut self) -> Next {
        let left = self.skip_buffered_body();
        if self.sending == Sending::Nothing {
            self.settle_unread_body(left);
        }
        let sent = match self.sending {
            Sending::Nothing => self.send_whole().await,
            Sending::Parts(parts) => self.send_last_part(parts).await,
        };
        self.link.count_bytes();
        if let Err(error) = sent {
            return self.after(&error);
        }
        if self.persistence == Persistence::Close {
            let cause = self.cause.unwrap_or(CloseCause::Agreed);
            let reads_on = left != Left::Nothing || !self.buffers.input.is_empty() || cause == CloseCause::Fault;
            return if reads_on { Next::Linger(cause) } else { Next::Close(cause) };
        }
        match left {
            Left::Nothing => Next::Request,
            Left::Some => self.discard_body().await,
        }
    }

    /// What becomes of the connection after an error that cannot be answered.
    pub(super) fn after(&mut self, error: &ExchangeError) -> Next {
        match error {
            ExchangeError::Fault(_) => Next::Linger(CloseCause::Fault),
            ExchangeError::Broken(_) => Next::Close(CloseCause::Broken),
            ExchangeError::WriteStalled => {
                // What stands in the socket will not be taken either.
                self.link.reset_on_drop();
                Next::Close(CloseCause::WriteStall)
            }
            ExchangeError::Abort(Abort::Close) => Next::Close(CloseCause::Aborted),
            ExchangeError::Abort(Abort::Reset) => {
                self.link.reset_on_drop();
                Next::Close(CloseCause::Aborted)
            }
        }
    }

    /// The connection ends after this exchange.
    pub(super) fn close_after(&mut self, cause: CloseCause) {
        self.cause = Some(cause);
        self.persistence = Persistence::Close;
    }

    /// Counts a fault of the client's in its body; after one the connection cannot be kept.
    fn fault(&mut self, fault: Fault) -> ExchangeError {
        self.link.core.counters().fault(fault);
        self.close_after(CloseCause::Fault);
        ExchangeError::Fault(fault)
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

    /// Reads once into the buffer, as long as the client keeps to the least rate.
    async fn fill(&mut self) -> Result<(), ExchangeError> {
        if self.awaits_continue {
            self.awaits_continue = false;
            if self.sending == Sending::Nothing && self.buffers.input.is_empty() {
                self.link.write_all(&mut [IoSlice::new(CONTINUE)]).await?;
            }
        }
        self.link.count_bytes();
        let keep_from = self.gathered.map_or(self.buffers.input.start(), |(start, _)| start);
        let mut wait_began = None;
        let limits = &self.link.core.limits;
        let granted =
            limits.body_grace + Duration::from_secs(self.body_bytes / limits.body_bytes_per_second_min.max(1));
        let left = granted.saturating_sub(self.body_waited);
        let kept_at = self.buffers.input.make_room(keep_from);
        let buffers_bytes = self.buffers.size();
        let (link, room) = (&mut *self.link, self.buffers.input.room());
        let mut held = Held::nothing(&link.core);
        let read = std::future::poll_fn(|cx| match link.poll_read(cx, room) {
            Poll::Ready(read) => Poll::Ready(Ok(read)),
            Poll::Pending => {
                if let Err(fault) = held.resize(buffers_bytes) {
                    return Poll::Ready(Err(fault));
                }
                link.becomes(ConnectionState::Reading);
                let began = *wait_began.get_or_insert_with(|| link.core.now());
                match link.wait_until(cx, began + left) {
                    Wait::Over => Poll::Ready(Err(Fault::BodyTimeout)),
                    Wait::Armed => Poll::Pending,
                }
            }
        })
        .await;
        if let Some((start, end)) = self.gathered {
            self.gathered = Some((kept_at, end - (start - kept_at)));
        }
        if let Some(began) = wait_began {
            self.body_waited += self.link.core.now().saturating_duration_since(began);
            self.link.disarm();
            self.link.becomes(ConnectionState::Working);
        }
        match read {
            Err(fault) => Err(self.fault(fault)),
            Ok(Err(error)) => Err(ExchangeError::Broken(error)),
            Ok(Ok(0)) => Err(self.fault(Fault::ClosedInBody)),
            Ok(Ok(count)) => {
                self.buffers.input.filled(count);
                if self.gathered.is_some() {
                    self.body_bytes += count as u64;
                }
                Ok(())
            }
        }
    }

    /// A drain that began while the service worked ends the connection too, and the head still can say so.
    fn heed_draining(&mut self) {
        if self.persistence == Persistence::KeepAlive && self.link.core.draining.get() {
            self.close_after(CloseCause::Drained);
        }
    }

    /// Renders the head of an answer sent in parts.
    fn begin_parts(&mut self) -> Parts {
        self.heed_draining();
        let Buffers { head, response, output, .. } = &mut *self.buffers;
        let (length, parts) = if response.is_bodiless() {
            (Length::Unsaid, Parts::Dropped)
        } else {
            let dropped = head.method() == Method::Head;
            let (length, parts) = match response.delimiter {
                Delimiter::Length(length) => (Length::Known(length), Parts::Length(length)),
                Delimiter::Automatic if head.version() == Version::Http11 => (Length::Chunked, Parts::Chunked),
                Delimiter::Automatic | Delimiter::Close => {
                    if !dropped {
                        self.persistence = Persistence::Close;
                    }
                    (Length::Unsaid, Parts::Close)
                }
            };
            (length, if dropped { Parts::Dropped } else { parts })
        };
        if !self.decoder.is_done() {
            // Whether the rest of the request will come is not known yet, but the head must say now what follows.
            self.persistence = Persistence::Close;
        }
        self.link.core.counters().responded(response.status);
        response.write_head(output, head.version(), &self.link.core.date(), length, self.persistence);
        self.sending = Sending::Parts(parts);
        parts
    }

    /// Sends an answer of which nothing was sent before.
    async fn send_whole(&mut self) -> Result<(), ExchangeError> {
        self.heed_draining();
        let Buffers { head, response, output, .. } = &mut *self.buffers;
        if response.status < 200 {
            // Interim answers are the engine's: a service cannot end an exchange with one.
            response.clear();
            response.status = 500;
        }
        let length =
            if response.is_bodiless() { Length::Unsaid } else { Length::Known(response.whole_body().len() as u64) };
        self.link.core.counters().responded(response.status);
        response.write_head(output, head.version(), &self.link.core.date(), length, self.persistence);
        let body: &[u8] =
            if head.method() == Method::Head || response.is_bodiless() { &[] } else { response.whole_body() };
        let result = if body.len() <= COPIED_BODY_BYTES_MAX {
            output.extend_from_slice(body);
            self.link.write_all(&mut [IoSlice::new(output)]).await
        } else {
            self.link.write_all(&mut [IoSlice::new(output), IoSlice::new(body)]).await
        };
        response.let_go();
        result.map_err(ExchangeError::from)
    }

    /// Sends what ends an answer sent in parts.
    async fn send_last_part(&mut self, parts: Parts) -> Result<(), ExchangeError> {
        if parts == Parts::Chunked && !self.buffers.response.body.is_empty() {
            return Ok(self.write_chunk(LAST_CHUNK_BEHIND_DATA).await?);
        }
        if !self.buffers.response.body.is_empty() {
            self.flush_part().await?;
        }
        match parts {
            Parts::Chunked => Ok(self.link.write_all(&mut [IoSlice::new(LAST_CHUNK)]).await?),
            Parts::Length(_) if self.sending != Sending::Parts(Parts::Length(0)) => {
                // Less than was announced: only the end of the connection tells the client.
                Err(ExchangeError::Abort(Abort::Close))
            }
            Parts::Length(_) | Parts::Close | Parts::Dropped | Parts::Ended => Ok(()),
        }
    }

    /// Writes the body buffer as a chunk, behind a head that is still unsent; `end` is what stands behind the data.
    async fn write_chunk(&mut self, end: &[u8]) -> Result<(), WriteError> {
        let size = SizeLine::new(self.buffers.response.body.len());
        let Buffers { output, response, .. } = &mut *self.buffers;
        output.extend_from_slice(size.as_bytes());
        let mut slices = [IoSlice::new(output), IoSlice::new(&response.body), IoSlice::new(end)];
        self.link.write_all(&mut slices).await
    }

    async fn write_output(&mut self) -> Result<(), WriteError> {
        self.link.write_all(&mut [IoSlice::new(&self.buffers.output)]).await
    }

    /// Skips what of the body is already read.
    fn skip_buffered_body(&mut self) -> Left {
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
    fn settle_unread_body(&mut self, left: Left) {
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
    async fn discard_body(&mut self) -> Next {
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

/// What is left of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Nothing,
    Some,
}
