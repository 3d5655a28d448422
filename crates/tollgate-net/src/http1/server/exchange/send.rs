//! Sending an answer: whole, or part by part.
//!
//! A head is rendered in `response`, the fate of the connection is decided in `exchange`.

use std::io::IoSlice;

use super::super::super::chunked::{LAST_CHUNK, SizeLine};
use super::super::super::head::{Method, Version};
use super::super::buffers::Buffers;
use super::super::counters::CloseCause;
use super::super::link::WriteError;
use super::super::response::{Delimiter, Length, Persistence};
use super::{Abort, Exchange, ExchangeError, Keeping, Parts, Sending};

/// Bodies up to this are copied behind their head: one `send` of one buffer beats a `writev` of two.
const COPIED_BODY_BYTES_MAX: usize = 4 * 1024;

/// [`LAST_CHUNK`] with the line end that the chunk before it still needs.
const LAST_CHUNK_BEHIND_DATA: &[u8] = b"\r\n0\r\n\r\n";

impl Exchange<'_> {
    /// Sends the content of the body buffer as a part of the answer, the head before the first one, and clears the
    /// buffer. It returns when the socket has taken it all: that is the back-pressure.
    ///
    /// # Errors
    /// When the connection broke or the client takes nothing.
    pub async fn flush_part(&mut self) -> Result<(), ExchangeError> {
        if self.keep_part() == Keeping::Whole {
            return Ok(());
        }
        let end = self.begin_part();
        let Buffers { output, response, .. } = &*self.buffers;
        let mut slices = [IoSlice::new(output), IoSlice::new(&response.body), IoSlice::new(end)];
        let written = self.link.write_all(&mut slices, || self.buffers.size() + self.beside).await;
        self.end_part()?;
        written.map_err(ExchangeError::from)
    }

    /// Sends the content of the body buffer as the last part of the answer, or as the whole of it if nothing was sent
    /// before, with its end in the same write, and clears the buffer. A service that wants its buffer back calls it
    /// instead of leaving the last part to the engine; nothing can be added afterwards.
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

    /// A drain that began while the service worked ends the connection too, and the head still can say so.
    fn heed_draining(&mut self) {
        if self.persistence == Persistence::KeepAlive && self.link.core.draining.get() {
            self.close_after(CloseCause::Drained);
        }
    }

    /// Frames the content of the body buffer as a part, behind the head if that is not sent yet, and returns the bytes
    /// that must follow it.
    pub(super) fn begin_part(&mut self) -> &'static [u8] {
        let parts = match self.sending {
            Sending::Nothing => self.begin_parts(),
            Sending::Parts(parts) => parts,
        };
        let Buffers { output, response, .. } = &mut *self.buffers;
        match parts {
            Parts::Dropped | Parts::Ended => response.body.clear(),
            Parts::Chunked if !response.body.is_empty() => {
                output.extend_from_slice(SizeLine::new(response.body.len()).as_bytes());
                return b"\r\n";
            }
            Parts::Chunked | Parts::Close | Parts::Length(_) => {}
        }
        b""
    }

    /// Takes note that a part was sent, and clears the buffers.
    ///
    /// # Errors
    /// When that was more than was announced: what goes beyond would be taken for the next answer.
    pub(super) fn end_part(&mut self) -> Result<(), ExchangeError> {
        let length = self.buffers.response.body.len() as u64;
        self.link.count_bytes();
        self.buffers.output.clear();
        self.buffers.response.body.clear();
        if let Sending::Parts(Parts::Length(remaining)) = self.sending {
            let remaining = remaining.checked_sub(length).ok_or(ExchangeError::Abort(Abort::Close))?;
            self.sending = Sending::Parts(Parts::Length(remaining));
        }
        Ok(())
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

    /// Sends a whole answer, if nothing of it was sent before.
    pub(super) async fn send_whole(&mut self) -> Result<(), ExchangeError> {
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
        let has_body = head.method() != Method::Head && !response.is_bodiless();
        let follows = has_body && response.whole_body().len() > COPIED_BODY_BYTES_MAX;
        if has_body && !follows {
            output.extend_from_slice(response.whole_body());
        }
        let Buffers { response, output, .. } = &*self.buffers;
        let occupied = || self.buffers.size() + self.beside;
        let result = if follows {
            self.link.write_all(&mut [IoSlice::new(output), IoSlice::new(response.whole_body())], occupied).await
        } else {
            self.link.write_all(&mut [IoSlice::new(output)], occupied).await
        };
        self.buffers.response.let_go();
        result.map_err(ExchangeError::from)
    }

    /// Sends what ends an answer sent in parts.
    pub(super) async fn send_last_part(&mut self, parts: Parts) -> Result<(), ExchangeError> {
        if parts == Parts::Chunked && !self.buffers.response.body.is_empty() {
            return Ok(self.write_chunk(LAST_CHUNK_BEHIND_DATA).await?);
        }
        if !self.buffers.response.body.is_empty() {
            self.flush_part().await?;
        }
        match parts {
            Parts::Chunked => Ok(self.link.write_all(&mut [IoSlice::new(LAST_CHUNK)], || self.buffers.size()).await?),
            Parts::Length(_) if self.sending != Sending::Parts(Parts::Length(0)) => {
                // Less than was announced: only the end of the connection tells the client.
                Err(ExchangeError::Abort(Abort::Close))
            }
            Parts::Length(_) | Parts::Close | Parts::Dropped | Parts::Ended => Ok(()),
        }
    }

    /// Writes the body buffer as a chunk, behind a head that is still unsent; `end` is the text behind the data.
    async fn write_chunk(&mut self, end: &[u8]) -> Result<(), WriteError> {
        let size = SizeLine::new(self.buffers.response.body.len());
        self.buffers.output.extend_from_slice(size.as_bytes());
        let Buffers { output, response, .. } = &*self.buffers;
        let mut slices = [IoSlice::new(output), IoSlice::new(&response.body), IoSlice::new(end)];
        self.link.write_all(&mut slices, || self.buffers.size() + self.beside).await
    }
}
