//! The head of a request: parsing it with every check that strict framing asks for, and reading it.
//!
//! What the target means is for others; it is only checked to be one.

use std::mem::MaybeUninit;

use httparse::{Header, Status};

use super::super::body::Framing;
use super::super::chunked::is_token_byte;
use super::super::error::Fault;
use super::fields::{ConnectionOptions, Fields, FieldsIter, Line, content_length, offset_in, transfer_encoding};
use super::salvage::salvage;
use super::{Method, Version, is_authority};
use crate::limits::{HEADERS_CEILING, Limits};

/// Empty lines that may stand before a request line (RFC 9112 section 2.2), left over from a sloppy client's body.
const LEADING_LINES_MAX: usize = 2;

/// The head of a request.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    fields: Fields,
    method: Method,
    version: Version,
    method_span: Span,
    target_span: Span,
    /// Where `?` stands, counted in the head; the target's end where there is none.
    query_start: u32,
    host_span: Option<Span>,
    framing: Framing,
    keep_alive: bool,
    expects_continue: bool,
}

/// A part of the head's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl RequestHead {
    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The method as it came.
    #[must_use]
    pub fn method_text(&self) -> &str {
        self.text(self.method_span)
    }

    /// The target in origin form (path and query), or `*`. Visible ASCII without `#`, still percent-encoded.
    #[must_use]
    pub fn target(&self) -> &str {
        self.text(self.target_span)
    }

    /// The target before its `?`.
    #[must_use]
    pub fn path(&self) -> &str {
        self.text(Span { start: self.target_span.start, end: self.query_start })
    }

    /// The target behind its first `?`.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        (self.query_start < self.target_span.end)
            .then(|| self.text(Span { start: self.query_start + 1, end: self.target_span.end }))
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The host with its port if one was given: of an absolute target, else of the `Host` field. `None` only in
    /// HTTP/1.0.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.host_span.map(|span| self.text(span))
    }

    /// The first field of that name, in any case, if its value is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.fields.text(name)
    }

    /// The values of all fields of that name, in any case, that are text: for fields that hold a list, which may stand
    /// on several lines.
    pub fn values<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> + Clone + use<'f> {
        self.fields.texts(name)
    }

    /// The value of the field at `index` among those of that name, in any case, that are text.
    #[must_use]
    pub fn nth_value(&self, name: &str, index: usize) -> Option<&str> {
        self.fields.nth_text(name, index)
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

    /// Forgets all fields of these names, in any case. What was understood of them when they were parsed stays so.
    pub(crate) fn remove_fields(&mut self, names: &[&str]) {
        self.fields.remove(names);
    }

    /// How the body is delimited.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether the client wants to go on using the connection.
    #[must_use]
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    #[must_use]
    pub fn expects_continue(&self) -> bool {
        self.expects_continue
    }

    /// Parses a head from the start of `input` and returns how many bytes it took; `None` when it is not complete.
    ///
    /// The outcome is the same for every split of the bytes, but for a head with several faults: then it is one of
    /// them.
    ///
    /// # Errors
    /// The fault in the head. What this head holds is then undefined until the next one is parsed.
    pub fn parse(&mut self, input: &[u8], limits: &Limits) -> Result<Option<usize>, Fault> {
        let lead = leading_lines(input)?;
        let head = &input[lead..];
        let mut headers = [const { MaybeUninit::<Header<'_>>::uninit() }; HEADERS_CEILING];
        let mut request = httparse::Request::new(&mut []);
        let headers_max = limits.headers_max.min(HEADERS_CEILING);
        let parsed = match request.parse_with_uninit_headers(head, &mut headers[..headers_max]) {
            Ok(parsed) => parsed,
            Err(error) => return Err(explain(error, head, limits)),
        };
        let Status::Complete(length) = parsed else {
            return incomplete(head, limits).map_or(Ok(None), Err);
        };
        let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
            return Err(Fault::BadStartLine);
        };
        if target.len() > limits.target_bytes_max {
            return Err(Fault::TargetTooLong);
        }
        if length > limits.head_bytes_max {
            return Err(Fault::HeadTooLarge);
        }
        let head = &head[..length];
        // The line end after the version; the fields check those before them.
        let version_end = offset_in(head, target.as_bytes()) + target.len() + " HTTP/1.1".len();
        if head[version_end..version_end + 2] != *b"\r\n" {
            return Err(Fault::BadLineEnd);
        }
        self.fields.record(head, request.headers)?;
        self.method = Method::from_text(method);
        self.version = if version == 0 { Version::Http10 } else { Version::Http11 };
        self.method_span = Span { start: 0, end: method.len() as u32 };
        self.take_fields(head, request.headers)?;
        self.take_target(offset_in(head, target.as_bytes()), target)?;
        Ok(Some(lead + length))
    }

    /// Writes the head again, from what was understood of it: the target in origin form, the host in its field.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.method_text().as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.target().as_bytes());
        out.extend_from_slice(match self.version {
            Version::Http10 => b" HTTP/1.0\r\n",
            Version::Http11 => b" HTTP/1.1\r\n",
        });
        // An absolute target overrules the field (RFC 9112 section 3.2.2), and HTTP/1.0 may have had none.
        if let Some(host) = self.host() {
            out.extend_from_slice(b"Host: ");
            out.extend_from_slice(host.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        for (name, value) in self.headers().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Makes it the head of nothing: an empty GET without fields.
    pub(crate) fn clear(&mut self) {
        let fields = std::mem::take(&mut self.fields);
        *self = RequestHead { fields, ..RequestHead::default() };
        self.fields.clear();
    }

    /// Makes it what can still be read of a head that is refused, and says whether that is at least a request line. The
    /// framing is that of a request without a body, after which the connection ends.
    pub(crate) fn salvage(&mut self, input: &[u8], limits: &Limits) -> bool {
        self.clear();
        let Some(line) = salvage(&mut self.fields, input, limits) else { return false };
        self.method_span = line.method;
        self.target_span = line.target;
        self.query_start = line.query_start;
        self.method = Method::from_text(self.text(line.method));
        true
    }

    /// Gives back memory beyond `bytes_max`.
    pub(crate) fn shrink(&mut self, bytes_max: usize) {
        self.fields.shrink(bytes_max);
    }

    /// Reads the fields that concern framing and the connection.
    fn take_fields(&mut self, head: &[u8], headers: &[Header<'_>]) -> Result<(), Fault> {
        let mut length = None;
        let mut chunked = false;
        let mut host = None;
        let mut connection = ConnectionOptions::default();
        self.expects_continue = false;
        for header in headers {
            let name = header.name;
            // By length first: most fields concern none of these.
            match name.len() {
                4 if name.eq_ignore_ascii_case("host") => {
                    if host.is_some() {
                        return Err(Fault::DuplicateHost);
                    }
                    if !is_authority(header.value) {
                        return Err(Fault::BadHost);
                    }
                    let start = offset_in(head, header.value) as u32;
                    host = Some(Span { start, end: start + header.value.len() as u32 });
                }
                6 if name.eq_ignore_ascii_case("expect") => {
                    if !header.value.eq_ignore_ascii_case(b"100-continue") {
                        return Err(Fault::UnsupportedExpectation);
                    }
                    // RFC 9110 section 10.1.1: in HTTP/1.0 it is ignored.
                    self.expects_continue = self.version == Version::Http11;
                }
                10 if name.eq_ignore_ascii_case("connection") => connection.add(header.value),
                14 if name.eq_ignore_ascii_case("content-length") => {
                    if length.is_some() {
                        return Err(Fault::DuplicateContentLength);
                    }
                    length = Some(content_length(header.value).ok_or(Fault::BadContentLength)?);
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    // RFC 9112 section 6.1: HTTP/1.0 knows no transfer codings.
                    if chunked || self.version == Version::Http10 {
                        return Err(Fault::BadTransferEncoding);
                    }
                    transfer_encoding(header.value)?;
                    chunked = true;
                }
                _ => {}
            }
        }
        self.framing = match (length, chunked) {
            (Some(_), true) => return Err(Fault::LengthWithTransferEncoding),
            (None, true) => Framing::Chunked,
            (None | Some(0), false) => Framing::None,
            (Some(length), false) => Framing::Length(length),
        };
        self.expects_continue &= self.framing != Framing::None;
        self.host_span = host;
        if host.is_none() && self.version == Version::Http11 {
            return Err(Fault::MissingHost);
        }
        self.keep_alive = match self.version {
            Version::Http11 => !connection.close,
            Version::Http10 => connection.keep_alive && !connection.close,
        };
        Ok(())
    }

    /// Checks the target and brings it into origin form (RFC 9112 section 3.2).
    fn take_target(&mut self, start: usize, target: &str) -> Result<(), Fault> {
        let bytes = target.as_bytes();
        let mut query = bytes.len();
        for (index, &byte) in bytes.iter().enumerate() {
            match byte {
                b'?' => query = query.min(index),
                b'#' => return Err(Fault::BadTarget),
                0x21..=0x7e => {}
                _ => return Err(Fault::BadTarget),
            }
        }
        if self.method == Method::Other && self.method_text() == "CONNECT" {
            return Err(Fault::UnsupportedMethod);
        }
        match bytes {
            [b'/', ..] => {}
            b"*" if self.method == Method::Options => {}
            _ => return self.take_absolute_target(start, target),
        }
        self.set_target(start as u32, bytes.len(), query);
        Ok(())
    }

    fn take_absolute_target(&mut self, start: usize, target: &str) -> Result<(), Fault> {
        let bytes = target.as_bytes();
        let scheme = ["http://", "https://"]
            .iter()
            .find(|scheme| bytes.len() > scheme.len() && bytes[..scheme.len()].eq_ignore_ascii_case(scheme.as_bytes()))
            .ok_or(Fault::BadTarget)?;
        let rest = &bytes[scheme.len()..];
        let authority_length = rest.iter().position(|&byte| byte == b'/' || byte == b'?').unwrap_or(rest.len());
        let (authority, origin) = rest.split_at(authority_length);
        if !is_authority(authority) {
            return Err(Fault::BadHost);
        }
        let authority_start = (start + scheme.len()) as u32;
        self.host_span = Some(Span { start: authority_start, end: authority_start + authority_length as u32 });
        let query = |text: &[u8]| text.iter().position(|&byte| byte == b'?').unwrap_or(text.len());
        if origin.first() == Some(&b'/') {
            self.set_target(authority_start + authority_length as u32, origin.len(), query(origin));
        } else {
            // An empty path is the root; it is not in the head, so it is put behind it.
            let target_start = self.fields.append(b"/");
            self.fields.append(origin);
            self.set_target(target_start, origin.len() + 1, query(origin) + 1);
        }
        Ok(())
    }

    fn set_target(&mut self, start: u32, length: usize, query: usize) {
        self.target_span = Span { start, end: start + length as u32 };
        self.query_start = start + query as u32;
    }

    fn text(&self, span: Span) -> &str {
        let bytes = &self.fields.bytes()[span.start as usize..span.end as usize];
        std::str::from_utf8(bytes).expect("methods, targets and hosts were checked to be ASCII")
    }
}

/// How many bytes of empty lines stand before the request line.
fn leading_lines(input: &[u8]) -> Result<usize, Fault> {
    let mut lead = 0;
    while let [b'\r' | b'\n', ..] = input[lead..] {
        match input[lead..] {
            [b'\r'] => return Ok(lead),
            [b'\r', b'\n', ..] if lead < 2 * LEADING_LINES_MAX => lead += 2,
            _ => return Err(Fault::BadStartLine),
        }
    }
    Ok(lead)
}

/// Why an incomplete head can never become one within the limits.
fn incomplete(head: &[u8], limits: &Limits) -> Option<Fault> {
    if target_too_long(head, limits) {
        Some(Fault::TargetTooLong)
    } else if head.len() >= limits.head_bytes_max {
        Some(Fault::HeadTooLarge)
    } else {
        None
    }
}

fn target_too_long(head: &[u8], limits: &Limits) -> bool {
    first_line(head).split(|&byte| byte == b' ').nth(1).is_some_and(|target| target.len() > limits.target_bytes_max)
}

fn explain(error: httparse::Error, head: &[u8], limits: &Limits) -> Fault {
    if target_too_long(head, limits) {
        return Fault::TargetTooLong;
    }
    match error {
        httparse::Error::HeaderName => Fault::BadFieldName,
        httparse::Error::HeaderValue => Fault::BadFieldValue,
        httparse::Error::NewLine => Fault::BadLineEnd,
        httparse::Error::TooManyHeaders => Fault::TooManyHeaders,
        httparse::Error::Version if names_other_version(head) => Fault::UnsupportedVersion,
        httparse::Error::Status | httparse::Error::Token | httparse::Error::Version => start_line_fault(head),
    }
}

/// Whether the request line is well formed but for naming a version that is none of ours.
fn names_other_version(head: &[u8]) -> bool {
    let mut parts = first_line(head).split(|&byte| byte == b' ').skip(2);
    let version = parts.next().and_then(|part| part.strip_prefix(b"HTTP/")).unwrap_or_default();
    let is_number = version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    version.first().is_some_and(u8::is_ascii_digit) && is_number && parts.next().is_none()
}

/// Whether the method was fine and the target was not.
fn start_line_fault(head: &[u8]) -> Fault {
    let mut parts = first_line(head).split(|&byte| byte == b' ');
    let method = parts.next().unwrap_or_default();
    let target = parts.next().unwrap_or_default();
    let is_method = !method.is_empty() && method.iter().all(|&byte| is_token_byte(byte));
    if is_method && target.iter().any(|byte| !(0x21..=0x7e).contains(byte)) {
        Fault::BadTarget
    } else {
        Fault::BadStartLine
    }
}

/// The request line, as far as it has come.
fn first_line(head: &[u8]) -> &[u8] {
    head.split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default()
}
