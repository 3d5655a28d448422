//! The length of a body and the place of its data among the bytes read: by length, chunked, or until the end.
//!
//! It neither reads nor keeps bytes: it says which of the caller's bytes are data.

use super::chunked::{ChunkLimits, ChunkedDecoder};
use super::error::Fault;

pub use super::chunked::Step;

/// The delimiter of a body (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Framing {
    /// There is none.
    #[default]
    None,
    /// This number of bytes.
    Length(u64),
    /// By the chunked transfer coding.
    Chunked,
    /// Answers only: until the connection ends.
    UntilClose,
}

/// Reads one body from reads of any size.
#[derive(Clone, Debug)]
pub struct BodyDecoder {
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Length(u64),
    Chunked(ChunkedDecoder),
    UntilClose,
}

impl BodyDecoder {
    /// A decoder before the first byte of a body with this framing.
    #[must_use]
    pub fn new(framing: Framing, limits: ChunkLimits) -> BodyDecoder {
        let state = match framing {
            Framing::None => State::Length(0),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunked(ChunkedDecoder::new(limits)),
            Framing::UntilClose => State::UntilClose,
        };
        BodyDecoder { state }
    }

    /// Whether the body is complete. One that ends with the connection never is.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match &self.state {
            State::Length(remaining) => *remaining == 0,
            State::Chunked(decoder) => decoder.is_done(),
            State::UntilClose => false,
        }
    }

    /// Whether the end of the connection is the end of the body.
    #[must_use]
    pub fn ends_with_connection(&self) -> bool {
        matches!(self.state, State::UntilClose)
    }

    /// Number of bytes still to come, if it is known.
    #[must_use]
    pub fn remaining(&self) -> Option<u64> {
        match &self.state {
            State::Length(remaining) => Some(*remaining),
            State::Chunked(decoder) => decoder.is_done().then_some(0),
            State::UntilClose => None,
        }
    }

    /// Finds the next data in `input`. It uses all of `input` over as many calls as it takes, unless the body ends.
    ///
    /// # Errors
    /// The fault in the framing; the decoder must not be used afterwards.
    pub fn decode(&mut self, input: &[u8]) -> Result<Step, Fault> {
        match &mut self.state {
            State::Length(remaining) => {
                let data = usize::try_from(*remaining).map_or(input.len(), |remaining| remaining.min(input.len()));
                *remaining -= data as u64;
                Ok(Step { skipped: 0, data })
            }
            State::Chunked(decoder) => decoder.decode(input),
            State::UntilClose => Ok(Step { skipped: 0, data: input.len() }),
        }
    }
}
