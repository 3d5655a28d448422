//! The answer of a backend on its way to the client: its head is read, and its body goes on as it comes, with
//! back-pressure, while the rest of a streamed request still goes the other way.
//!
//! The caller that forwards interprets its fields, and decides which of them go on.

use std::fmt;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::super::super::body::BodyDecoder;
use super::super::super::chunked::ChunkLimits;
use super::super::super::error::Fault;
use super::super::super::head::{RequestHead, ResponseHead};
use super::super::super::scratch::Scratch;
use super::super::super::upstream::{Kind, Pool, UpstreamError};
use super::super::buffers::Buffers;
use super::super::counters::ConnectionState;
use super::super::held::Held;
use super::super::link::{Wait, WriteError};
use super::super::response::Response;
use super::super::unsent::{Full, Progress};
use super::asking::{Asking, SentPart, Waits};
use super::{Exchange, ExchangeError, Keeping};

/// Largest declared length of an answer that goes on in one piece: head and body in one write.
const WHOLE_ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// Size at which a part of a longer answer goes on at the latest.
const PART_BYTES: usize = 64 * 1024;

/// The reason why an exchange with a backend failed.
#[derive(Debug)]
pub enum ForwardError {
    /// It is the client's fault, or the client is gone.
    Client(ExchangeError),
    /// It is the backend's.
    Backend(UpstreamError),
}

impl Exchange<'_> {
    /// Sends the request and reads the head of its answer, and what comes of the body with it. Interim answers are
    /// skipped.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn ask(&mut self, asking: &mut Asking) -> Result<(), ForwardError> {
        if asking.streams() {
            // There is a connection that the body can go over.
            self.send_continue().await?;
        }
        let mut held = Held::nothing(&self.link.core);
        let asked = std::future::poll_fn(|cx| {
            self.send_request(cx, asking)?;
            loop {
                match self.poll_answer(cx, asking)? {
                    Poll::Ready(()) if asking.decoder.is_some() => return Poll::Ready(Ok(())),
                    Poll::Ready(()) => {}
                    Poll::Pending => break,
                }
            }
            if asking.sending != Waits::Client {
                self.link.core.park(self.buffers);
            }
            self.wait(cx, asking, &mut held)
        });
        let outcome = asked.await;
        self.link.disarm();
        outcome
    }

    /// The request, the head of its answer, and the answer to the client in the making, whose body has the part that
    /// the backend has sent.
    pub fn answered(&mut self) -> (&RequestHead, &ResponseHead, &mut Response) {
        (&self.buffers.head, &self.buffers.answer, &mut self.buffers.response)
    }

    /// Has the rest of the answer's body in one piece.
    ///
    /// # Errors
    /// Why it does not come; [`Kind::TooLarge`] beyond `bytes_max`.
    pub async fn gather_answer(&mut self, asking: &mut Asking, bytes_max: usize) -> Result<(), ForwardError> {
        let too_large = || Poll::Ready(Err(ForwardError::Backend(UpstreamError::new(Kind::TooLarge))));
        let mut held = Held::nothing(&self.link.core);
        let gathered = std::future::poll_fn(|cx| {
            self.send_request(cx, asking)?;
            loop {
                if self.buffers.response.body.len() > bytes_max {
                    return too_large();
                }
                if asking.is_complete() {
                    return Poll::Ready(Ok(()));
                }
                if asking.remaining().is_some_and(|remaining| remaining > bytes_max as u64) {
                    return too_large();
                }
                if self.poll_answer(cx, asking)?.is_pending() {
                    return self.wait(cx, asking, &mut held);
                }
            }
        });
        let outcome = gathered.await;
        self.link.disarm();
        outcome
    }

    /// Sends the answer's body on as it comes. A short one, and the last part of a long one, are in the body buffer
    /// afterwards and go when the exchange ends.
    ///
    /// # Errors
    /// Why it does not come, or does not go.
    pub async fn relay(&mut self, asking: &mut Asking) -> Result<(), ForwardError> {
        if asking.is_complete() {
            return Ok(());
        }
        let whole = asking.remaining().is_some_and(|remaining| remaining <= WHOLE_ANSWER_BYTES_MAX);
        let mut held = Held::nothing(&self.link.core);
        let relayed = std::future::poll_fn(|cx| {
            self.send_request(cx, asking)?;
            loop {
                if asking.part.is_some() && self.poll_part(cx, asking)?.is_pending() {
                    return self.wait(cx, asking, &mut held);
                }
                if asking.is_complete() {
                    return Poll::Ready(Ok(()));
                }
                let polled = self.poll_answer(cx, asking)?;
                let come = self.buffers.response.body.len();
                match polled {
                    Poll::Ready(()) if asking.is_complete() || come < PART_BYTES => {}
                    Poll::Pending if whole || come == 0 => return self.wait(cx, asking, &mut held),
                    Poll::Ready(()) | Poll::Pending => {
                        if self.keep_part() == Keeping::Sent {
                            asking.part = Some(SentPart { sent: 0, end: self.begin_part(), stalled_since: None });
                        }
                    }
                }
            }
        });
        let outcome = relayed.await;
        self.link.disarm();
        outcome
    }

    /// Gives the connection back, if the answer left it so that another request can follow.
    pub fn release(&mut self, asking: Asking, pool: &Rc<Pool>) {
        if asking.is_complete()
            && asking.is_sent()
            && !asking.ended
            && !asking.surplus
            && self.buffers.answer.keep_alive()
        {
            pool.give(asking.connection, self.link.core.now());
        }
    }

    /// Reads once, and takes the received part of the answer into the body buffer.
    fn poll_answer(&mut self, cx: &mut Context<'_>, asking: &mut Asking) -> Poll<Result<(), UpstreamError>> {
        let mut scratch = Scratch::take();
        let Poll::Ready(read) = asking.connection.poll_read(cx, scratch.bytes()) else { return Poll::Pending };
        asking.silent_since = None;
        Poll::Ready(match read {
            Ok(0) if asking.decoder.as_ref().is_some_and(BodyDecoder::ends_with_connection) => {
                asking.ended = true;
                Ok(())
            }
            Ok(0) => Err(asking.closed(None)),
            Ok(count) => {
                asking.answer_begun = true;
                self.link.core.lend(self.buffers);
                self.take_answer(asking, &scratch.bytes()[..count])
            }
            Err(error) => Err(asking.closed(Some(error))),
        })
    }

    /// Takes bytes of the answer: of its head, and of its body behind that.
    fn take_answer(&mut self, asking: &mut Asking, bytes: &[u8]) -> Result<(), UpstreamError> {
        let malformed = |fault: Fault| UpstreamError::new(Kind::Malformed(fault));
        if asking.decoder.is_some() {
            return take_body(&mut self.buffers.response, asking, bytes).map_err(malformed);
        }
        if asking.partial_head.is_empty() {
            let used = self.take_heads(asking, bytes).map_err(malformed)?;
            if asking.decoder.is_none() {
                asking.partial_head.extend_from_slice(&bytes[used..]);
                return Ok(());
            }
            return take_body(&mut self.buffers.response, asking, &bytes[used..]).map_err(malformed);
        }
        let mut partial = std::mem::take(&mut asking.partial_head);
        partial.extend_from_slice(bytes);
        let used = self.take_heads(asking, &partial).map_err(malformed)?;
        if asking.decoder.is_none() {
            partial.drain(..used);
            asking.partial_head = partial;
            return Ok(());
        }
        take_body(&mut self.buffers.response, asking, &partial[used..]).map_err(malformed)
    }

    /// Parses heads up to the final one and says how many bytes they took.
    fn take_heads(&mut self, asking: &mut Asking, bytes: &[u8]) -> Result<usize, Fault> {
        let limits = &self.link.core.limits;
        let head = &mut self.buffers.answer;
        let mut used = 0;
        while let Some(length) = head.parse(&bytes[used..], asking.answers, limits)? {
            used += length;
            match head.status() {
                // Nothing was asked for that would switch protocols.
                101 => return Err(Fault::BadStartLine),
                100..=199 => {}
                _ => {
                    let chunk_limits = ChunkLimits {
                        extension_bytes_max: limits.chunk_extension_bytes_max,
                        trailer_bytes_max: limits.trailer_bytes_max,
                    };
                    asking.decoder = Some(BodyDecoder::new(head.framing(), chunk_limits));
                    break;
                }
            }
        }
        Ok(used)
    }

    /// Sends what the client takes of the part that is on its way.
    fn poll_part(&mut self, cx: &mut Context<'_>, asking: &mut Asking) -> Poll<Result<(), ExchangeError>> {
        let Some(part) = &mut asking.part else { return Poll::Ready(Ok(())) };
        let Buffers { output, response, .. } = &mut *self.buffers;
        let sent_before = part.sent;
        let polled = self.link.poll_write_parts(cx, [output, &response.body, part.end], &mut part.sent);
        if part.sent != sent_before {
            part.stalled_since = None;
        }
        let Poll::Ready(written) = polled else {
            self.link.becomes(ConnectionState::Writing);
            let progress = if part.stalled_since.is_none() { Progress::Some } else { Progress::None };
            part.stalled_since.get_or_insert(self.link.core.now());
            return match self.link.wait_for_reader(self.buffers.size(), progress) {
                Ok(()) => Poll::Pending,
                Err(Full) => Poll::Ready(Err(ExchangeError::UnsentFull)),
            };
        };
        self.link.was_read();
        asking.part = None;
        self.link.becomes(ConnectionState::Working);
        self.end_part()?;
        Poll::Ready(written.map_err(ExchangeError::Broken))
    }

    /// Waits for all that the exchange needs, until a peer has been waited for too long.
    fn wait(&mut self, cx: &mut Context<'_>, asking: &mut Asking, held: &mut Held) -> Poll<Result<(), ForwardError>> {
        // Of a client that is written to, writing tells.
        let look_again = if asking.part.is_none() { self.look_for_client(cx)? } else { None };
        // The memory of a part on its way counts as unsent.
        let occupied = if asking.part.is_none() { self.buffers.size() } else { 0 };
        if let Err(fault) = held.resize(occupied) {
            return Poll::Ready(Err(self.fault(fault).into()));
        }
        let silent_since = *asking.silent_since.get_or_insert(self.link.core.now());
        let patience = asking.patience;
        // Whoever is waited for when the whole takes too long ends it.
        let last = match asking.sending {
            _ if asking.part.is_some() => Overdue::ClientTakesNothing,
            Waits::Client => Overdue::ClientSendsNothing,
            Waits::Backend | Waits::Over => Overdue::Backend(Kind::ExchangeTimedOut),
        };
        asking.awaited_client |= !matches!(last, Overdue::Backend(_));
        let mut nearest = (patience.whole_by, last);
        let mut consider = |deadline: Instant, overdue: Overdue| {
            if deadline < nearest.0 {
                nearest = (deadline, overdue);
            }
        };
        if let Some(part) = &asking.part {
            let stalled_since = part.stalled_since.unwrap_or(silent_since);
            consider(stalled_since + self.link.core.limits.write_stall_timeout, Overdue::ClientTakesNothing);
        }
        match asking.sending {
            Waits::Client => consider(self.rest_deadline(asking), Overdue::ClientSendsNothing),
            Waits::Backend => consider(silent_since + patience.stall, Overdue::Backend(Kind::Stalled)),
            // It cannot go on as long as its client takes nothing.
            Waits::Over if asking.part.is_some() => {}
            Waits::Over if asking.answer_begun => {
                consider(silent_since + patience.stall, Overdue::Backend(Kind::Stalled));
            }
            Waits::Over => consider(silent_since + patience.first_byte, Overdue::Backend(Kind::AnswerTimedOut)),
        }
        let (deadline, overdue) = nearest;
        match self.link.wait_until(cx, deadline) {
            Wait::Armed => {
                if let Some(look_again) = look_again.filter(|look_again| *look_again < deadline) {
                    // That lies ahead: it was reckoned from the same time.
                    let _ = self.link.wait_until(cx, look_again);
                }
                Poll::Pending
            }
            Wait::Over => Poll::Ready(Err(match overdue {
                Overdue::Backend(kind) => ForwardError::Backend(UpstreamError::new(kind)),
                Overdue::ClientSendsNothing => self.fault(Fault::BodyTimeout).into(),
                Overdue::ClientTakesNothing => ExchangeError::from(WriteError::Stalled).into(),
            })),
        }
    }
}

/// The peer that has been waited for too long.
#[derive(Clone, Copy, Debug)]
enum Overdue {
    Backend(Kind),
    ClientSendsNothing,
    ClientTakesNothing,
}

/// Puts the data among `bytes` into the body buffer.
fn take_body(response: &mut Response, asking: &mut Asking, bytes: &[u8]) -> Result<(), Fault> {
    let Some(decoder) = &mut asking.decoder else { return Ok(()) };
    let mut rest = bytes;
    while !rest.is_empty() && !decoder.is_done() {
        let step = decoder.decode(rest)?;
        response.body.extend_from_slice(&rest[step.skipped..step.used()]);
        rest = &rest[step.used()..];
    }
    asking.surplus |= !rest.is_empty();
    Ok(())
}

impl Asking {
    /// Number of bytes of the answer's body still to come, if it is known.
    fn remaining(&self) -> Option<u64> {
        self.decoder.as_ref().and_then(BodyDecoder::remaining)
    }

    /// The connection ended where the answer did not.
    fn closed(&mut self, error: Option<io::Error>) -> UpstreamError {
        let kind = if self.answer_begun { Kind::ClosedWithinAnswer } else { Kind::ClosedBeforeAnswer };
        match self.write_error.take().or(error) {
            Some(source) => UpstreamError::with_source(kind, source),
            None => UpstreamError::new(kind),
        }
    }
}

impl From<ExchangeError> for ForwardError {
    fn from(error: ExchangeError) -> ForwardError {
        ForwardError::Client(error)
    }
}

impl From<UpstreamError> for ForwardError {
    fn from(error: UpstreamError) -> ForwardError {
        ForwardError::Backend(error)
    }
}

impl fmt::Display for ForwardError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForwardError::Client(error) => error.fmt(formatter),
            ForwardError::Backend(error) => write!(formatter, "the backend: {error}"),
        }
    }
}

impl std::error::Error for ForwardError {}
