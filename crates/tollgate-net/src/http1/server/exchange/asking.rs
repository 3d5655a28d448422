//! A request on its way to a backend: opening a connection, and sending head and body, whole or as the body comes.
//!
//! The way of the answer is in `relay`. The caller that forwards decides which fields go along, and how an error is
//! handled.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::super::super::body::{BodyDecoder, Framing};
use super::super::super::chunked::{LAST_CHUNK, SizeLine};
use super::super::super::decimal::write_decimal;
use super::super::super::head::{Answers, Method, RequestHead};
use super::super::super::upstream::{Kind, Pool, UpstreamConnection, UpstreamError};
use super::super::buffers::Buffers;
use super::super::link::Wait;
use super::body::BodyWait;
use super::{Exchange, ExchangeError, ForwardError};

/// Time limits for a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Longest time until the first byte of an answer, from when it has the request.
    pub first_byte: Duration,
    /// Longest time without taking or sending a byte in between.
    pub stall: Duration,
    /// The time when the exchange must be over.
    pub whole_by: Instant,
}

/// The body that goes to the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enclosed<'b> {
    /// The body as it was gathered whole.
    Gathered,
    /// Another body.
    Given(&'b [u8]),
    /// The gathered part of it, and then the rest as it comes.
    Streamed,
}

/// A request on its way to a backend, and its answer on the way back.
#[derive(Debug)]
pub struct Asking {
    pub(super) connection: UpstreamConnection,
    pub(super) patience: Patience,
    pub(super) answers: Answers,
    /// Bytes of the outbound buffer that are sent.
    sent: usize,
    source: Source,
    /// Whether TLS has no unsent bytes.
    flushed: bool,
    /// A failed write: the answer that explains it may be on its way.
    pub(super) write_error: Option<io::Error>,
    body_wait: BodyWait,
    /// The condition that sending waits for.
    pub(super) sending: Waits,
    /// Set once the head of the answer is read.
    pub(super) decoder: Option<BodyDecoder>,
    /// The beginning of a head whose end has not come yet.
    pub(super) partial_head: Vec<u8>,
    /// Whether a byte of an answer came.
    pub(super) answer_begun: bool,
    /// Whether unexpected bytes came behind the answer.
    pub(super) surplus: bool,
    /// Whether the answer ended with the connection.
    pub(super) ended: bool,
    /// Whether the client was waited for.
    pub(super) awaited_client: bool,
    /// The time since when nothing came from the backend and nothing went there.
    pub(super) silent_since: Option<Instant>,
    /// The part that goes to the client.
    pub(super) part: Option<SentPart>,
}

/// A part of an answer that goes to the client.
#[derive(Debug)]
pub(super) struct SentPart {
    /// Bytes of it that are sent.
    pub(super) sent: usize,
    /// The bytes behind its data.
    pub(super) end: &'static [u8],
    /// The time since when the client takes nothing.
    pub(super) stalled_since: Option<Instant>,
}

/// The source of the rest of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// There is none.
    Nothing,
    /// From the client, in this framing.
    Client(Streamed),
}

/// Framing of a streamed body on its way to the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Streamed {
    ByLength,
    Chunked,
}

/// The condition that sending a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Nothing: everything that can be sent is sent.
    Over,
    /// The client has to send more of the body.
    Client,
    /// The backend has to take more.
    Backend,
}

impl Asking {
    /// Whether a byte of an answer came; the backend then knows the request.
    #[must_use]
    pub fn answer_begun(&self) -> bool {
        self.answer_begun
    }

    /// Whether the client was waited for, to send its request or to take the answer: the total time then says nothing
    /// about the backend.
    #[must_use]
    pub fn awaited_client(&self) -> bool {
        self.awaited_client
    }

    /// The connection that it goes over.
    #[must_use]
    pub fn connection(&self) -> &UpstreamConnection {
        &self.connection
    }

    /// Whether the whole answer came.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.ended || self.decoder.as_ref().is_some_and(BodyDecoder::is_done)
    }

    /// Whether more of the request's body comes from the client.
    pub(super) fn streams(&self) -> bool {
        self.source != Source::Nothing
    }

    /// Whether the backend has the whole request.
    pub(super) fn is_sent(&self) -> bool {
        self.sending == Waits::Over && self.write_error.is_none() && self.source == Source::Nothing
    }
}

impl Exchange<'_> {
    /// The request, its body as far as it was gathered, and the buffer that its head for the backend is written to: the
    /// request line and all fields but those that frame the body, which [`enclose`](Exchange::enclose) adds.
    pub fn outbound(&mut self) -> (&RequestHead, &[u8], &mut Vec<u8>) {
        let (start, end) = self.gathered.unwrap_or_default();
        let Buffers { head, input, outbound, .. } = &mut *self.buffers;
        (head, input.range(start, end), outbound)
    }

    /// Ends the head for the backend with the field that frames the body, and puts behind it what there is of that. Says
    /// whether that is all.
    pub fn enclose(&mut self, body: Enclosed<'_>) -> Body {
        let (start, end) = self.gathered.unwrap_or_default();
        let Buffers { head, input, outbound, .. } = &mut *self.buffers;
        let gathered = input.range(start, end);
        match body {
            Enclosed::Streamed if head.framing() == Framing::Chunked => {
                outbound.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                write_chunk(outbound, gathered);
            }
            Enclosed::Streamed => {
                let rest = self.decoder.remaining().unwrap_or_default();
                write_length(outbound, gathered.len() as u64 + rest);
                outbound.extend_from_slice(gathered);
            }
            Enclosed::Gathered => enclose_whole(outbound, head.method(), gathered),
            Enclosed::Given(body) => enclose_whole(outbound, head.method(), body),
        }
        if body == Enclosed::Streamed { Body::Streamed } else { Body::Whole }
    }

    /// A connection out of the pool, or a new one.
    ///
    /// # Errors
    /// As [`fresh_connection`](Exchange::fresh_connection).
    pub async fn connection(
        &mut self,
        pool: &Rc<Pool>,
        timeout: Duration,
        whole_by: Instant,
    ) -> Result<UpstreamConnection, ForwardError> {
        match pool.take(self.link.core.now()) {
            Some(connection) => Ok(connection),
            None => self.fresh_connection(pool, timeout, whole_by).await,
        }
    }

    /// A new connection.
    ///
    /// # Errors
    /// Why there is none: [`Kind::ConnectTimedOut`] after `timeout`, [`Kind::ExchangeTimedOut`] where the exchange must
    /// be over before that; or that the client is gone.
    pub async fn fresh_connection(
        &mut self,
        pool: &Rc<Pool>,
        timeout: Duration,
        whole_by: Instant,
    ) -> Result<UpstreamConnection, ForwardError> {
        let now = self.link.core.now();
        let (deadline, overdue) = match now + timeout {
            deadline if deadline < whole_by => (deadline, Kind::ConnectTimedOut),
            _ => (whole_by, Kind::ExchangeTimedOut),
        };
        let pool = Rc::clone(pool);
        // Names, TCP and TLS: thousands of bytes, which no request over a waiting connection shall carry with it.
        let mut opening: Pin<Box<dyn Future<Output = _>>> = Box::pin(async move { pool.open(now, timeout).await });
        // Thousands of connections may be opened at once, when users come or a backend is back.
        let aside = self.put_aside();
        let looks = aside.0.is_empty();
        let opened = std::future::poll_fn(|cx| match opening.as_mut().poll(cx) {
            Poll::Ready(opened) => Poll::Ready(opened.map_err(ForwardError::from)),
            Poll::Pending => {
                let look_again = if looks { self.look_for_client(cx)? } else { None };
                match self.link.wait_until(cx, deadline) {
                    Wait::Over => return Poll::Ready(Err(UpstreamError::new(overdue).into())),
                    Wait::Armed => {}
                }
                if let Some(look_again) = look_again.filter(|look_again| *look_again < deadline) {
                    let _ = self.link.wait_until(cx, look_again);
                }
                Poll::Pending
            }
        });
        let opened = opened.await;
        self.link.disarm();
        self.take_back(&aside);
        opened
    }

    /// Takes the part of the body that was read, and the bytes behind it, out of the read buffer, and gives that buffer
    /// back. Says, too, how many of the bytes are used.
    fn put_aside(&mut self) -> (Vec<u8>, usize) {
        let input = &mut self.buffers.input;
        let start = self.gathered.map_or(input.start(), |(start, _)| start);
        let (aside, used) = (input.since(start).to_vec(), input.start() - start);
        input.clear();
        self.link.core.park(self.buffers);
        self.gathered = self.gathered.map(|(start, end)| (0, end - start));
        (aside, used)
    }

    /// Puts it back into a read buffer.
    fn take_back(&mut self, (aside, used): &(Vec<u8>, usize)) {
        self.link.core.lend(self.buffers);
        if !aside.is_empty() {
            self.buffers.input.load(aside);
            self.buffers.input.advance(*used);
        }
    }

    /// Begins to ask over `connection`: with the bytes of the outbound buffer, and then with the rest of a streamed
    /// body. A request that is whole can be asked again.
    pub fn begin_asking(&mut self, connection: UpstreamConnection, patience: Patience, body: Body) -> Asking {
        let head = &self.buffers.head;
        let source = match (body, head.framing()) {
            (Body::Whole, _) => Source::Nothing,
            (Body::Streamed, Framing::Chunked) => Source::Client(Streamed::Chunked),
            (Body::Streamed, _) => Source::Client(Streamed::ByLength),
        };
        // What was gathered stands in the outbound buffer.
        self.gathered = None;
        Asking {
            connection,
            patience,
            answers: if head.method() == Method::Head { Answers::Head } else { Answers::Ordinary },
            sent: 0,
            source,
            flushed: false,
            write_error: None,
            body_wait: BodyWait::default(),
            sending: Waits::Backend,
            decoder: None,
            partial_head: Vec::new(),
            answer_begun: false,
            surplus: false,
            ended: false,
            awaited_client: false,
            silent_since: None,
            part: None,
        }
    }

    /// Sends what can be sent of the request, and says in `asking` what it waits for.
    ///
    /// # Errors
    /// The client's: the rest of the body does not come.
    pub(super) fn send_request(&mut self, cx: &mut Context<'_>, asking: &mut Asking) -> Result<(), ExchangeError> {
        if asking.sending == Waits::Over {
            return Ok(());
        }
        loop {
            while asking.sent < self.buffers.outbound.len() {
                match asking.connection.poll_write(cx, &self.buffers.outbound[asking.sent..]) {
                    Poll::Ready(Ok(written)) if written > 0 => {
                        asking.sent += written;
                        asking.flushed = false;
                        asking.silent_since = None;
                    }
                    Poll::Ready(result) => {
                        let error = result.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into());
                        asking.write_error = Some(error);
                        asking.sending = Waits::Over;
                        return Ok(());
                    }
                    Poll::Pending => {
                        asking.sending = Waits::Backend;
                        return Ok(());
                    }
                }
            }
            if !asking.flushed {
                match asking.connection.poll_flush(cx) {
                    Poll::Ready(Ok(())) => asking.flushed = true,
                    Poll::Ready(Err(error)) => {
                        asking.write_error = Some(error);
                        asking.sending = Waits::Over;
                        return Ok(());
                    }
                    Poll::Pending => {
                        asking.sending = Waits::Backend;
                        return Ok(());
                    }
                }
            }
            let Source::Client(streamed) = asking.source else {
                asking.sending = Waits::Over;
                return Ok(());
            };
            self.buffers.outbound.clear();
            asking.sent = 0;
            if !self.take_part(cx, asking, streamed)? {
                asking.sending = Waits::Client;
                return Ok(());
            }
        }
    }

    /// Puts the next part of the client's body into the outbound buffer; says whether there was one, or the end.
    fn take_part(
        &mut self,
        cx: &mut Context<'_>,
        asking: &mut Asking,
        streamed: Streamed,
    ) -> Result<bool, ExchangeError> {
        loop {
            if self.decoder.is_done() {
                if streamed == Streamed::Chunked {
                    self.buffers.outbound.extend_from_slice(LAST_CHUNK);
                }
                asking.source = Source::Nothing;
                return Ok(true);
            }
            if self.buffers.input.is_empty() {
                match self.poll_fill(cx, &mut asking.body_wait) {
                    Poll::Ready(filled) => filled?,
                    Poll::Pending => return Ok(false),
                }
            }
            let step = match self.decoder.decode(self.buffers.input.unused()) {
                Ok(step) => step,
                Err(fault) => return Err(self.fault(fault)),
            };
            let Buffers { input, outbound, .. } = &mut *self.buffers;
            input.advance(step.skipped);
            if step.data > 0 {
                let data = &input.unused()[..step.data];
                match streamed {
                    Streamed::ByLength => outbound.extend_from_slice(data),
                    Streamed::Chunked => write_chunk(outbound, data),
                }
                input.advance(step.data);
                self.body_bytes += step.data as u64;
                return Ok(true);
            }
        }
    }

    /// The time when the client will have been too slow with the rest of the body.
    pub(super) fn rest_deadline(&self, asking: &mut Asking) -> Instant {
        self.body_deadline(&mut asking.body_wait)
    }
}

/// Whether the outbound buffer has the whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// It has.
    Whole,
    /// The rest of the body is sent as it comes.
    Streamed,
}

fn enclose_whole(outbound: &mut Vec<u8>, method: Method, body: &[u8]) {
    // RFC 9110, section 8.6: a length of zero is said only where a body could be expected.
    if !body.is_empty() || matches!(method, Method::Post | Method::Put | Method::Patch | Method::Merge) {
        write_length(outbound, body.len() as u64);
        outbound.extend_from_slice(body);
    } else {
        outbound.extend_from_slice(b"\r\n");
    }
}

fn write_length(outbound: &mut Vec<u8>, length: u64) {
    outbound.extend_from_slice(b"Content-Length: ");
    write_decimal(outbound, length);
    outbound.extend_from_slice(b"\r\n\r\n");
}

fn write_chunk(outbound: &mut Vec<u8>, data: &[u8]) {
    if !data.is_empty() {
        outbound.extend_from_slice(SizeLine::new(data.len()).as_bytes());
        outbound.extend_from_slice(data);
        outbound.extend_from_slice(b"\r\n");
    }
}
