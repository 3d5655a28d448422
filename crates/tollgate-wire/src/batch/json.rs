//! Batches as JSON (OData V4.01, JSON Format 19): the requests of one and the answers to one are read here, and written
//! in files of their own.
//!
//! Bodies that are JSON stay text: they are handed on as written, unchecked, for their reader. The member `if` is seen,
//! but its value is not read.

mod write;

use std::borrow::Cow;
use std::collections::HashMap;

use super::{BatchError, Condition, Dependency, Request, Response, Step, Unit, is_json, is_text};
use crate::base64;
use crate::syntax::ReadError;
use crate::syntax::json::{Event, Limits, Reader};

pub use write::{RequestWriter, ResponseWriter};

/// The media type.
pub const MEDIA_TYPE: &str = "application/json";

/// Reads the requests of a batch; see [`super::Requests`].
#[derive(Debug)]
pub struct RequestReader<'a> {
    body: &'a [u8],
    array: Array<'a>,
    requests: usize,
    requests_max: usize,
    /// The request or group that each identifier names.
    names: HashMap<Cow<'a, str>, Dependency>,
    groups: usize,
    /// The group that is open.
    group: Option<Cow<'a, str>>,
    /// Whether [`RequestReader::request`] was read and is not yet handed out: groups end and begin before it.
    waiting: bool,
    request: Request<'a>,
    named: Vec<(usize, Cow<'a, str>)>,
}

impl<'a> RequestReader<'a> {
    /// Begins to read. A batch of more than `requests_max` requests is refused when that is found.
    pub fn new(body: &'a [u8], requests_max: usize) -> RequestReader<'a> {
        RequestReader {
            body,
            array: Array::new(body, "requests"),
            requests: 0,
            requests_max,
            names: HashMap::new(),
            groups: 0,
            group: None,
            waiting: false,
            request: Request::default(),
            named: Vec::new(),
        }
    }

    /// Goes on to the next step.
    ///
    /// # Errors
    /// The error in the batch.
    #[allow(clippy::should_implement_trait, reason = "a step lends its request, and the end is a step")]
    pub fn next(&mut self) -> Result<Step, BatchError> {
        if !self.waiting {
            let Some(position) = self.array.next()? else {
                return Ok(if self.group.take().is_some() { Step::GroupEnd } else { Step::End });
            };
            self.take(position)?;
            self.waiting = true;
        }
        if self.group != self.request.group {
            if self.group.take().is_some() {
                return Ok(Step::GroupEnd);
            }
            self.begin_group()?;
            return Ok(Step::GroupBegin);
        }
        // Only here, when the groups before it are closed and its own is begun, can it be said what it depends on.
        self.identify()?;
        self.waiting = false;
        Ok(Step::Request)
    }

    /// The request of the last [`Step::Request`].
    pub fn request(&self) -> &Request<'a> {
        &self.request
    }

    /// Reads the members of a request whose bracket was read.
    fn take(&mut self, position: usize) -> Result<(), BatchError> {
        if self.requests == self.requests_max {
            return Err(BatchError::too_many(position, "requests", self.requests_max));
        }
        let request = &mut self.request;
        request.index = self.requests;
        request.position = position;
        request.headers.clear();
        request.group = None;
        request.condition = Condition::Absent;
        self.named.clear();
        self.requests += 1;
        let reader = &mut self.array.reader;
        let mut body = None;
        let (mut id, mut method, mut url) = (None, None, None);
        let mut seen = Seen::default();
        while let Some((name, at)) = member(reader)? {
            match name.as_ref() {
                "id" => id = Some(seen.text(reader, OnceMember::Id, at)?),
                "method" => method = Some(seen.text(reader, OnceMember::Method, at)?),
                "url" => url = Some(seen.text(reader, OnceMember::Url, at)?),
                "atomicityGroup" => request.group = Some(seen.text(reader, OnceMember::Group, at)?),
                "dependsOn" => {
                    seen.once(OnceMember::DependsOn, at)?;
                    read_names(reader, &mut self.named)?;
                }
                "if" => {
                    seen.once(OnceMember::If, at)?;
                    reader.skip_value()?;
                    request.condition = Condition::Present;
                }
                "headers" => {
                    seen.once(OnceMember::Headers, at)?;
                    read_headers(reader, &mut request.headers)?;
                }
                "body" => {
                    seen.once(OnceMember::Body, at)?;
                    body = Some(raw_value(self.body, reader)?);
                }
                // An annotation, of the request or of one of its members.
                name if name.contains('@') => reader.skip_value()?,
                name => return Err(BatchError::malformed(at, format!("a request has no member {name:?}"))),
            }
        }
        let missing = |name: &str| BatchError::malformed(position, format!("a request has no {name:?}"));
        request.id = Some(id.ok_or_else(|| missing("id"))?);
        for name in request.id.iter().chain(&request.group) {
            // They may come back as headers; a rule that is wider than `request-id` of the ABNF.
            if name.is_empty() || name.chars().any(|character| character.is_control() || character == ' ') {
                return Err(BatchError::malformed(position, format!("{name:?} cannot name a request or a group")));
            }
        }
        request.method = method.ok_or_else(|| missing("method"))?;
        request.target = url.ok_or_else(|| missing("url"))?;
        let media_type = request.header("content-type");
        request.body = match body {
            Some((raw, at)) => decode_body(raw, media_type, at)?,
            None => Cow::Borrowed(&[]),
        };
        Ok(())
    }

    fn begin_group(&mut self) -> Result<(), BatchError> {
        self.group.clone_from(&self.request.group);
        let Some(name) = &self.group else { return Ok(()) };
        let message = match self.names.insert(name.clone(), Dependency::Group(self.groups)) {
            None if self.request.id.as_ref() != Some(name) => {
                self.groups += 1;
                return Ok(());
            }
            Some(Dependency::Group(_)) => format!("the requests of the group {name:?} do not stand together"),
            None | Some(Dependency::Request(_)) => format!("{name:?} names a group and a request"),
        };
        Err(BatchError::malformed(self.request.position, message))
    }

    /// Looks up what the request depends on, then makes it known itself.
    fn identify(&mut self) -> Result<(), BatchError> {
        self.request.depends_on.clear();
        for (at, name) in &self.named {
            match self.names.get(name) {
                Some(found) if self.group.as_ref() != Some(name) => self.request.depends_on.push(*found),
                Some(_) => return Err(BatchError::malformed(*at, format!("it depends on its own group {name:?}"))),
                None => {
                    let message = format!("it depends on {name:?}, which stands not before it");
                    return Err(BatchError::malformed(*at, message));
                }
            }
        }
        let Some(id) = &self.request.id else { return Ok(()) };
        match self.names.insert(id.clone(), Dependency::Request(self.request.index)) {
            None => Ok(()),
            Some(Dependency::Request(_)) => {
                Err(BatchError::malformed(self.request.position, format!("the id {id:?} stands there twice")))
            }
            Some(Dependency::Group(_)) => {
                Err(BatchError::malformed(self.request.position, format!("{id:?} names a group and a request")))
            }
        }
    }
}

/// Reads the answers in the body of a batch's answer, in their order.
pub fn responses(body: &[u8]) -> Responses<'_> {
    Responses { body, array: Array::new(body, "responses"), failed: false }
}

/// The answers of a batch; see [`responses`].
#[derive(Debug)]
pub struct Responses<'a> {
    body: &'a [u8],
    array: Array<'a>,
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
        let Some(position) = self.array.next()? else { return Ok(None) };
        let reader = &mut self.array.reader;
        let (mut id, mut status, mut group, mut body) = (None, None, None, &[][..]);
        let mut seen = Seen::default();
        while let Some((name, at)) = member(reader)? {
            match name.as_ref() {
                "id" => id = Some(seen.text(reader, OnceMember::Id, at)?),
                "atomicityGroup" => group = Some(seen.text(reader, OnceMember::Group, at)?),
                "status" => {
                    status = match reader.next()? {
                        Event::Number(number) => number.parse().ok().filter(|status| (100..600).contains(status)),
                        _ => None,
                    }
                }
                "body" => {
                    let raw = raw_value(self.body, reader)?.0;
                    body = if raw == b"null" { &[] } else { raw };
                }
                _ => reader.skip_value()?,
            }
        }
        let status = status.ok_or_else(|| BatchError::malformed(position, "an answer has no right \"status\""))?;
        let unit = group.map_or(Unit::Single, Unit::Group);
        Ok(Some(Response { id, status, body, unit }))
    }
}

/// The array of objects that a batch is: the member `name` of one object, among annotations.
#[derive(Debug)]
struct Array<'a> {
    reader: Reader<'a>,
    name: &'static str,
    place: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Before,
    Inside,
    Behind,
}

impl<'a> Array<'a> {
    fn new(body: &'a [u8], name: &'static str) -> Array<'a> {
        let limits = Limits { bytes_max: body.len(), ..Limits::default() };
        let reader = Reader::new(body, limits).expect("a body is as long as it is");
        Array { reader, name, place: Progress::Before }
    }

    /// The offset of the next object, its bracket read; `None` at the end of the document.
    fn next(&mut self) -> Result<Option<usize>, BatchError> {
        if self.place == Progress::Before {
            if self.reader.next()? != Event::ObjectBegin {
                return Err(BatchError::malformed(0, "a batch is an object"));
            }
            if !self.member()? {
                let message = format!("the batch has no {:?}", self.name);
                return Err(BatchError::malformed(self.reader.position(), message));
            }
            self.place = Progress::Inside;
        }
        if self.place == Progress::Inside {
            match self.reader.next()? {
                Event::ObjectBegin => return Ok(Some(self.reader.position() - 1)),
                Event::ArrayEnd => {}
                _ => {
                    let message = format!("{:?} holds something else than objects", self.name);
                    return Err(BatchError::malformed(self.reader.position(), message));
                }
            }
            if self.member()? {
                let message = format!("{:?} stands there twice", self.name);
                return Err(BatchError::malformed(self.reader.position(), message));
            }
            if self.reader.next()? != Event::End {
                return Err(BatchError::malformed(self.reader.position(), "the document goes on behind the batch"));
            }
            self.place = Progress::Behind;
        }
        Ok(None)
    }

    /// Goes on to the array, beyond the bracket; false at the end of the object.
    fn member(&mut self) -> Result<bool, BatchError> {
        while let Some((name, at)) = member(&mut self.reader)? {
            if name == self.name {
                return match self.reader.next()? {
                    Event::ArrayBegin => Ok(true),
                    _ => Err(BatchError::malformed(at, format!("{name:?} must be an array"))),
                };
            }
            if !name.contains('@') {
                return Err(BatchError::malformed(at, format!("a batch has no member {name:?}")));
            }
            self.reader.skip_value()?;
        }
        Ok(false)
    }
}

/// The members that a request or an answer has at most once.
#[derive(Debug, Clone, Copy)]
enum OnceMember {
    Id,
    Method,
    Url,
    Group,
    DependsOn,
    If,
    Headers,
    Body,
}

/// The members that were seen: one bit for each.
#[derive(Debug, Default)]
struct Seen(u8);

impl Seen {
    fn once(&mut self, member: OnceMember, at: usize) -> Result<(), BatchError> {
        let bit = 1 << member as u8;
        if self.0 & bit != 0 {
            return Err(BatchError::malformed(at, "the member stands there twice"));
        }
        self.0 |= bit;
        Ok(())
    }

    fn text<'a>(&mut self, reader: &mut Reader<'a>, member: OnceMember, at: usize) -> Result<Cow<'a, str>, BatchError> {
        self.once(member, at)?;
        text(reader)
    }
}

/// The next member's name and place; `None` at the end of the object.
fn member<'a>(reader: &mut Reader<'a>) -> Result<Option<(Cow<'a, str>, usize)>, BatchError> {
    let at = reader.position();
    match reader.next()? {
        Event::Name(name) => Ok(Some((name, at))),
        // Inside an object there are but names and the end.
        _ => Ok(None),
    }
}

fn text<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, str>, BatchError> {
    let at = reader.position();
    match reader.next()? {
        Event::Text(text) => Ok(text),
        _ => Err(BatchError::malformed(at, "expected a string")),
    }
}

fn read_names<'a>(reader: &mut Reader<'a>, names: &mut Vec<(usize, Cow<'a, str>)>) -> Result<(), BatchError> {
    let at = reader.position();
    if reader.next()? != Event::ArrayBegin {
        return Err(BatchError::malformed(at, "\"dependsOn\" must be an array"));
    }
    loop {
        let at = reader.position();
        match reader.next()? {
            Event::Text(name) => names.push((at, name)),
            Event::ArrayEnd => return Ok(()),
            _ => return Err(BatchError::malformed(at, "\"dependsOn\" must hold strings")),
        }
    }
}

fn read_headers<'a>(
    reader: &mut Reader<'a>,
    headers: &mut Vec<(Cow<'a, str>, Cow<'a, str>)>,
) -> Result<(), BatchError> {
    let at = reader.position();
    if reader.next()? != Event::ObjectBegin {
        return Err(BatchError::malformed(at, "\"headers\" must be an object"));
    }
    while let Some((name, at)) = member(reader)? {
        let value = text(reader)?;
        if headers.iter().any(|header| header.0.eq_ignore_ascii_case(&name)) {
            return Err(BatchError::malformed(at, format!("the header {name:?} stands there twice")));
        }
        headers.push((name, value));
    }
    Ok(())
}

/// The next value as raw text, and its place.
fn raw_value<'a>(body: &'a [u8], reader: &mut Reader<'a>) -> Result<(&'a [u8], usize), BatchError> {
    let start = reader.position();
    reader.skip_value()?;
    let raw = &body[start..reader.position()];
    let space = raw.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    Ok((&raw[space..], start + space))
}

/// Decodes a body by its media type (JSON Format 19.1).
fn decode_body<'a>(raw: &'a [u8], media_type: Option<&str>, at: usize) -> Result<Cow<'a, [u8]>, BatchError> {
    if raw == b"null" {
        return Ok(Cow::Borrowed(&[]));
    }
    let media_type = media_type.unwrap_or(MEDIA_TYPE);
    if is_json(media_type) {
        return Ok(Cow::Borrowed(raw));
    }
    let fault = |message: String| BatchError::malformed(at, message);
    let mut reader = Reader::new(raw, Limits { bytes_max: raw.len(), ..Limits::default() })?;
    let Ok(Event::Text(text)) = reader.next() else {
        return Err(fault(format!("a body of type {media_type:?} must be a string")));
    };
    if !is_text(media_type) {
        let decoded = base64::decode(&text);
        return decoded.map(Cow::Owned).ok_or_else(|| fault(format!("a body of type {media_type:?} is no base64url")));
    }
    Ok(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    })
}

impl From<ReadError> for BatchError {
    fn from(error: ReadError) -> BatchError {
        BatchError::malformed(error.position, error.message)
    }
}
