//! The chunked transfer coding (RFC 9112 section 7.1), read from any split of the bytes and written.
//!
//! Trailer fields are checked and dropped. Extensions are dropped too.

use super::error::Fault;

/// The result of one step of reading: first `skipped` bytes of framing, then `data` bytes of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Step {
    /// Bytes of framing before the data.
    pub skipped: usize,
    /// Bytes of data.
    pub data: usize,
}

impl Step {
    /// Number of bytes used.
    #[must_use]
    pub fn used(self) -> usize {
        self.skipped + self.data
    }
}

/// Limits of what a chunked body has beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Bytes of all extensions together.
    pub extension_bytes_max: usize,
    /// Bytes of the trailer section, without its empty line.
    pub trailer_bytes_max: usize,
}

impl Default for ChunkLimits {
    fn default() -> Self {
        let limits = crate::limits::Limits::default();
        ChunkLimits {
            extension_bytes_max: limits.chunk_extension_bytes_max,
            trailer_bytes_max: limits.trailer_bytes_max,
        }
    }
}

/// Hexadecimal digits of a chunk size: as many as 64 bits have.
const SIZE_DIGITS_MAX: u8 = 16;

/// Reads a chunked body from reads of any size.
#[derive(Clone, Debug)]
pub struct ChunkedDecoder {
    state: State,
    limits: ChunkLimits,
    extension_bytes: usize,
    trailer_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first digit of a size.
    SizeStart,
    /// The size so far and its digits.
    Size(u64, u8),
    Extension(u64),
    /// After the CR of a size line.
    SizeLineFeed(u64),
    Data(u64),
    DataCarriageReturn,
    DataLineFeed,
    /// At the start of a trailer line, or of the empty line that ends it all.
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLineFeed,
    EndLineFeed,
    Done,
}

impl ChunkedDecoder {
    /// A decoder before the first size line.
    #[must_use]
    pub fn new(limits: ChunkLimits) -> ChunkedDecoder {
        ChunkedDecoder { state: State::SizeStart, limits, extension_bytes: 0, trailer_bytes: 0 }
    }

    /// Whether the empty line after the last chunk was read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads framing up to the next data, and as much of that as `input` contains.
    ///
    /// # Errors
    /// The fault in the framing; the decoder must not be used afterwards.
    pub fn decode(&mut self, input: &[u8]) -> Result<Step, Fault> {
        let mut skipped = 0;
        while let Some(&byte) = input.get(skipped) {
            self.state = match self.state {
                State::Data(remaining) => {
                    let available = input.len() - skipped;
                    let data = usize::try_from(remaining).map_or(available, |remaining| remaining.min(available));
                    let left = remaining - data as u64;
                    self.state = if left == 0 { State::DataCarriageReturn } else { State::Data(left) };
                    return Ok(Step { skipped, data });
                }
                State::Done => break,
                state => self.advance(state, byte)?,
            };
            skipped += 1;
        }
        Ok(Step { skipped, data: 0 })
    }

    fn advance(&mut self, state: State, byte: u8) -> Result<State, Fault> {
        Ok(match (state, byte) {
            (State::SizeStart, _) => State::Size(hex_digit(byte).ok_or(Fault::BadChunkSize)?, 1),
            (State::Size(size, _), b'\r') => State::SizeLineFeed(size),
            (State::Size(size, _), b';') => {
                self.count_extension_byte()?;
                State::Extension(size)
            }
            // A seventeenth digit would overflow, or after zeros serve only to confuse.
            (State::Size(_, SIZE_DIGITS_MAX), _) => return Err(Fault::BadChunkSize),
            (State::Size(size, digits), _) => {
                State::Size(size << 4 | hex_digit(byte).ok_or(Fault::BadChunkSize)?, digits + 1)
            }
            (State::Extension(size), b'\r') => State::SizeLineFeed(size),
            (State::Extension(size), byte) => {
                if is_control(byte) {
                    return Err(Fault::BadChunkSize);
                }
                self.count_extension_byte()?;
                State::Extension(size)
            }
            (State::SizeLineFeed(0), b'\n') => State::TrailerStart,
            (State::SizeLineFeed(size), b'\n') => State::Data(size),
            (State::SizeLineFeed(_), _) => return Err(Fault::BadChunkSize),
            (State::DataCarriageReturn, b'\r') => State::DataLineFeed,
            (State::DataLineFeed, b'\n') => State::SizeStart,
            (State::DataCarriageReturn | State::DataLineFeed, _) => return Err(Fault::BadChunkEnd),
            (State::TrailerStart, b'\r') => State::EndLineFeed,
            (State::TrailerStart | State::TrailerName, byte) if is_token_byte(byte) => {
                self.count_trailer_byte()?;
                State::TrailerName
            }
            (State::TrailerName, b':') => {
                self.count_trailer_byte()?;
                State::TrailerValue
            }
            (State::TrailerStart | State::TrailerName, _) => return Err(Fault::BadTrailer),
            (State::TrailerValue, b'\r') => {
                self.count_trailer_byte()?;
                State::TrailerLineFeed
            }
            (State::TrailerValue, byte) => {
                if is_control(byte) {
                    return Err(Fault::BadTrailer);
                }
                self.count_trailer_byte()?;
                State::TrailerValue
            }
            (State::TrailerLineFeed, b'\n') => {
                self.count_trailer_byte()?;
                State::TrailerStart
            }
            (State::EndLineFeed, b'\n') => State::Done,
            (State::TrailerLineFeed | State::EndLineFeed, _) => return Err(Fault::BadTrailer),
            (State::Data(_) | State::Done, _) => unreachable!("data and the end are handled by the caller"),
        })
    }

    fn count_extension_byte(&mut self) -> Result<(), Fault> {
        self.extension_bytes += 1;
        if self.extension_bytes > self.limits.extension_bytes_max {
            return Err(Fault::ChunkExtensionTooLarge);
        }
        Ok(())
    }

    fn count_trailer_byte(&mut self) -> Result<(), Fault> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > self.limits.trailer_bytes_max {
            return Err(Fault::TrailerTooLarge);
        }
        Ok(())
    }
}

/// The end of a chunked body without trailer fields.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// A size line: at most sixteen digits and CR LF.
#[derive(Clone, Copy, Debug)]
pub struct SizeLine {
    bytes: [u8; 18],
    start: usize,
}

impl SizeLine {
    /// The size line of a chunk of `size` bytes.
    #[must_use]
    pub fn new(size: usize) -> SizeLine {
        let mut bytes = *b"0000000000000000\r\n";
        let mut start = 16;
        let mut rest = size;
        loop {
            start -= 1;
            bytes[start] = b"0123456789abcdef"[rest & 15];
            rest >>= 4;
            if rest == 0 {
                return SizeLine { bytes, start };
            }
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Writes `data` as one chunk; no data writes nothing, since an empty chunk would end the body.
pub fn write_chunk(out: &mut Vec<u8>, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    out.extend_from_slice(SizeLine::new(data.len()).as_bytes());
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

fn hex_digit(byte: u8) -> Option<u64> {
    match byte {
        b'0'..=b'9' => Some(u64::from(byte - b'0')),
        b'a'..=b'f' => Some(u64::from(byte - b'a') + 10),
        b'A'..=b'F' => Some(u64::from(byte - b'A') + 10),
        _ => None,
    }
}

/// Control bytes except the tab (RFC 9110 section 5.5).
pub(crate) fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7f
}

/// The bytes of a token (RFC 9110 section 5.6.2).
pub(crate) fn is_token_byte(byte: u8) -> bool {
    TOKEN_BYTES[usize::from(byte)]
}

const TOKEN_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
};
