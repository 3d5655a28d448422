//! The answer that a service fills in, and the rendering of its head.
//!
//! `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are the engine's; all other fields are the service's.

use super::super::decimal::write_decimal;
use std::fmt;
use std::sync::Arc;

use super::super::chunked::{is_control, is_token_byte};
use super::super::head::{Line, Version};

/// An answer in the making; its buffers are used again for the next one.
#[derive(Debug)]
pub struct Response {
    /// The status code, 200 to begin with.
    pub status: u16,
    /// The body, or the part of it that is not yet sent.
    pub body: Vec<u8>,
    /// Rendered fields: name, colon, value, CR LF each.
    fields: Vec<u8>,
    /// A shared body, in the place of `body`.
    shared: Option<Shared>,
    /// The delimiter of a body sent in parts.
    pub(super) delimiter: Delimiter,
}

/// Shared bytes.
struct Shared(Arc<dyn AsRef<[u8]> + Send + Sync>);

/// The delimiter of a body sent in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Delimiter {
    /// Chunked; in HTTP/1.0 by the end of the connection.
    #[default]
    Automatic,
    /// By a length declared beforehand. A service that sends less has its connection broken off.
    Length(u64),
    /// By the end of the connection.
    Close,
}

/// Whether the head announces the end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    KeepAlive,
    Close,
}

/// The delimiter of the body in the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Known(u64),
    Chunked,
    /// No field: there is no body, or it ends with the connection.
    Unsaid,
}

impl Default for Response {
    fn default() -> Self {
        Response { status: 200, body: Vec::new(), fields: Vec::new(), shared: None, delimiter: Delimiter::Automatic }
    }
}

impl Response {
    /// Adds a field. Control bytes in the value become spaces, so that no value can end its line.
    ///
    /// # Panics
    /// When `name` is no token: names are the program's own.
    pub fn header(&mut self, name: &str, value: impl AsRef<[u8]>) {
        assert!(!name.is_empty() && name.bytes().all(is_token_byte), "a field name is a token, not {name:?}");
        debug_assert!(!is_engines_own(name), "{name} is set by the engine");
        self.fields.extend_from_slice(name.as_bytes());
        self.fields.extend_from_slice(b": ");
        let start = self.fields.len();
        let value = value.as_ref();
        self.fields.extend_from_slice(value);
        // Values without any are the rule, and looked through many bytes at a time where nothing is to be left early.
        if value.iter().fold(false, |found, byte| found | is_control(*byte)) {
            for byte in &mut self.fields[start..] {
                if is_control(*byte) {
                    *byte = b' ';
                }
            }
        }
        self.fields.extend_from_slice(b"\r\n");
    }

    /// All fields that the service has added, rendered: name, colon, space, value, CR LF each.
    #[must_use]
    pub fn rendered_headers(&self) -> &[u8] {
        &self.fields
    }

    /// Adds fields as [`rendered_headers`](Response::rendered_headers) gave them of an answer before.
    pub fn add_rendered_headers(&mut self, rendered: &[u8]) {
        debug_assert!(rendered.is_empty() || rendered.ends_with(b"\r\n"), "rendered fields end their lines");
        self.fields.extend_from_slice(rendered);
    }

    /// Adds a field of a head that was parsed.
    #[inline]
    pub fn pass_on(&mut self, line: Line<'_>) {
        debug_assert!(
            std::str::from_utf8(line.name()).is_ok_and(|name| !is_engines_own(name)),
            "framing, connection and date are set by the engine"
        );
        line.write(&mut self.fields);
    }

    /// The fields that the service has said, in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        rendered_fields(&self.fields)
    }

    /// Makes the whole body a shared one, in the place of `body`. It is not copied, unless it is so small that one
    /// buffer is cheaper to send than two. It is not for answers that are sent in parts.
    pub fn share(&mut self, body: Arc<dyn AsRef<[u8]> + Send + Sync>) {
        self.shared = Some(Shared(body));
    }

    /// Takes all fields away.
    pub fn clear_headers(&mut self) {
        self.fields.clear();
    }

    /// Says how a body sent in parts is delimited; a whole answer always has its length.
    pub fn delimit(&mut self, delimiter: Delimiter) {
        self.delimiter = delimiter;
    }

    /// Makes it an empty 200 again; the memory stays.
    pub fn clear(&mut self) {
        self.status = 200;
        self.body.clear();
        self.fields.clear();
        self.shared = None;
        self.delimiter = Delimiter::Automatic;
    }

    /// The whole body of an answer that is not sent in parts.
    pub(super) fn whole_body(&self) -> &[u8] {
        match &self.shared {
            Some(Shared(body)) => (**body).as_ref(),
            None => &self.body,
        }
    }

    /// Memory of the body, in bytes; of a shared one this answer's part. While the cache keeps it too, it counts there.
    pub(super) fn body_bytes(&self) -> usize {
        let shared = self.shared.as_ref();
        let shared = shared.map_or(0, |Shared(body)| (**body).as_ref().len() / Arc::strong_count(body).max(1));
        self.body.capacity() + shared
    }

    /// Drops a shared body.
    pub(super) fn let_go(&mut self) {
        self.shared = None;
    }

    /// The memory of the fields.
    pub(super) fn fields_memory(&mut self) -> &mut Vec<u8> {
        &mut self.fields
    }

    /// Gives back memory beyond `bytes_max`.
    pub(super) fn shrink(&mut self, bytes_max: usize) {
        if self.body.capacity() > bytes_max {
            self.body = Vec::new();
        }
        if self.fields.capacity() > bytes_max {
            self.fields = Vec::new();
        }
    }

    /// Whether an answer of this status never has a body (RFC 9110 section 6.4.1).
    pub(super) fn is_bodiless(&self) -> bool {
        matches!(self.status, 100..=199 | 204 | 304)
    }

    /// Renders the head: `date` is a whole `Date` field with its line end.
    pub(super) fn write_head(
        &self,
        out: &mut Vec<u8>,
        version: Version,
        date: &[u8],
        length: Length,
        persistence: Persistence,
    ) {
        write_status_line(out, self.status);
        out.extend_from_slice(date);
        match length {
            Length::Known(length) => {
                out.extend_from_slice(b"Content-Length: ");
                write_decimal(out, length);
                out.extend_from_slice(b"\r\n");
            }
            Length::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            Length::Unsaid => {}
        }
        match (persistence, version) {
            (Persistence::Close, _) => out.extend_from_slice(b"Connection: close\r\n"),
            (Persistence::KeepAlive, Version::Http10) => out.extend_from_slice(b"Connection: keep-alive\r\n"),
            (Persistence::KeepAlive, Version::Http11) => {}
        }
        out.extend_from_slice(&self.fields);
        out.extend_from_slice(b"\r\n");
    }
}

/// Fields out of what was rendered of them: see [`Response::rendered_headers`].
pub fn rendered_fields(rendered: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    rendered.split(|&byte| byte == b'\n').filter_map(|line| {
        let line = line.strip_suffix(b"\r")?;
        let colon = line.iter().position(|&byte| byte == b':')?;
        Some((std::str::from_utf8(&line[..colon]).ok()?, line.get(colon + 2..)?))
    })
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", (*self.0).as_ref().len())
    }
}

fn is_engines_own(name: &str) -> bool {
    ["content-length", "transfer-encoding", "connection", "date"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

fn write_status_line(out: &mut Vec<u8>, status: u16) {
    // The answers that a server under load gives most; the others may take the longer way.
    match status {
        200 => out.extend_from_slice(b"HTTP/1.1 200 OK\r\n"),
        304 => out.extend_from_slice(b"HTTP/1.1 304 Not Modified\r\n"),
        404 => out.extend_from_slice(b"HTTP/1.1 404 Not Found\r\n"),
        _ => {
            out.extend_from_slice(b"HTTP/1.1 ");
            write_decimal(out, u64::from(status));
            out.push(b' ');
            out.extend_from_slice(reason(status).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// The reason phrase (RFC 9110 section 15); empty for statuses of one's own.
#[must_use]
pub fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        507 => "Insufficient Storage",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_rendered_with_what_framing_and_version_ask_for() {
        let check = |response: &Response, version, length, persistence, expected: &str| {
            let mut out = Vec::new();
            response.write_head(&mut out, version, b"Date: now\r\n", length, persistence);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        };
        let mut response = Response::default();
        response.header("Content-Type", "text/plain");
        check(
            &response,
            Version::Http11,
            Length::Known(1234567890),
            Persistence::KeepAlive,
            "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 1234567890\r\nContent-Type: text/plain\r\n\r\n",
        );
        check(
            &response,
            Version::Http10,
            Length::Unsaid,
            Persistence::KeepAlive,
            "HTTP/1.1 200 OK\r\nDate: now\r\nConnection: keep-alive\r\nContent-Type: text/plain\r\n\r\n",
        );
        response.clear();
        response.status = 503;
        check(
            &response,
            Version::Http11,
            Length::Chunked,
            Persistence::Close,
            "HTTP/1.1 503 Service Unavailable\r\nDate: now\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        );
        response.status = 299;
        check(
            &response,
            Version::Http11,
            Length::Known(0),
            Persistence::KeepAlive,
            "HTTP/1.1 299 \r\nDate: now\r\nContent-Length: 0\r\n\r\n",
        );
    }

    #[test]
    fn fields_are_given_back_as_they_were_said() {
        let mut response = Response::default();
        response.header("ETag", "\"a:b\"");
        response.header("Empty", "");
        let fields: Vec<_> = response.headers().collect();
        assert_eq!(fields, [("ETag", &b"\"a:b\""[..]), ("Empty", b"")]);
        let mut again = Response::default();
        again.add_rendered_headers(response.rendered_headers());
        assert_eq!(again.rendered_headers(), b"ETag: \"a:b\"\r\nEmpty: \r\n");
    }

    #[test]
    fn no_value_can_begin_a_field_of_its_own() {
        let mut response = Response::default();
        response.header("Location", "/a\r\nSet-Cookie: b\0");
        assert_eq!(response.fields, b"Location: /a  Set-Cookie: b \r\n");
    }
}
