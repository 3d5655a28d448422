//! A body of any size on its way from the socket to the thread that reads it: read ahead up to a bound, then in chunks
//! through a small channel, so that a slow reader holds back its client and memory stays flat.
//!
//! A body that was read ahead whole needs no waiting: its reader never waits for the client while it has a work process
//! and the database's lock. Only a longer one makes its reader wait, and only for a client that sends fast enough,
//! without a pause, and up to a deadline. The meaning of the bytes is handled elsewhere.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tollgate_net::http1::Framing;
use tollgate_net::http1::server::Exchange;

use crate::error::{Failure, Fault};
use crate::visit::room::{AheadBytes, AheadShare};
use crate::work::parts::{Buffers, PART_BYTES};

/// Bytes of one body read before a work process is requested: about 6,000 records. On this machine a client sends them
/// in 4 ms, and they are inserted in 25 ms.
const AHEAD_BYTES_MAX: usize = 4 << 20;

/// Chunks ready for the reader, beside the one being filled and the one being read.
const CHUNKS_AHEAD: usize = 2;

/// Longest wait of a reader for its client altogether, beside the time granted by [`BYTES_PER_SECOND_MIN`], and for one
/// chunk. Others wait for the lock meanwhile: well below the 10 s after which they are refused.
const GRACE: Duration = Duration::from_secs(2);

/// Bytes that grant a reader another second of waiting.
const BYTES_PER_SECOND_MIN: u64 = 1 << 20;

/// The part of a body that was read ahead.
#[derive(Debug)]
pub(super) struct Ahead {
    chunks: VecDeque<Vec<u8>>,
    extent: Extent,
    bytes: u64,
    bytes_max: u64,
    buffers: Buffers,
    share: AheadShare,
}

/// Part of a body that has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Part,
}

/// The rest of a body, on the loop.
pub(super) struct Rest {
    chunk: Vec<u8>,
    sender: mpsc::Sender<Piece>,
    bytes: u64,
    bytes_max: u64,
    buffers: Buffers,
}

/// A body, for a thread that may block and belongs to a runtime.
#[derive(Debug)]
pub(super) struct BodySource {
    ahead: VecDeque<Vec<u8>>,
    /// `None` if all of the body is in `ahead`.
    receiver: Option<mpsc::Receiver<Piece>>,
    buffers: Buffers,
    waited: Duration,
    received: u64,
    patience: Option<Patience>,
    _share: AheadShare,
}

/// Longest time for reading a body.
#[derive(Debug, Clone, Copy)]
struct Patience {
    deadline: Instant,
    ms_max: u32,
}

/// Message of the channel. Closing without an end means that the body broke off.
#[derive(Debug)]
enum Piece {
    Chunk(Vec<u8>),
    End,
}

impl Ahead {
    /// Reads the body of `exchange`, up to the limit for reading ahead.
    ///
    /// # Errors
    /// 413 if the body is longer than `bytes_max`, at once if its length is stated, and errors of reading a body.
    pub(super) async fn read(
        exchange: &mut Exchange<'_>,
        bytes_max: u64,
        buffers: &Buffers,
        total: &AheadBytes,
    ) -> Result<Ahead, Failure> {
        let declared = match exchange.request().framing() {
            Framing::Length(length) => Some(length),
            Framing::None | Framing::Chunked | Framing::UntilClose => None,
        };
        if declared.is_some_and(|length| length > bytes_max) {
            return Err(Fault::body_too_large(bytes_max).into());
        }
        let mut ahead = Ahead {
            chunks: VecDeque::new(),
            extent: Extent::Part,
            bytes: 0,
            bytes_max,
            buffers: buffers.clone(),
            share: AheadShare::new(total),
        };
        loop {
            let Some(part) = exchange.next_body_part().await? else {
                ahead.extent = Extent::Whole;
                return Ok(ahead);
            };
            ahead.bytes += part.len() as u64;
            if ahead.bytes > bytes_max {
                return Err(Fault::body_too_large(bytes_max).into());
            }
            match ahead.chunks.back_mut().filter(|last| last.len() + part.len() <= last.capacity()) {
                Some(last) => last.extend_from_slice(part),
                None => {
                    // A small body gets a buffer of its size, a large one those that go round.
                    let mut chunk = match declared {
                        Some(length) if length < PART_BYTES as u64 => Vec::with_capacity(length as usize),
                        _ => buffers.take(),
                    };
                    chunk.extend_from_slice(part);
                    ahead.chunks.push_back(chunk);
                }
            }
            if !ahead.share.grow(part.len()) || ahead.bytes >= AHEAD_BYTES_MAX as u64 {
                return Ok(ahead);
            }
        }
    }

    /// The first byte that is neither white space nor part of a byte order mark, if it was read.
    pub(super) fn first_byte(&self) -> Option<u8> {
        let blank = |byte: &u8| byte.is_ascii_whitespace() || "\u{feff}".as_bytes().contains(byte);
        self.chunks.iter().flatten().copied().find(|byte| !blank(byte))
    }

    /// The body in one piece, with its share of the memory for those read ahead.
    ///
    /// # Errors
    /// 413 if it has more than `bytes_max`, 503 if there was no memory to read all of it.
    pub(super) fn into_whole(mut self, bytes_max: usize) -> Result<(Vec<u8>, AheadShare), Fault> {
        let is_too_large = self.bytes > bytes_max as u64 || self.bytes >= AHEAD_BYTES_MAX as u64;
        match self.extent {
            Extent::Whole if self.bytes <= bytes_max as u64 => {}
            Extent::Part if !is_too_large => {
                return Err(Fault::overloaded("the room for bodies is taken by others; ask again later"));
            }
            Extent::Whole | Extent::Part => return Err(Fault::body_too_large(bytes_max as u64)),
        }
        let mut whole = self.chunks.pop_front().unwrap_or_default();
        for chunk in self.chunks {
            whole.extend_from_slice(&chunk);
            self.buffers.give_back(chunk);
        }
        Ok((whole, self.share))
    }

    /// Whether all of the body was read, and it has at most `bytes_max`.
    pub(super) fn is_whole_within(&self, bytes_max: u64) -> bool {
        self.extent == Extent::Whole && self.bytes <= bytes_max
    }

    /// The two ends of the body: for the reading thread, and, if there is more to come, for the loop.
    pub(super) fn split(self) -> (BodySource, Option<Rest>) {
        let Ahead { chunks, extent, bytes, bytes_max, buffers, share } = self;
        let source = |receiver, buffers| BodySource {
            ahead: chunks,
            receiver,
            buffers,
            waited: Duration::ZERO,
            received: 0,
            patience: None,
            _share: share,
        };
        if extent == Extent::Whole {
            return (source(None, buffers), None);
        }
        let (sender, receiver) = mpsc::channel(CHUNKS_AHEAD);
        let rest = Rest { chunk: buffers.take(), sender, bytes, bytes_max, buffers: buffers.clone() };
        (source(Some(receiver), buffers), Some(rest))
    }
}

impl Rest {
    /// Passes on the rest of the body as it comes, until it ends or its reader wants no more of it.
    ///
    /// # Errors
    /// As [`Ahead::read`]. The reader learns that the body broke off.
    pub(super) async fn send(mut self, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        loop {
            let part = tokio::select! {
                biased;
                () = self.sender.closed() => return Ok(()),
                part = exchange.next_body_part() => part?,
            };
            let Some(part) = part else { break };
            self.bytes += part.len() as u64;
            if self.bytes > self.bytes_max {
                return Err(Fault::body_too_large(self.bytes_max).into());
            }
            self.chunk.extend_from_slice(part);
            if self.chunk.len() >= PART_BYTES {
                let chunk = std::mem::replace(&mut self.chunk, self.buffers.take());
                if self.sender.send(Piece::Chunk(chunk)).await.is_err() {
                    return Ok(());
                }
            }
        }
        if self.sender.send(Piece::Chunk(self.chunk)).await.is_ok() {
            // Whoever does not want to hear of the end has an answer already.
            let _ = self.sender.send(Piece::End).await;
        }
        Ok(())
    }
}

impl BodySource {
    /// Sets a limit of `ms_max` for reading the rest of the body.
    pub(super) fn read_within(&mut self, ms_max: u32) {
        let deadline = Instant::now() + Duration::from_millis(ms_max.into());
        self.patience = Some(Patience { deadline, ms_max });
    }

    /// Passes the next bytes to `take`; returns whether there were any.
    ///
    /// # Errors
    /// 408 if the client is too slow, or all of it takes too long; 400 if the body broke off.
    pub(super) fn next(&mut self, take: impl FnOnce(&[u8])) -> Result<bool, Fault> {
        let Some(chunk) = self.chunk()? else { return Ok(false) };
        take(&chunk);
        self.buffers.give_back(chunk);
        Ok(true)
    }

    fn chunk(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let left = match self.patience {
            None => Duration::MAX,
            Some(Patience { deadline, ms_max }) => match deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => left,
                _ => return Err(Fault::array_too_slow(ms_max)),
            },
        };
        if let Some(chunk) = self.ahead.pop_front() {
            return Ok(Some(chunk));
        }
        let Some(receiver) = &mut self.receiver else { return Ok(None) };
        let piece = match receiver.try_recv() {
            Ok(piece) => Some(piece),
            Err(mpsc::error::TryRecvError::Disconnected) => None,
            Err(mpsc::error::TryRecvError::Empty) => {
                let granted = GRACE + Duration::from_secs(self.received / BYTES_PER_SECOND_MIN);
                let since = Instant::now();
                let left = left.min(GRACE).min(granted.saturating_sub(self.waited));
                let received = Handle::current().block_on(async { tokio::time::timeout(left, receiver.recv()).await });
                self.waited += since.elapsed();
                received.map_err(|_| match self.patience {
                    Some(Patience { deadline, ms_max }) if Instant::now() >= deadline => Fault::array_too_slow(ms_max),
                    _ => Fault::body_too_slow(BYTES_PER_SECOND_MIN),
                })?
            }
        };
        match piece {
            Some(Piece::Chunk(chunk)) => {
                self.received += chunk.len() as u64;
                Ok(Some(chunk))
            }
            Some(Piece::End) => {
                self.receiver = None;
                Ok(None)
            }
            None => Err(Fault::bad_request("body", "the body broke off")),
        }
    }
}
