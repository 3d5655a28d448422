//! One connection that asks: writes a rendered request and reads the answer in the same poll, as far as it has come.
//!
//! It has no read buffer while it waits. The bytes of an answer are interpreted in `answer`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::head::{Answers, ResponseHead};
use super::super::scratch::Scratch;
use super::answer::{Answer, AnswerReader};
use super::connector::Opening;
use super::error::{ExchangeError, Stage};
use super::sink::BodySink;
use super::timeout::Timeout;
use crate::stream::Stream;
use crate::tcp::TcpCounts;

/// The time that an exchange may take unless said otherwise.
pub(super) const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection to a server, used for one exchange after the other.
#[derive(Debug)]
pub struct ClientConnection {
    stream: Stream,
    opening: Opening,
    reader: AnswerReader,
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
    /// The time when the first byte of the answer was read.
    pub first_byte: Instant,
    /// The time when its last byte was read; the same as `first_byte` if one read brought it all.
    pub last_byte: Instant,
    /// Time for which the last bytes lay in the kernel before they were read; absent if it does not report it.
    pub lay: Option<Duration>,
    /// Whether the connection can take another exchange.
    pub reusable: bool,
}

/// An exchange under way.
struct Progress<'r> {
    request: &'r [u8],
    written: usize,
    sent: Instant,
    first_byte: Option<Instant>,
    lay: Option<Duration>,
    /// A failed write; the answer that explains it may already be on its way.
    write_error: Option<io::Error>,
}

impl ClientConnection {
    pub(super) fn new(stream: Stream, opening: Opening, timeout: Duration) -> ClientConnection {
        let (reader, timer) = (AnswerReader::new(), Timeout::default());
        ClientConnection { stream, opening, reader, timeout, timer, exchanges: 0 }
    }

    /// The way in which the connection was opened.
    #[must_use]
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// The head of the last answer.
    #[must_use]
    pub fn head(&self) -> &ResponseHead {
        self.reader.head()
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

    /// Round trips that were waited for since the connection was begun: the one of TCP itself, and each time that bytes
    /// came back after some were sent, TLS handshake included.
    #[must_use]
    pub fn round_trips(&self) -> u32 {
        1 + self.stream.turns()
    }

    /// TCP counters of the connection (TCP_INFO); absent if the kernel does not report them.
    #[must_use]
    pub fn tcp_counts(&self) -> Option<TcpCounts> {
        self.stream.tcp_counts()
    }

    /// Waits until the server has closed the connection after its last answer, so that the server's side keeps the port
    /// in TIME_WAIT. All bytes before that are dropped; so is an error.
    pub async fn until_closed(mut self) {
        std::future::poll_fn(|cx| {
            let mut scratch = Scratch::take();
            loop {
                let mut buffer = ReadBuf::new(scratch.bytes());
                match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer)) {
                    Ok(()) if !buffer.filled().is_empty() => {}
                    _ => return Poll::Ready(()),
                }
            }
        })
        .await;
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
        self.reader.begin(answers);
        let sent = Instant::now();
        let mut progress = Progress { request, written: 0, sent, first_byte: None, lay: None, write_error: None };
        let (first_byte, last_byte) = std::future::poll_fn(|cx| self.poll_exchange(cx, &mut progress, sink)).await?;
        let lay = progress.lay;
        self.exchanges += 1;
        let counts = self.reader.counts();
        let clean = progress.written == request.len() && progress.write_error.is_none() && counts.surplus_bytes == 0;
        Ok(Exchanged {
            status: self.reader.head().status(),
            head_bytes: counts.head_bytes,
            body_bytes: counts.body_bytes,
            framing_bytes: counts.framing_bytes,
            wire_received_bytes: self.stream.received_bytes() - received_before,
            wire_sent_bytes: self.stream.sent_bytes() - sent_before,
            sent,
            first_byte,
            last_byte,
            lay,
            reusable: clean && self.reader.head().keep_alive(),
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
                Poll::Ready(Err(error)) => return Poll::Ready(Err(ExchangeError::broken(error, progress.stage()))),
                Poll::Pending => {
                    ready!(self.timer.poll(cx, progress.sent + self.timeout));
                    return Poll::Ready(Err(ExchangeError::Timeout(progress.stage())));
                }
            };
            if count == 0 {
                return Poll::Ready(self.ended(progress));
            }
            // In this order: who is held up between the two reads has a longer time, and no longer delay of its own.
            let now = |stream: &Stream| {
                let lay = stream.lay();
                (Instant::now(), lay)
            };
            let first = progress.first_byte.is_none().then(|| now(&self.stream));
            let first_byte = *progress.first_byte.get_or_insert(first.map_or(progress.sent, |(at, _)| at));
            match self.reader.take(&scratch.bytes()[..count], sink) {
                Ok(Answer::Incomplete) => {}
                Ok(Answer::Complete) => {
                    let (last_byte, lay) = first.unwrap_or_else(|| now(&self.stream));
                    progress.lay = lay;
                    return Poll::Ready(Ok((first_byte, last_byte)));
                }
                Err(fault) => return Poll::Ready(Err(ExchangeError::Malformed(fault))),
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

    /// The meaning of the end of the connection: the end of a body, or an error.
    fn ended(&self, progress: &mut Progress<'_>) -> Result<(Instant, Instant), ExchangeError> {
        let stage = progress.stage();
        match (progress.first_byte, progress.write_error.take()) {
            (Some(first_byte), _) if self.reader.ends_with_connection() => Ok((first_byte, Instant::now())),
            (_, Some(error)) => Err(ExchangeError::broken(error, stage)),
            (_, None) => Err(ExchangeError::Closed(stage)),
        }
    }
}

impl Progress<'_> {
    fn stage(&self) -> Stage {
        if self.first_byte.is_some() { Stage::WithinAnswer } else { Stage::BeforeAnswer }
    }
}
