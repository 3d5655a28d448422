//! Batches as `multipart/mixed` (RFC 2046; OData V2; V4 Protocol 11.7.7): the requests of one and the answers to one are
//! read here, and written in files of their own.
//!
//! The delimiter alone decides where a part ends, as RFC 2046 has it. Lines end with CRLF or with LF; preamble and
//! epilogue are skipped; only change sets are nested, and not in each other.

mod framing;
mod write;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::{BatchError, Request, Response, Step, Unit};
use framing::{Head, Parts, line};

pub use framing::boundary;
pub use write::{RequestWriter, ResponseWriter};

/// The media type, without its boundary.
pub const MEDIA_TYPE: &str = "multipart/mixed";

/// Reads the requests of a batch; see [`super::Requests`].
#[derive(Debug)]
pub struct RequestReader<'a> {
    body: &'a [u8],
    parts: Parts<'a>,
    change_set: Option<Parts<'a>>,
    change_sets: usize,
    requests: usize,
    requests_max: usize,
    /// Identifiers of the change set, or of the requests outside of all.
    ids: HashSet<Cow<'a, str>>,
    request: Request<'a>,
}

impl<'a> RequestReader<'a> {
    /// Begins to read a body whose Content-Type has this boundary. A batch of more than `requests_max` requests, or change
    /// sets, is refused when that is found.
    pub fn new(body: &'a [u8], boundary: &str, requests_max: usize) -> RequestReader<'a> {
        RequestReader {
            body,
            parts: Parts::new(body, 0..body.len(), boundary),
            change_set: None,
            change_sets: 0,
            requests: 0,
            requests_max,
            ids: HashSet::new(),
            request: Request::default(),
        }
    }

    /// Goes on to the next step.
    ///
    /// # Errors
    /// The error in the batch.
    #[allow(clippy::should_implement_trait, reason = "a step lends its request, and the end is a step")]
    pub fn next(&mut self) -> Result<Step, BatchError> {
        if let Some(change_set) = &mut self.change_set {
            let Some(part) = change_set.next()? else {
                self.change_set = None;
                self.ids.clear();
                return Ok(Step::GroupEnd);
            };
            return match Opened::of(self.body, part)? {
                Opened::Http(content, id) => self.take(content, id),
                Opened::Multipart(content, _) => {
                    Err(BatchError::malformed(content.start, "a change set cannot stand in a change set"))
                }
            };
        }
        let Some(part) = self.parts.next()? else { return Ok(Step::End) };
        match Opened::of(self.body, part)? {
            Opened::Http(content, id) => self.take(content, id),
            Opened::Multipart(content, boundary) => {
                if self.change_sets == self.requests_max {
                    return Err(BatchError::too_many(content.start, "change sets", self.requests_max));
                }
                self.change_sets += 1;
                self.change_set = Some(Parts::new(self.body, content, boundary));
                self.ids.clear();
                Ok(Step::GroupBegin)
            }
        }
    }

    /// The request of the last [`Step::Request`].
    pub fn request(&self) -> &Request<'a> {
        &self.request
    }

    /// Reads the request in `content`: request line, headers, blank line, body.
    fn take(&mut self, content: Range<usize>, id: Option<&'a str>) -> Result<Step, BatchError> {
        if self.requests == self.requests_max {
            return Err(BatchError::too_many(content.start, "requests", self.requests_max));
        }
        let request = &mut self.request;
        request.index = self.requests;
        request.position = content.start;
        self.requests += 1;
        let (first, next) = line(self.body, content.start, content.end);
        (request.method, request.target) = request_line(first, content.start)?;
        request.headers.clear();
        let mut length = None;
        let mut inner_id = None;
        let mut head = Head::new(self.body, next, content.end);
        while let Some((name, value)) = head.next()? {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().ok();
            } else if name.eq_ignore_ascii_case("content-id") {
                inner_id = Some(value);
            }
            request.headers.push((Cow::Borrowed(name), Cow::Borrowed(value)));
        }
        request.body = Cow::Borrowed(sized(self.body, head.position().min(content.end)..content.end, length)?);
        request.id = id.or(inner_id).map(Cow::Borrowed);
        if let Some(id) = &request.id
            && !self.ids.insert(id.clone())
        {
            return Err(BatchError::malformed(content.start, format!("the Content-ID {id:?} stands there twice")));
        }
        Ok(Step::Request)
    }
}

/// Reads the answers in the body of a batch's answer whose Content-Type has this boundary, in their order, those in
/// change sets among them.
pub fn responses<'a>(body: &'a [u8], boundary: &str) -> Responses<'a> {
    Responses {
        body,
        parts: Parts::new(body, 0..body.len(), boundary),
        change_set: None,
        change_sets: 0,
        failed: false,
    }
}

/// The answers of a batch; see [`responses`].
#[derive(Debug)]
pub struct Responses<'a> {
    body: &'a [u8],
    parts: Parts<'a>,
    change_set: Option<Parts<'a>>,
    change_sets: usize,
    failed: bool,
}

impl<'a> Iterator for Responses<'a> {
    type Item = Result<Response<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let taken = self.take().transpose();
        self.failed = matches!(taken, Some(Err(_)));
        taken
    }
}

impl<'a> Responses<'a> {
    fn take(&mut self) -> Result<Option<Response<'a>>, BatchError> {
        loop {
            let (part, unit) = match &mut self.change_set {
                Some(change_set) => match change_set.next()? {
                    Some(part) => (part, Unit::ChangeSet(self.change_sets - 1)),
                    None => {
                        self.change_set = None;
                        continue;
                    }
                },
                None => match self.parts.next()? {
                    Some(part) => (part, Unit::Single),
                    None => return Ok(None),
                },
            };
            match (Opened::of(self.body, part)?, unit) {
                (Opened::Http(content, id), unit) => return self.response(content, id, unit).map(Some),
                (Opened::Multipart(content, boundary), Unit::Single) => {
                    self.change_sets += 1;
                    self.change_set = Some(Parts::new(self.body, content, boundary));
                }
                (Opened::Multipart(content, _), _) => {
                    return Err(BatchError::malformed(content.start, "a change set cannot stand in a change set"));
                }
            }
        }
    }

    fn response(&self, content: Range<usize>, id: Option<&'a str>, unit: Unit<'a>) -> Result<Response<'a>, BatchError> {
        let (first, next) = line(self.body, content.start, content.end);
        let status = status_line(first).ok_or_else(|| {
            BatchError::malformed(content.start, format!("expected a status line, not {:?}", shown(first)))
        })?;
        let mut length = None;
        let mut inner_id = None;
        let mut head = Head::new(self.body, next, content.end);
        while let Some((name, value)) = head.next()? {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().ok();
            } else if name.eq_ignore_ascii_case("content-id") {
                inner_id = Some(value);
            }
        }
        let body = sized(self.body, head.position().min(content.end)..content.end, length)?;
        Ok(Response { id: id.or(inner_id).map(Cow::Borrowed), status, body, unit })
    }
}

/// A part behind its own headers: its content, and what they say of it.
enum Opened<'a> {
    Http(Range<usize>, Option<&'a str>),
    Multipart(Range<usize>, &'a str),
}

impl<'a> Opened<'a> {
    fn of(body: &'a [u8], part: Range<usize>) -> Result<Opened<'a>, BatchError> {
        let mut id = None;
        let mut media_type = None;
        let mut head = Head::new(body, part.start, part.end);
        while let Some((name, value)) = head.next()? {
            if name.eq_ignore_ascii_case("content-type") {
                media_type = Some(value);
            } else if name.eq_ignore_ascii_case("content-id") {
                id = Some(value);
            } else if name.eq_ignore_ascii_case("content-transfer-encoding")
                && !["binary", "8bit", "7bit"].iter().any(|known| value.eq_ignore_ascii_case(known))
            {
                let message = format!("a part is encoded as {value:?}, only binary is read");
                return Err(BatchError::malformed(part.start, message));
            }
        }
        let content = head.position().min(part.end)..part.end;
        let media_type = media_type.unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/http") {
            return Ok(Opened::Http(content, id));
        }
        if essence.eq_ignore_ascii_case(MEDIA_TYPE) {
            return match boundary(media_type) {
                Some(boundary) => Ok(Opened::Multipart(content, boundary)),
                None => {
                    Err(BatchError::malformed(part.start, "a change set has no right boundary in its Content-Type"))
                }
            };
        }
        let message = format!("a part must be application/http or {MEDIA_TYPE}, not {media_type:?}");
        Err(BatchError::malformed(part.start, message))
    }
}

/// `GET Flights(1) HTTP/1.1`; an example of the specification has no version.
fn request_line(line: &[u8], position: usize) -> Result<(Cow<'_, str>, Cow<'_, str>), BatchError> {
    let read = || {
        let text = std::str::from_utf8(line).ok()?.trim_end();
        let (method, rest) = text.split_once(' ')?;
        let target = match rest.rsplit_once(' ') {
            Some((target, version)) if version.starts_with("HTTP/") => target.trim_end(),
            _ => rest,
        };
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        let is_target = !target.is_empty() && !target.bytes().any(|byte| byte <= b' ' || byte == 0x7f);
        (is_method && is_target).then_some((Cow::Borrowed(method), Cow::Borrowed(target)))
    };
    read().ok_or_else(|| BatchError::malformed(position, format!("expected a request line, not {:?}", shown(line))))
}

fn status_line(line: &[u8]) -> Option<u16> {
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    words.next()?.strip_prefix("HTTP/")?;
    words.next()?.parse().ok().filter(|status| (100..600).contains(status))
}

/// The body in `range`. Line ends behind the declared length belong to nobody. A shorter length is not believed, since
/// clients count characters for bytes. A longer one means that something is missing, unless it counts characters beyond
/// U+FFFF as UI5 does.
fn sized(body: &[u8], range: Range<usize>, length: Option<usize>) -> Result<&[u8], BatchError> {
    let content = &body[range.clone()];
    let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    match length {
        Some(length) if length > content.len() && length != surrogate_length(content) => {
            let message = format!("Content-Length says {length} bytes, but only {} stand there", content.len());
            Err(BatchError::malformed(range.start, message))
        }
        Some(length) if content.get(length..).is_some_and(|rest| rest.iter().all(is_line_end)) => {
            Ok(&content[..length])
        }
        // The line that ends a body which is none.
        None if content.iter().all(is_line_end) => Ok(&[]),
        _ => Ok(content),
    }
}

/// Length of UTF-8 if each half of a surrogate pair took three bytes: what OpenUI5's V2 model (datajs) says.
fn surrogate_length(content: &[u8]) -> usize {
    let pairs = content.iter().filter(|byte| **byte >= 0xf0).count();
    content.len() + 2 * pairs
}

/// The part of a line that a message quotes.
fn shown(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&line[..line.len().min(60)])
}
