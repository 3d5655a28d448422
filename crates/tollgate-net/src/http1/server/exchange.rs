//! One request and its answer, as a service sees them.
//!
//! Reading the next head and deciding the fate of the connection are in `connection`.

mod asking;
mod body;
mod error;
mod kept;
mod presence;
mod relay;
mod send;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub use self::asking::{Asking, Body, Enclosed, Patience};
pub use self::body::Gathered;
use self::body::Left;
pub use self::error::{Abort, ExchangeError};
pub use self::kept::Keeping;
use self::kept::Kept;
use self::presence::Presence;
pub use self::relay::ForwardError;
use super::super::body::BodyDecoder;
use super::super::chunked::ChunkLimits;
use super::super::error::Fault;
use super::super::head::RequestHead;
use super::buffers::Buffers;
use super::counters::CloseCause;
use super::held::Held;
use super::link::Link;
use super::response::{Persistence, Response};
use crate::stream::Transport;
use crate::tls::PeerCertificate;

/// One request and its answer.
pub struct Exchange<'c> {
    link: &'c mut Link,
    buffers: &'c mut Buffers,
    decoder: BodyDecoder,
    /// The place of the gathered body in the read buffer.
    gathered: Option<(usize, usize)>,
    body_bytes: u64,
    body_waited: Duration,
    /// The client waits for `100 Continue`.
    awaits_continue: bool,
    presence: Presence,
    sending: Sending,
    /// Parts that are kept back.
    kept: Option<Kept>,
    /// The memory of a large gathered body, until the exchange ends.
    gathered_held: Option<Held>,
    /// Bytes that the service keeps for the answer beside its body.
    beside: usize,
    persistence: Persistence,
    /// The reason why the connection cannot be kept, if it is known.
    cause: Option<CloseCause>,
}

/// The part of the answer that has been sent.
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

/// The fate of the connection after an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Request,
    Close(CloseCause),
    /// Close it, but read on a little.
    Linger(CloseCause),
}

impl<'c> Exchange<'c> {
    /// Begins the exchange of the request in `buffers`.
    pub(super) fn new(link: &'c mut Link, buffers: &'c mut Buffers, cause: Option<CloseCause>) -> Exchange<'c> {
        let limits = &link.core.limits;
        let chunk_limits = ChunkLimits {
            extension_bytes_max: limits.chunk_extension_bytes_max,
            trailer_bytes_max: limits.trailer_bytes_max,
        };
        buffers.response.clear();
        buffers.output.clear();
        buffers.outbound.clear();
        let head = &buffers.head;
        let persistence =
            if cause.is_none() && head.keep_alive() { Persistence::KeepAlive } else { Persistence::Close };
        Exchange {
            decoder: BodyDecoder::new(head.framing(), chunk_limits),
            gathered: None,
            body_bytes: 0,
            body_waited: Duration::ZERO,
            awaits_continue: head.expects_continue(),
            presence: Presence::There,
            sending: Sending::Nothing,
            kept: None,
            gathered_held: None,
            beside: 0,
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

    /// The way in which the bytes of its connection travel.
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

    /// Says how many bytes the service keeps for the answer beside its body: they count for as long as the client has to
    /// be waited for.
    pub fn keep_beside(&mut self, bytes: usize) {
        self.beside = bytes;
    }

    /// Takes these fields out of the request, as if the client had not sent them.
    pub fn remove_fields(&mut self, names: &[&str]) {
        self.buffers.head.remove_fields(names);
    }

    /// Whether any of the answer has been sent.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.sending != Sending::Nothing
    }

    /// The error that ends the connection within an answer whose rest does not come, so that the client sees it.
    #[must_use]
    pub fn cut_short(&self) -> ExchangeError {
        // An answer that ends with its connection would look whole if that ended in order.
        let abort = if self.sending == Sending::Parts(Parts::Close) { Abort::Reset } else { Abort::Close };
        ExchangeError::Abort(abort)
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

    /// The fate of the connection after an error that cannot be answered.
    pub(super) fn after(&mut self, error: &ExchangeError) -> Next {
        match error {
            ExchangeError::Fault(_) => Next::Linger(CloseCause::Fault),
            ExchangeError::Broken(_) => Next::Close(CloseCause::Broken),
            ExchangeError::WriteStalled => {
                // What stands in the socket will not be taken either.
                self.link.reset_on_drop();
                Next::Close(CloseCause::WriteStall)
            }
            ExchangeError::UnsentFull => {
                self.link.reset_on_drop();
                Next::Close(CloseCause::UnsentFull)
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
}
