//! The framing of `multipart/mixed` (RFC 2046, section 5.1): boundaries, delimiter lines, the heads of parts.
//!
//! It deliberately knows nothing of what the parts are.

use std::ops::Range;

use memchr::memmem::Finder;

use super::BatchError;

/// Longest boundary, in characters (RFC 2046, section 5.1.1).
const BOUNDARY_LENGTH_MAX: usize = 70;

/// The boundary of a `multipart/mixed` Content-Type; `None` if it is another type, or has no right boundary.
pub fn boundary(content_type: &str) -> Option<&str> {
    let (essence, mut rest) = content_type.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case(super::MEDIA_TYPE) {
        return None;
    }
    loop {
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start();
        // A quoted value may hold ';' and '='; escapes in it would be no part of a boundary.
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => {
                let (value, behind) = quoted.split_once('"')?;
                (value, behind.trim_start().strip_prefix(';').unwrap_or(behind))
            }
            None => {
                let (value, behind) = value.split_once(';').unwrap_or((value, ""));
                (value.trim_end(), behind)
            }
        };
        let name = name.rsplit(';').next().unwrap_or_default().trim();
        if name.eq_ignore_ascii_case("boundary") {
            let is_right = (1..=BOUNDARY_LENGTH_MAX).contains(&value.len())
                && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte))
                && !value.ends_with(' ');
            return is_right.then_some(value);
        }
        rest = behind;
    }
}

/// The parts of a multipart body, one after the other.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    body: &'a [u8],
    range: Range<usize>,
    delimiter: Finder<'static>,
    /// Offset of the content behind the last delimiter; `None` before the first.
    at: Option<usize>,
    closed: bool,
}

/// A delimiter line.
struct Delimiter {
    /// End of the content before the delimiter: its line end belongs to the delimiter.
    content_end: usize,
    /// Offset of the line behind it.
    next: usize,
    closing: bool,
}

impl<'a> Parts<'a> {
    /// The parts in `range` of `body`.
    pub(super) fn new(body: &'a [u8], range: Range<usize>, boundary: &str) -> Parts<'a> {
        let delimiter = [b"--", boundary.as_bytes()].concat();
        Parts { body, range, delimiter: Finder::new(&delimiter).into_owned(), at: None, closed: false }
    }

    /// The range of the next part, its head included; `None` behind the last.
    ///
    /// # Errors
    /// If a delimiter is missing.
    pub(super) fn next(&mut self) -> Result<Option<Range<usize>>, BatchError> {
        if self.closed {
            return Ok(None);
        }
        let begin = match self.at {
            Some(at) => at,
            None => {
                let Some(first) = self.delimiter_from(self.range.start) else {
                    return Err(self.missing("the delimiter of the first part is missing"));
                };
                if first.closing {
                    self.closed = true;
                    return Ok(None);
                }
                first.next
            }
        };
        let Some(delimiter) = self.delimiter_from(begin) else {
            return Err(self.missing("the delimiter behind the last part is missing"));
        };
        self.at = Some(delimiter.next);
        self.closed = delimiter.closing;
        Ok(Some(begin..delimiter.content_end.max(begin)))
    }

    fn missing(&self, what: &str) -> BatchError {
        let delimiter = String::from_utf8_lossy(self.delimiter.needle()).into_owned();
        BatchError::malformed(self.range.end, format!("{what}: {delimiter}"))
    }

    /// The next whole delimiter line: a longer line that begins like one is content, such as the delimiter of a nested
    /// body whose boundary begins with this one's.
    fn delimiter_from(&self, from: usize) -> Option<Delimiter> {
        let mut from = from;
        loop {
            let start = from + self.delimiter.find(self.body.get(from..self.range.end)?)?;
            from = start + 1;
            if start > self.range.start && self.body[start - 1] != b'\n' {
                continue;
            }
            let mut at = start + self.delimiter.needle().len();
            let closing = self.body[at..self.range.end].starts_with(b"--");
            if closing {
                at += 2;
            }
            let (rest, next) = line(self.body, at, self.range.end);
            if !rest.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
                continue;
            }
            let mut content_end = start;
            for end in [b'\n', b'\r'] {
                if content_end > self.range.start && self.body[content_end - 1] == end {
                    content_end -= 1;
                }
            }
            return Some(Delimiter { content_end, next, closing });
        }
    }
}

/// The line at `at` without its end, and where the next one begins.
pub(super) fn line(body: &[u8], at: usize, end: usize) -> (&[u8], usize) {
    let rest = &body[at..end];
    match memchr::memchr(b'\n', rest) {
        Some(length) => {
            let text = &rest[..length];
            (text.strip_suffix(b"\r").unwrap_or(text), at + length + 1)
        }
        None => (rest.strip_suffix(b"\r").unwrap_or(rest), end),
    }
}

/// Header lines, up to and with the blank line behind them.
pub(super) struct Head<'a> {
    body: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Head<'a> {
    /// The headers that begin at `at`.
    pub(super) fn new(body: &'a [u8], at: usize, end: usize) -> Head<'a> {
        Head { body, at, end }
    }

    /// Offset of the next line; behind the last header, of the content.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The next header; `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<(&'a str, &'a str)>, BatchError> {
        let start = self.at;
        let (text, next) = line(self.body, start, self.end);
        self.at = next;
        if text.is_empty() {
            return Ok(None);
        }
        let read = || {
            let (name, value) = std::str::from_utf8(text).ok()?.split_once(':')?;
            let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
            let is_value = !value.bytes().any(|byte| byte != b'\t' && byte.is_ascii_control());
            (is_name && is_value).then_some((name, value.trim_matches([' ', '\t'])))
        };
        match read() {
            Some(header) => Ok(Some(header)),
            None => Err(BatchError::malformed(start, format!("expected a header, not {:?}", super::shown(text)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_found_quoted_or_not() {
        let longest = "b".repeat(70);
        for (content_type, expected) in [
            ("multipart/mixed;boundary=abc", Some("abc")),
            ("Multipart/Mixed; charset=utf-8; Boundary = \"a b:c\" ; x=y", Some("a b:c")),
            ("multipart/mixed; x=\"a;boundary=no\";boundary=yes;z", Some("yes")),
            (&format!("multipart/mixed;boundary={longest}"), Some(longest.as_str())),
            (&format!("multipart/mixed;boundary={longest}b"), None),
            ("multipart/mixed;boundary=", None),
            ("multipart/mixed;boundary=\"ends in \"", None),
            ("multipart/mixed;boundary=a*b", None),
            ("multipart/mixed", None),
            ("multipart/form-data;boundary=abc", None),
        ] {
            assert_eq!(boundary(content_type), expected, "{content_type}");
        }
    }

    #[test]
    fn delimiters_are_whole_lines() {
        let body = b"preamble --b\r\n--b \t\r\none\r\n--bc\r\n\r\n--b\n\n--b\n--b--\nepilogue\n--b\n";
        let mut parts = Parts::new(body, 0..body.len(), "b");
        let mut found = Vec::new();
        while let Some(range) = parts.next().unwrap() {
            found.push(std::str::from_utf8(&body[range]).unwrap());
        }
        assert_eq!(found, ["one\r\n--bc\r\n", "", ""]);
        for (body, message) in [
            (&b""[..], "the delimiter of the first part is missing: --b"),
            (b"--b", "the delimiter behind the last part is missing: --b"),
            (b"--b\r\nhalf a part\r\n --b--", "the delimiter behind the last part is missing: --b"),
        ] {
            let mut parts = Parts::new(body, 0..body.len(), "b");
            assert_eq!(parts.next().unwrap_err().message, message);
        }
        assert_eq!(Parts::new(b"--b--", 0..5, "b").next(), Ok(None));
    }
}
