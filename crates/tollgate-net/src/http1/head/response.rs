//! The head of an answer: parsing it as strictly as a request's, and reading it.
//!
//! A client that measures reports a sloppy answer as malformed instead of guessing what was meant.

use std::mem::MaybeUninit;

use httparse::{Header, Status};

use super::super::body::Framing;
use super::super::error::Fault;
use super::Version;
use super::fields::{ConnectionOptions, Fields, FieldsIter, Line, content_length, transfer_encoding};
use crate::limits::{HEADERS_CEILING, Limits};

/// The kind of request that an answer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Answers {
    /// Any but HEAD: a body may follow.
    #[default]
    Ordinary,
    /// HEAD: no body follows, even if the fields announce one.
    Head,
}

/// The head of an answer.
#[derive(Clone, Debug, Default)]
pub struct ResponseHead {
    fields: Fields,
    status: u16,
    version: Version,
    framing: Framing,
    content_length: Option<u64>,
    keep_alive: bool,
}

impl ResponseHead {
    /// The status code.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The first field of that name, in any case, if its value is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.fields.text(name)
    }

    /// All fields in their order.
    #[must_use]
    pub fn headers(&self) -> FieldsIter<'_> {
        self.fields.iter()
    }

    /// All fields as their lines, in their order.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.fields.lines()
    }

    /// The value of the field; of an answer to HEAD the length that GET would have brought.
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// The delimiter of the body.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether the server keeps this connection open, as far as it says so.
    #[must_use]
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// Gives back memory beyond `bytes_max`.
    pub(crate) fn shrink(&mut self, bytes_max: usize) {
        self.fields.shrink(bytes_max);
    }

    /// Parses a head from the start of `input` and returns how many bytes it took; `None` when it is not complete.
    ///
    /// # Errors
    /// The fault in the head. The content of this head is then undefined until the next one is parsed.
    pub fn parse(&mut self, input: &[u8], answers: Answers, limits: &Limits) -> Result<Option<usize>, Fault> {
        let mut headers = [const { MaybeUninit::<Header<'_>>::uninit() }; HEADERS_CEILING];
        let mut response = httparse::Response::new(&mut []);
        let headers_max = limits.headers_max.min(HEADERS_CEILING);
        let parsed = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut response, input, &mut headers[..headers_max])
            .map_err(explain)?;
        let Status::Complete(length) = parsed else {
            return if input.len() >= limits.head_bytes_max { Err(Fault::HeadTooLarge) } else { Ok(None) };
        };
        if length > limits.head_bytes_max {
            return Err(Fault::HeadTooLarge);
        }
        let (Some(status), Some(version)) = (response.code, response.version) else {
            return Err(Fault::BadStartLine);
        };
        // httparse takes a bare LF after the status and skips empty lines before it.
        let line_end = input.iter().position(|&byte| byte == b'\n').unwrap_or_default();
        if line_end == 0 || input[line_end - 1] != b'\r' || !input.starts_with(b"HTTP/") {
            return Err(Fault::BadLineEnd);
        }
        if !(100..=599).contains(&status) {
            return Err(Fault::BadStartLine);
        }
        self.fields.record(&input[..length], response.headers)?;
        self.status = status;
        self.version = if version == 0 { Version::Http10 } else { Version::Http11 };
        self.take_fields(response.headers, answers)?;
        Ok(Some(length))
    }

    fn take_fields(&mut self, headers: &[Header<'_>], answers: Answers) -> Result<(), Fault> {
        self.content_length = None;
        let mut chunked = false;
        let mut connection = ConnectionOptions::default();
        for header in headers {
            let name = header.name;
            match name.len() {
                10 if name.eq_ignore_ascii_case("connection") => connection.add(header.value),
                14 if name.eq_ignore_ascii_case("content-length") => {
                    if self.content_length.is_some() {
                        return Err(Fault::DuplicateContentLength);
                    }
                    self.content_length = Some(content_length(header.value).ok_or(Fault::BadContentLength)?);
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    if chunked || self.version == Version::Http10 {
                        return Err(Fault::BadTransferEncoding);
                    }
                    transfer_encoding(header.value)?;
                    chunked = true;
                }
                _ => {}
            }
        }
        self.framing = match (self.content_length, chunked) {
            (Some(_), true) => return Err(Fault::LengthWithTransferEncoding),
            _ if answers == Answers::Head || matches!(self.status, 100..=199 | 204 | 304) => Framing::None,
            (None, true) => Framing::Chunked,
            (Some(0), false) => Framing::None,
            (Some(length), false) => Framing::Length(length),
            (None, false) => Framing::UntilClose,
        };
        self.keep_alive = match self.version {
            Version::Http11 => !connection.close,
            Version::Http10 => connection.keep_alive && !connection.close,
        } && self.framing != Framing::UntilClose;
        Ok(())
    }
}

fn explain(error: httparse::Error) -> Fault {
    match error {
        httparse::Error::HeaderName => Fault::BadFieldName,
        httparse::Error::HeaderValue => Fault::BadFieldValue,
        httparse::Error::NewLine => Fault::BadLineEnd,
        httparse::Error::TooManyHeaders => Fault::TooManyHeaders,
        httparse::Error::Version => Fault::UnsupportedVersion,
        httparse::Error::Status | httparse::Error::Token => Fault::BadStartLine,
    }
}
