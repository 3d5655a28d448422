//! One connection that asks: writes a rendered request and reads the answer in the same poll, as far as it has come.
//!
//! While it waits it holds no read buffer; only the beginning of a head that came in pieces is kept.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::body::BodyDecoder;
use super::super::chunked::ChunkLimits;
use super::super::head::{Answers, ResponseHead};
use super::connector::Opening;
use super::error::{ExchangeError, Stage};
use super::scratch::Scratch;
use super::sink::BodySink;
use super::timeout::Timeout;
use crate::limits::Limits;
use crate::stream::Stream;

/// The time that an exchange may take unless said otherwise.
pub(super) const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection to a server, used for one exchange after the other.
#[derive(Debug)]
pub struct ClientConnection {
    stream: Stream,
    opening: Opening,
    head: ResponseHead,
    limits: Limits,
    chunk_limits: ChunkLimits,
    /// The beginning of a head whose end has not come yet.
    partial_head: Vec<u8>,
    timeout: Duration,
    timer: Timeout,
    exchanges: u64,
}

/// A complete exchange, in figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchanged {
    /// The status code.
    pub status: u16,
    /// Bytes of the answer's head, interim answers included.
    pub head_bytes: u64,
    /// Bytes of the body, after chunked decoding.
    pub body_bytes: u64,
    /// Bytes of chunked framing: sizes, line ends, trailers.
    pub framing_bytes: u64,
    /// Bytes read at the socket, below TLS.
    pub wire_received_bytes: u64,
    /// Bytes written at the socket, below TLS.
    pub wire_sent_bytes: u64,
    /// Just before the first byte was written.
    pub sent: Instant,
    /// When the first byte of the answer was read.
    pub first_byte: Instant,
    /// When its last byte was read; the same reading as `first_byte` where one read brought it all.
    pub last_byte: Instant,
    /// Whether the connection can take another exchange.
    pub reusable: bool,
}

/// An exchange under way.
struct Progress<'r> {
    request: &'r [u8],
    written: usize,
    answers: Answers,
    sent: Instant,
    first_byte: Option<Instant>,
    head_bytes: u64,
    body_bytes: u64,
    framing_bytes: u64,
    /// Set once the head is read.
    body: Option<BodyDecoder>,
    /// A failed write; the answer that explains it may already be on its way.
    write_error: Option<io::Error>,
    /// Bytes behind the end of the answer, which nobody asked for.
    surplus: bool,
}

impl ClientConnection {
    pub(super) fn new(stream: Stream, opening: Opening) -> ClientConnection {
        ClientConnection {
            stream,
            opening,
            head: ResponseHead::default(),
            limits: Limits::default().within_ceilings(),
            chunk_limits: ChunkLimits::default(),
            partial_head: Vec::new(),
            timeout: EXCHANGE_TIMEOUT,
            timer: Timeout::default(),
            exchanges: 0,
        }
    }

    /// How the connection was opened.
    #[must_use]
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// The head of the last answer.
    #[must_use]
    pub fn head(&self) -> &ResponseHead {
        &self.head
    }

    /// Exchanges completed.
    #[must_use]
    pub fn exchanges(&self) -> u64 {
        self.exchanges
    }

    /// Bytes read at the socket since it was opened, TLS handshake included.
    #[must_use]
    pub fn wire_received_bytes(&self) -> u64 {
        self.stream.received_bytes()
    }

    /// Bytes written at the socket since it was opened, TLS handshake included.
    #[must_use]
    pub fn wire_sent_bytes(&self) -> u64 {
        self.stream.sent_bytes()
    }

    /// The time that each further exchange may take, from its first byte written to its last byte read.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Writes `request` (a fully rendered request) and reads the answer; `sink` gets the body as it comes.
    ///
    /// Dropped before its end, it leaves the connection unusable.
    ///
    /// # Errors
    /// Why there is no complete answer. The connection is of no more use then.
    pub async fn exchange<B: BodySink>(
        &mut self,
        request: &[u8],
        answers: Answers,
        sink: &mut B,
    ) -> Result<Exchanged, ExchangeError> {
        let (received_before, sent_before) = (self.stream.received_bytes(), self.stream.sent_bytes());
        self.partial_head.clear();
        let sent = Instant::now();
        let mut progress = Progress {
            request,
            written: 0,
            answers,
            sent,
            first_byte: None,
            head_bytes: 0,
            body_bytes: 0,
            framing_bytes: 0,
            body: None,
            write_error: None,
            surplus: false,
        };
        let (first_byte, last_byte) = std::future::poll_fn(|cx| self.poll_exchange(cx, &mut progress, sink)).await?;
        self.exchanges += 1;
        let whole = progress.written == request.len() && progress.write_error.is_none() && !progress.surplus;
        Ok(Exchanged {
            status: self.head.status(),
            head_bytes: progress.head_bytes,
            body_bytes: progress.body_bytes,
            framing_bytes: progress.framing_bytes,
            wire_received_bytes: self.stream.received_bytes() - received_before,
            wire_sent_bytes: self.stream.sent_bytes() - sent_before,
            sent,
            first_byte,
            last_byte,
            reusable: whole && self.head.keep_alive(),
        })
    }

    fn poll_exchange<B: BodySink>(
        &mut self,
        cx: &mut Context<'_>,
        progress: &mut Progress<'_>,
        sink: &mut B,
    ) -> Poll<Result<(Instant, Instant), ExchangeError>> {
        self.poll_write(cx, progress);
        let mut scratch = Scratch::take();
        loop {
            let mut buffer = ReadBuf::new(scratch.bytes());
            let count = match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) => buffer.filled().len(),
                Poll::Ready(Err(error)) => {
                    return Poll::Ready(Err(self.ended(progress, Some(error)).expect_err("a broken read is no end")));
                }
                Poll::Pending => {
                    let stage = progress.stage();
                    ready!(self.timer.poll(cx, progress.sent + self.timeout));
                    return Poll::Ready(Err(ExchangeError::Timeout(stage)));
                }
            };
            if count == 0 {
                return Poll::Ready(self.ended(progress, None));
            }
            let first_read = progress.first_byte.is_none();
            let first_byte = *progress.first_byte.get_or_insert_with(Instant::now);
            if self.take(&scratch.bytes()[..count], progress, sink).map_err(ExchangeError::Malformed)?
                == Answer::Complete
            {
                let last_byte = if first_read { first_byte } else { Instant::now() };
                return Poll::Ready(Ok((first_byte, last_byte)));
            }
        }
    }

    /// Writes what the socket takes. An error is kept: the server may have answered before it stopped reading.
    fn poll_write(&mut self, cx: &mut Context<'_>, progress: &mut Progress<'_>) {
        while progress.written < progress.request.len() && progress.write_error.is_none() {
            match Pin::new(&mut self.stream).poll_write(cx, &progress.request[progress.written..]) {
                Poll::Ready(Ok(0)) => progress.write_error = Some(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => progress.written += count,
                Poll::Ready(Err(error)) => progress.write_error = Some(error),
                Poll::Pending => return,
            }
        }
        // TLS holds records back until it is flushed; what it cannot send now it sends at the next poll.
        if let Poll::Ready(Err(error)) = Pin::new(&mut self.stream).poll_flush(cx) {
            progress.write_error.get_or_insert(error);
        }
    }

    /// Uses bytes that were read.
    fn take<B: BodySink>(
        &mut self,
        bytes: &[u8],
        progress: &mut Progress<'_>,
        sink: &mut B,
    ) -> Result<Answer, super::super::error::Fault> {
        if progress.body.is_some() {
            return progress.take_body(bytes, sink);
        }
        if self.partial_head.is_empty() {
            let used = self.take_heads(bytes, progress)?;
            if progress.body.is_none() {
                self.partial_head.extend_from_slice(&bytes[used..]);
                return Ok(Answer::Incomplete);
            }
            return progress.take_body(&bytes[used..], sink);
        }
        let mut partial = std::mem::take(&mut self.partial_head);
        partial.extend_from_slice(bytes);
        let used = self.take_heads(&partial, progress)?;
        let answer = if progress.body.is_some() {
            let answer = progress.take_body(&partial[used..], sink);
            partial.clear();
            answer
        } else {
            partial.drain(..used);
            Ok(Answer::Incomplete)
        };
        self.partial_head = partial;
        answer
    }

    /// Parses heads, skipping those of interim answers, and returns how many bytes they took.
    fn take_heads(&mut self, bytes: &[u8], progress: &mut Progress<'_>) -> Result<usize, super::super::error::Fault> {
        let mut used = 0;
        while let Some(length) = self.head.parse(&bytes[used..], progress.answers, &self.limits)? {
            used += length;
            progress.head_bytes += length as u64;
            match self.head.status() {
                // Nothing was asked for that would switch protocols.
                101 => return Err(super::super::error::Fault::BadStartLine),
                100..=199 => {}
                _ => {
                    progress.body = Some(BodyDecoder::new(self.head.framing(), self.chunk_limits));
                    break;
                }
            }
        }
        Ok(used)
    }

    /// What the end of the connection means: the end of a body, or an error.
    fn ended(
        &mut self,
        progress: &mut Progress<'_>,
        read_error: Option<io::Error>,
    ) -> Result<(Instant, Instant), ExchangeError> {
        let ends_body = progress.body.as_ref().is_some_and(BodyDecoder::ends_with_connection);
        match (read_error, progress.first_byte) {
            (None, Some(first_byte)) if ends_body => Ok((first_byte, Instant::now())),
            (Some(error), _) => Err(ExchangeError::broken(error, progress.stage())),
            (None, _) => Err(match progress.write_error.take() {
                Some(error) => ExchangeError::broken(error, progress.stage()),
                None => ExchangeError::Closed(progress.stage()),
            }),
        }
    }
}

/// Whether an answer is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Complete,
    Incomplete,
}

impl Progress<'_> {
    fn stage(&self) -> Stage {
        if self.first_byte.is_some() { Stage::WithinAnswer } else { Stage::BeforeAnswer }
    }

    /// Hands the body's data among `bytes` on.
    fn take_body<B: BodySink>(&mut self, bytes: &[u8], sink: &mut B) -> Result<Answer, super::super::error::Fault> {
        let Some(decoder) = &mut self.body else { return Ok(Answer::Incomplete) };
        let mut rest = bytes;
        while !rest.is_empty() && !decoder.is_done() {
            let step = decoder.decode(rest)?;
            if step.data > 0 {
                sink.part(&rest[step.skipped..step.used()]);
            }
            self.body_bytes += step.data as u64;
            self.framing_bytes += step.skipped as u64;
            rest = &rest[step.used()..];
        }
        if !decoder.is_done() {
            return Ok(Answer::Incomplete);
        }
        self.surplus = !rest.is_empty();
        Ok(Answer::Complete)
    }
}
