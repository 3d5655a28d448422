//! The fields of a head: one copy of its bytes and a table of offsets, both used again for the next head.
//!
//! Values are bytes as they came, without the white space around them; nothing is decoded or joined.

use std::ops::Range;

use httparse::Header;

use super::super::error::Fault;

/// Fields in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    name_start: u32,
    name_end: u32,
    value_start: u32,
    value_end: u32,
}

/// Iterates over names and values.
#[derive(Clone, Debug)]
pub struct FieldsIter<'f> {
    bytes: &'f [u8],
    spans: std::slice::Iter<'f, Span>,
}

/// A field as its line in a head.
#[derive(Clone, Copy, Debug)]
pub struct Line<'f> {
    /// The bytes from the first of the name to the last of the value.
    bytes: &'f [u8],
    name_bytes: usize,
    value_at: usize,
}

impl<'f> Line<'f> {
    /// The name.
    #[inline]
    #[must_use]
    pub fn name(&self) -> &'f [u8] {
        &self.bytes[..self.name_bytes]
    }

    /// The value, without the white space around it.
    #[inline]
    #[must_use]
    pub fn value(&self) -> &'f [u8] {
        self.bytes.get(self.value_at..).unwrap_or_default()
    }

    /// Writes name, colon, space, value and line end.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        // Mostly it stands so already.
        if self.value_at == self.name_bytes + 2 && self.bytes.get(self.name_bytes + 1) == Some(&b' ') {
            out.extend_from_slice(self.bytes);
        } else {
            out.extend_from_slice(self.name());
            out.extend_from_slice(b": ");
            out.extend_from_slice(self.value());
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl Fields {
    /// The first field of that name, in any case, if its value is text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// The first field of that name, in any case.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        self.spans.iter().find(|span| self.name(span).eq_ignore_ascii_case(name.as_bytes())).map(|span| self.at(span))
    }

    /// The values of all fields of that name, in any case, that are text: a list may span several lines (RFC 9110
    /// section 5.3).
    pub fn texts<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> + Clone + use<'f> {
        let named = self.spans.iter().filter(move |span| self.name(span).eq_ignore_ascii_case(name.as_bytes()));
        named.filter_map(|span| std::str::from_utf8(self.at(span)).ok())
    }

    /// The value of the field at `index` among those of that name, in any case, that are text.
    #[must_use]
    pub fn nth_text(&self, name: &str, index: usize) -> Option<&str> {
        let named = self.spans.iter().filter(|span| self.name(span).eq_ignore_ascii_case(name.as_bytes()));
        named.filter_map(|span| std::str::from_utf8(self.at(span)).ok()).nth(index)
    }

    /// All fields.
    #[must_use]
    pub fn iter(&self) -> FieldsIter<'_> {
        FieldsIter { bytes: &self.bytes, spans: self.spans.iter() }
    }

    /// All fields as their lines.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.spans.iter().map(|span| Line {
            bytes: &self.bytes[span.name_start as usize..span.value_end.max(span.name_end + 1) as usize],
            name_bytes: (span.name_end - span.name_start) as usize,
            value_at: (span.value_start - span.name_start) as usize,
        })
    }

    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Takes over a parsed head: copies `head` and records the places of `headers` in it.
    ///
    /// # Errors
    /// [`Fault::BadLineEnd`] where a line ends in a bare LF, which httparse lets pass.
    pub(super) fn record(&mut self, head: &[u8], headers: &[Header<'_>]) -> Result<(), Fault> {
        if !head.ends_with(b"\r\n\r\n") {
            return Err(Fault::BadLineEnd);
        }
        self.spans.clear();
        for header in headers {
            let name_start = offset_in(head, header.name.as_bytes());
            // The byte pair before a name is the end of the line before it.
            if name_start < 2 || head[name_start - 2..name_start] != *b"\r\n" {
                return Err(Fault::BadLineEnd);
            }
            let name_end = name_start + header.name.len();
            // An empty value may point anywhere; it gets the place after its colon.
            let value_start = if header.value.is_empty() { name_end + 1 } else { offset_in(head, header.value) };
            self.add(name_start..name_end, value_start..value_start + header.value.len());
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(head);
        Ok(())
    }

    /// Copies the bytes of a head without known fields.
    pub(super) fn copy(&mut self, head: &[u8]) {
        self.clear();
        self.bytes.extend_from_slice(head);
    }

    /// Adds a field by its place in the copied bytes; its name must be a token.
    pub(super) fn add(&mut self, name: Range<usize>, value: Range<usize>) {
        self.spans.push(Span {
            name_start: name.start as u32,
            name_end: name.end as u32,
            value_start: value.start as u32,
            value_end: value.end as u32,
        });
    }

    /// Forgets all fields of these names, in any case.
    pub(super) fn remove(&mut self, names: &[&str]) {
        let bytes = &self.bytes;
        self.spans.retain(|span| {
            let name = &bytes[span.name_start as usize..span.name_end as usize];
            !names.iter().any(|removed| name.eq_ignore_ascii_case(removed.as_bytes()))
        });
    }

    /// Forgets the head; the memory stays.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// Gives back memory beyond `bytes_max` and forgets the head.
    pub(super) fn shrink(&mut self, bytes_max: usize) {
        if self.bytes.capacity() > bytes_max {
            self.spans.clear();
            self.bytes = Vec::new();
        }
    }

    fn name(&self, span: &Span) -> &[u8] {
        &self.bytes[span.name_start as usize..span.name_end as usize]
    }

    fn at(&self, span: &Span) -> &[u8] {
        &self.bytes[span.value_start as usize..span.value_end as usize]
    }
}

impl<'f> Iterator for FieldsIter<'f> {
    type Item = (&'f str, &'f [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let span = self.spans.next()?;
        let name = &self.bytes[span.name_start as usize..span.name_end as usize];
        let name = std::str::from_utf8(name).expect("a field name is a token, and tokens are ASCII");
        Some((name, &self.bytes[span.value_start as usize..span.value_end as usize]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

/// The offset in `whole` of its slice `part`.
pub(super) fn offset_in(whole: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
}

/// The value of a `Content-Length`: plain decimal digits.
pub(super) fn content_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 20 {
        return None;
    }
    value.iter().try_fold(0_u64, |length, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        length.checked_mul(10)?.checked_add(digit)
    })
}

/// Judges the value of the only `Transfer-Encoding`.
pub(super) fn transfer_encoding(value: &[u8]) -> Result<(), Fault> {
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(());
    }
    let mut codings = value.rsplit(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let last = codings.next().unwrap_or_default();
    let registered = |coding: &[u8]| {
        ["gzip", "x-gzip", "deflate", "compress", "x-compress"]
            .iter()
            .any(|name| coding.eq_ignore_ascii_case(name.as_bytes()))
    };
    // RFC 9112 section 6.1: a known coding that we do not undo is not implemented; all else leaves the end unclear.
    if last.eq_ignore_ascii_case(b"chunked") && codings.all(registered) {
        return Err(Fault::UnsupportedTransferEncoding);
    }
    Err(Fault::BadTransferEncoding)
}

/// Options in the `Connection` fields of a head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ConnectionOptions {
    pub(super) close: bool,
    pub(super) keep_alive: bool,
}

impl ConnectionOptions {
    /// Adds the options of one field.
    pub(super) fn add(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }
}
