//! A request rendered before the run: static bytes with slots for the parts that differ between requests.
//!
//! Rendering only copies; a template's own text is checked once, when it is built.

use std::fmt;
use std::io::Write;
use std::num::NonZeroUsize;

use super::super::chunked::{is_control, is_token_byte};
use super::super::decimal::write_decimal;

/// A request with slots.
///
/// ```
/// # use tollgate_net::http1::client::RequestTemplate;
/// let template = RequestTemplate::builder("GET", "example.org").target_text("/flights/").target_slot().build()?;
/// let mut request = Vec::new();
/// template.render(&["AA"], &mut request);
/// assert_eq!(request, b"GET /flights/AA HTTP/1.1\r\nHost: example.org\r\n\r\n");
/// # Ok::<(), tollgate_net::http1::client::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTemplate {
    text: Vec<u8>,
    /// The byte of the text before which each slot is.
    slots: Vec<usize>,
    method_is_head: bool,
    /// Framing of a body that comes with each rendering. The text then ends with the last field.
    framing: Option<BodyFraming>,
}

/// Framing of a body that comes with each rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BodyFraming {
    /// By its length.
    #[default]
    Length,
    /// In chunks of this many bytes, the last one shorter.
    Chunked(NonZeroUsize),
}

/// A piece of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Fixed text.
    Text(&'a str),
    /// A part that differs between requests.
    Slot,
}

/// Builds a [`RequestTemplate`].
#[derive(Clone, Debug)]
pub struct TemplateBuilder {
    method: String,
    host: String,
    target: Vec<u8>,
    slots: Vec<usize>,
    fields: Vec<u8>,
    field_slots: Vec<usize>,
    body: Option<Vec<u8>>,
    framing: Option<BodyFraming>,
    error: Option<TemplateError>,
}

/// The text that a request cannot contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    what: &'static str,
    text: String,
}

impl RequestTemplate {
    /// Begins a request to `host` (a `Host` field's value).
    #[must_use]
    pub fn builder(method: &str, host: &str) -> TemplateBuilder {
        let mut builder = TemplateBuilder {
            method: method.to_owned(),
            host: host.to_owned(),
            target: Vec::new(),
            slots: Vec::new(),
            fields: Vec::new(),
            field_slots: Vec::new(),
            body: None,
            framing: None,
            error: None,
        };
        if method.is_empty() || !method.bytes().all(is_token_byte) {
            builder.refuse("a method is a token", method);
        }
        if !host.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
            builder.refuse("a host is visible ASCII", host);
        }
        builder
    }

    /// Number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The kind of answer that the request gets.
    #[must_use]
    pub fn answers(&self) -> super::Answers {
        if self.method_is_head { super::Answers::Head } else { super::Answers::Ordinary }
    }

    /// Renders the request into `out`, which is cleared first. The texts for the slots are part of a target or of a
    /// field's value: check those from outside with [`is_target_text`](RequestTemplate::is_target_text) and
    /// [`is_field_text`](RequestTemplate::is_field_text).
    ///
    /// # Panics
    /// When there are not as many values as slots.
    pub fn render<T: AsRef<[u8]>>(&self, values: &[T], out: &mut Vec<u8>) {
        self.render_with(values.iter().map(AsRef::as_ref), std::iter::empty(), out);
    }

    /// The same with a body, in the parts in which it is there; a template that was not built
    /// [`framed`](TemplateBuilder::framed) has its body already.
    ///
    /// # Panics
    /// When there are not as many values as slots.
    pub fn render_with<'v>(
        &self,
        values: impl ExactSizeIterator<Item = &'v [u8]>,
        body: impl Iterator<Item = &'v [u8]> + Clone,
        out: &mut Vec<u8>,
    ) {
        assert_eq!(values.len(), self.slots.len(), "a value for each slot");
        out.clear();
        let mut written = 0;
        for (&slot, value) in self.slots.iter().zip(values) {
            out.extend_from_slice(&self.text[written..slot]);
            out.extend_from_slice(value);
            written = slot;
        }
        out.extend_from_slice(&self.text[written..]);
        let Some(framing) = self.framing else { return };
        let body_bytes = body.clone().map(<[u8]>::len).sum();
        match framing {
            BodyFraming::Length => {
                out.extend_from_slice(b"Content-Length: ");
                write_decimal(out, body_bytes as u64);
                out.extend_from_slice(b"\r\n\r\n");
                body.for_each(|part| out.extend_from_slice(part));
            }
            BodyFraming::Chunked(chunk_bytes) => {
                out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                write_chunks(body, body_bytes, chunk_bytes.get(), out);
            }
        }
    }

    /// Whether `text` is valid in a field's value.
    #[must_use]
    pub fn is_field_text(text: &[u8]) -> bool {
        !text.iter().copied().any(is_control)
    }

    /// Whether `text` is valid in a request target.
    #[must_use]
    pub fn is_target_text(text: &[u8]) -> bool {
        text.iter().all(|byte| (0x21..=0x7e).contains(byte) && *byte != b'#')
    }
}

impl TemplateBuilder {
    /// Adds fixed text to the target.
    #[must_use]
    pub fn target_text(mut self, text: &str) -> TemplateBuilder {
        if !RequestTemplate::is_target_text(text.as_bytes()) {
            self.refuse("a target is visible ASCII without #", text);
        }
        self.target.extend_from_slice(text.as_bytes());
        self
    }

    /// Adds a slot to the target.
    #[must_use]
    pub fn target_slot(mut self) -> TemplateBuilder {
        self.slots.push(self.target.len());
        self
    }

    /// Adds a field.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> TemplateBuilder {
        self.header_with(name, &[Piece::Text(value)])
    }

    /// Adds a field whose value has slots.
    #[must_use]
    pub fn header_with(mut self, name: &str, value: &[Piece<'_>]) -> TemplateBuilder {
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            self.refuse("a field name is a token", name);
        }
        if ["host", "content-length", "transfer-encoding"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
            self.refuse("this field is set by the engine", name);
        }
        self.fields.extend_from_slice(name.as_bytes());
        self.fields.extend_from_slice(b": ");
        for piece in value {
            match piece {
                Piece::Text(text) => {
                    if !RequestTemplate::is_field_text(text.as_bytes()) {
                        self.refuse("a field value holds no control bytes", text);
                    }
                    self.fields.extend_from_slice(text.as_bytes());
                }
                Piece::Slot => self.field_slots.push(self.fields.len()),
            }
        }
        self.fields.extend_from_slice(b"\r\n");
        self
    }

    /// Sets the framing of a body that comes with each rendering.
    #[must_use]
    pub fn framed(mut self, framing: BodyFraming) -> TemplateBuilder {
        self.framing = Some(framing);
        self
    }

    /// Gives it a body and its length.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> TemplateBuilder {
        self.body = Some(body.into());
        self
    }

    /// The finished template.
    ///
    /// # Errors
    /// The first text that is not valid in a request.
    pub fn build(self) -> Result<RequestTemplate, TemplateError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut text = Vec::new();
        text.extend_from_slice(self.method.as_bytes());
        text.push(b' ');
        let target_start = text.len();
        text.extend_from_slice(&self.target);
        text.extend_from_slice(b" HTTP/1.1\r\nHost: ");
        text.extend_from_slice(self.host.as_bytes());
        text.extend_from_slice(b"\r\n");
        let fields_start = text.len();
        text.extend_from_slice(&self.fields);
        if self.framing.is_none() {
            if let Some(body) = &self.body {
                text.extend_from_slice(b"Content-Length: ");
                write_decimal(&mut text, body.len() as u64);
                text.extend_from_slice(b"\r\n");
            }
            text.extend_from_slice(b"\r\n");
            text.extend_from_slice(self.body.as_deref().unwrap_or_default());
        }
        let in_target = self.slots.into_iter().map(|slot| target_start + slot);
        let slots = in_target.chain(self.field_slots.into_iter().map(|slot| fields_start + slot)).collect();
        Ok(RequestTemplate { text, slots, method_is_head: self.method == "HEAD", framing: self.framing })
    }

    fn refuse(&mut self, what: &'static str, text: &str) {
        self.error.get_or_insert_with(|| TemplateError { what, text: text.to_owned() });
    }
}

/// Writes a body in chunks (RFC 9112, section 7.1).
fn write_chunks<'v>(body: impl Iterator<Item = &'v [u8]>, body_bytes: usize, chunk_bytes: usize, out: &mut Vec<u8>) {
    let (mut left, mut left_in_chunk) = (body_bytes, 0);
    for mut part in body {
        while !part.is_empty() {
            if left_in_chunk == 0 {
                left_in_chunk = left.min(chunk_bytes);
                write!(out, "{left_in_chunk:x}\r\n").expect("a Vec takes whatever is written");
            }
            let (now, later) = part.split_at(part.len().min(left_in_chunk));
            out.extend_from_slice(now);
            part = later;
            left -= now.len();
            left_in_chunk -= now.len();
            if left_in_chunk == 0 {
                out.extend_from_slice(b"\r\n");
            }
        }
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

impl fmt::Display for TemplateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, but {:?} was given", self.what, self.text)
    }
}

impl std::error::Error for TemplateError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::client::Answers;

    #[test]
    fn slots_are_filled_in_their_order_and_the_buffer_is_used_again() {
        let builder = RequestTemplate::builder("POST", "a:1").target_text("/x/").target_slot().target_text("?y=");
        let template = builder.target_slot().header("Accept", "*/*").body("abc").build().unwrap();
        let mut out = b"old".to_vec();
        template.render(&["1", "22"], &mut out);
        let expected = "POST /x/1?y=22 HTTP/1.1\r\nHost: a:1\r\nAccept: */*\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!((template.slots(), template.answers()), (2, Answers::Ordinary));
    }

    #[test]
    fn a_body_comes_with_its_rendering_by_length_or_in_chunks() {
        let check = |framing: BodyFraming, body: &[&str], expected: &str| {
            let field = [Piece::Text("a-"), Piece::Slot];
            let builder = RequestTemplate::builder("POST", "h").target_slot().header_with("X", &field).framed(framing);
            let (template, mut out) = (builder.build().unwrap(), Vec::new());
            let values = [b"/t".as_slice(), b"v"];
            template.render_with(values.into_iter(), body.iter().map(|part| part.as_bytes()), &mut out);
            let head = "POST /t HTTP/1.1\r\nHost: h\r\nX: a-v\r\n";
            assert_eq!(String::from_utf8(out).unwrap(), format!("{head}{expected}"));
        };
        check(BodyFraming::Length, &["ab", "", "c"], "Content-Length: 3\r\n\r\nabc");
        check(BodyFraming::Length, &[], "Content-Length: 0\r\n\r\n");
        let chunked = |bytes| BodyFraming::Chunked(NonZeroUsize::new(bytes).unwrap());
        let chunks = |text: &str| format!("Transfer-Encoding: chunked\r\n\r\n{text}0\r\n\r\n");
        check(chunked(2), &["a", "bcd", "e"], &chunks("2\r\nab\r\n2\r\ncd\r\n1\r\ne\r\n"));
        check(chunked(5), &["a", "bcd", "e"], &chunks("5\r\nabcde\r\n"));
        check(chunked(16), &["0123456789abcdef!"], &chunks("10\r\n0123456789abcdef\r\n1\r\n!\r\n"));
        check(chunked(16), &[""], &chunks(""));
    }

    #[test]
    fn nothing_that_would_split_a_request_gets_into_a_template() {
        let check = |builder: TemplateBuilder, what: &str| {
            assert_eq!(builder.build().unwrap_err().what, what);
        };
        check(RequestTemplate::builder("GE T", "a"), "a method is a token");
        check(RequestTemplate::builder("GET", "a\r\nb"), "a host is visible ASCII");
        check(RequestTemplate::builder("GET", "a").target_text("/ x"), "a target is visible ASCII without #");
        check(RequestTemplate::builder("GET", "a").header("A:", "b"), "a field name is a token");
        check(RequestTemplate::builder("GET", "a").header("A", "b\r\nC: d"), "a field value holds no control bytes");
        check(RequestTemplate::builder("GET", "a").header("content-length", "1"), "this field is set by the engine");
    }
}
