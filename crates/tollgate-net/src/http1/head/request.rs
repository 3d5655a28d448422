//! The head of a request: parsing it with every check that strict framing asks for, and reading it.
//!
//! The meaning of the target is for others; only its syntax is checked.

use std::mem::MaybeUninit;

use httparse::{Header, Status};

use super::super::body::Framing;
use super::super::chunked::is_token_byte;
use super::super::error::Fault;
use super::authority::authority;
use super::fields::{ConnectionOptions, Fields, FieldsIter, Line, content_length, offset_in, transfer_encoding};
use super::salvage::salvage;
use super::{Method, Version};
use crate::limits::{HEADERS_CEILING, Limits};

/// Most empty lines before a request line (RFC 9112 section 2.2), left over from a sloppy client's body.
const LEADING_LINES_MAX: usize = 2;

/// The head of a request.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    fields: Fields,
    method: Method,
    version: Version,
    /// Method, target in origin form and host, one behind the other: as text, since they are read again and again.
    texts: String,
    method_end: u32,
    /// The place of `?`, counted in the texts; the target's end if there is none.
    query_start: u32,
    target_end: u32,
    has_host: bool,
    framing: Framing,
    keep_alive: bool,
    expects_continue: bool,
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
        &self.texts[..self.method_end as usize]
    }

    /// The target in origin form (path and query), or `*`. Visible ASCII without `#`, still percent-encoded.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.texts[self.method_end as usize..self.target_end as usize]
    }

    /// The target before its `?`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.texts[self.method_end as usize..self.query_start as usize]
    }

    /// The target behind its first `?`.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        (self.query_start < self.target_end)
            .then(|| &self.texts[self.query_start as usize + 1..self.target_end as usize])
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
        self.has_host.then(|| &self.texts[self.target_end as usize..])
    }

    /// The first field of that name, in any case, if its value is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.fields.text(name)
    }

    /// The values of all fields of that name, in any case, that are text: for fields with a list, which may span
    /// several lines.
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

    /// Forgets all fields of these names, in any case. Their effects at parsing, such as the framing, stay.
    pub(crate) fn remove_fields(&mut self, names: &[&str]) {
        self.fields.remove(names);
    }

    /// The delimiter of the body.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether the client wants to reuse the connection.
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
    /// The outcome is the same for every split of the bytes, except for a head with several faults: then it is one of
    /// them.
    ///
    /// # Errors
    /// The fault in the head. The content of this head is then undefined until the next one is parsed.
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
        let host = self.take_fields(request.headers)?;
        self.take_target(method, target, host)?;
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
        let (fields, texts) = (std::mem::take(&mut self.fields), std::mem::take(&mut self.texts));
        *self = RequestHead { fields, texts, ..RequestHead::default() };
        self.fields.clear();
        self.texts.clear();
    }

    /// Makes it what can still be read of a head that is refused, and says whether that is at least a request line. The
    /// framing is that of a request without a body, after which the connection ends.
    pub(crate) fn salvage(&mut self, input: &[u8], limits: &Limits) -> bool {
        self.clear();
        let Some(line) = salvage(&mut self.fields, input, limits) else { return false };
        self.method = Method::from_text(line.method);
        self.put_texts(line.method, line.target, None);
        true
    }

    /// Gives back memory beyond `bytes_max`.
    pub(crate) fn shrink(&mut self, bytes_max: usize) {
        self.fields.shrink(bytes_max);
        self.texts.shrink_to(bytes_max);
    }

    /// Reads the fields that concern framing and the connection, and says which host they name.
    fn take_fields<'h>(&mut self, headers: &[Header<'h>]) -> Result<Option<&'h str>, Fault> {
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
                    host = Some(authority(header.value).ok_or(Fault::BadHost)?);
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
        if host.is_none() && self.version == Version::Http11 {
            return Err(Fault::MissingHost);
        }
        self.keep_alive = match self.version {
            Version::Http11 => !connection.close,
            Version::Http10 => connection.keep_alive && !connection.close,
        };
        Ok(host)
    }

    /// Checks the target and brings it into origin form (RFC 9112 section 3.2).
    fn take_target(&mut self, method: &str, target: &str, host: Option<&str>) -> Result<(), Fault> {
        if target.bytes().any(|byte| !matches!(byte, 0x21..=0x7e) || byte == b'#') {
            return Err(Fault::BadTarget);
        }
        if self.method == Method::Other && method == "CONNECT" {
            return Err(Fault::UnsupportedMethod);
        }
        match target.as_bytes() {
            [b'/', ..] => self.put_texts(method, target, host),
            b"*" if self.method == Method::Options => self.put_texts(method, target, host),
            _ => return self.take_absolute_target(method, target),
        }
        Ok(())
    }

    fn take_absolute_target(&mut self, method: &str, target: &str) -> Result<(), Fault> {
        let scheme = ["http://", "https://"]
            .iter()
            .find(|scheme| {
                let start = target.as_bytes().get(..scheme.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes())) && target.len() > scheme.len()
            })
            .ok_or(Fault::BadTarget)?;
        let rest = &target[scheme.len()..];
        let (host, origin) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let host = authority(host.as_bytes()).ok_or(Fault::BadHost)?;
        // It overrules the field (RFC 9112 section 3.2.2). An empty path is the root.
        match origin.starts_with('/') {
            true => self.put_texts(method, origin, Some(host)),
            false => self.put_texts(method, &format!("/{origin}"), Some(host)),
        }
        Ok(())
    }

    fn put_texts(&mut self, method: &str, target: &str, host: Option<&str>) {
        self.texts.clear();
        self.texts.push_str(method);
        self.method_end = self.texts.len() as u32;
        self.query_start = self.method_end + target.find('?').unwrap_or(target.len()) as u32;
        self.texts.push_str(target);
        self.target_end = self.texts.len() as u32;
        self.has_host = host.is_some();
        self.texts.push_str(host.unwrap_or_default());
    }
}

/// Number of bytes of empty lines before the request line.
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

/// The reason why an incomplete head can never become one within the limits.
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

/// Whether the request line is well formed except for a version that is none of ours.
fn names_other_version(head: &[u8]) -> bool {
    let mut parts = first_line(head).split(|&byte| byte == b' ').skip(2);
    let version = parts.next().and_then(|part| part.strip_prefix(b"HTTP/")).unwrap_or_default();
    let is_number = version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    version.first().is_some_and(u8::is_ascii_digit) && is_number && parts.next().is_none()
}

/// The fault of the target, or of the line if the method is wrong too.
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
