//! The tokens of JSON (RFC 8259): white space, strings and numbers at a place in a byte slice.
//!
//! Strings are checked and decoded in one pass, numbers stay the digits as written. It deliberately knows nothing of
//! objects and arrays: its callers know the order of tokens.

use super::ReadError;
use crate::escape;
use std::borrow::Cow;

/// A place in a document for taking tokens.
#[derive(Debug, Clone)]
pub(crate) struct Lexer<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

/// The byte order mark that some programs write before a text, against the rules; readers may pass over it (RFC 8259,
/// section 8.1).
pub(crate) const MARK: &[u8] = "\u{feff}".as_bytes();

impl<'a> Lexer<'a> {
    /// A lexer at the beginning of a document, behind its byte order mark if it has one.
    pub(crate) fn of_document(bytes: &'a [u8]) -> Lexer<'a> {
        Lexer { bytes, at: if bytes.starts_with(MARK) { MARK.len() } else { 0 } }
    }

    /// Passes over white space; the byte behind it, which is not taken.
    #[inline]
    pub(crate) fn skip_space(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    /// The bytes not read yet.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Takes `true`, `false` or `null`; its first byte was already seen.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), ReadError> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.fault("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Takes the text of a number; its first byte was already seen.
    pub(crate) fn number(&mut self) -> Result<&'a str, ReadError> {
        let start = self.at;
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        let whole = self.digits()?;
        if whole > 1 && self.bytes[self.at - whole] == b'0' {
            self.at -= whole;
            return Err(self.fault("a number begins with a needless zero"));
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(std::str::from_utf8(&self.bytes[start..self.at]).expect("digits, signs and points are ASCII"))
    }

    #[inline]
    fn digits(&mut self) -> Result<usize, ReadError> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.fault("expected a digit"));
        }
        self.at += count;
        Ok(count)
    }

    /// Passes over a string without decoding it, and returns the bytes between its quotes.
    pub(crate) fn raw_string(&mut self) -> Result<&'a [u8], ReadError> {
        self.at += 1;
        let start = self.at;
        loop {
            match memchr::memchr2(b'"', b'\\', self.rest()) {
                Some(found) if self.bytes[self.at + found] == b'"' => {
                    self.at += found + 1;
                    return Ok(&self.bytes[start..self.at - 1]);
                }
                Some(found) if self.at + found + 1 < self.bytes.len() => self.at += found + 2,
                _ => {
                    self.at = self.bytes.len();
                    return Err(self.fault("a string does not end"));
                }
            }
        }
    }

    /// Takes a string at its quote.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, ReadError> {
        self.at += 1;
        let plain = self.plain_part()?;
        if self.bytes[self.at] == b'"' {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = plain.to_owned();
        self.rest_of_string(&mut text)?;
        Ok(Cow::Owned(text))
    }

    /// Takes a string at its quote; `scratch` contains its text if something is escaped.
    #[inline]
    pub(crate) fn string_in<'t>(&mut self, scratch: &'t mut String) -> Result<&'t str, ReadError>
    where
        'a: 't,
    {
        self.at += 1;
        let plain = self.plain_part()?;
        if self.bytes[self.at] == b'"' {
            self.at += 1;
            return Ok(plain);
        }
        scratch.clear();
        scratch.push_str(plain);
        self.rest_of_string(scratch)?;
        Ok(scratch)
    }

    /// Takes the rest of a string, at a backslash or at the quote that ends it.
    fn rest_of_string(&mut self, text: &mut String) -> Result<(), ReadError> {
        loop {
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => text.push(self.escape()?),
            }
            text.push_str(self.plain_part()?);
        }
    }

    /// The characters up to the next quote or backslash, which is then at `self.at`.
    #[inline]
    fn plain_part(&mut self) -> Result<&'a str, ReadError> {
        let start = self.at;
        let rest = self.rest();
        let length = escape::json_plain_length(rest);
        self.at += length;
        match rest.get(length) {
            None => return Err(self.fault("a string does not end")),
            Some(0..0x20) => return Err(self.fault("a control character stands unescaped in a string")),
            Some(_) => {}
        }
        std::str::from_utf8(&rest[..length]).map_err(|error| ReadError {
            position: start + error.valid_up_to(),
            message: "a string is no UTF-8".to_owned(),
        })
    }

    fn escape(&mut self) -> Result<char, ReadError> {
        let start = self.at;
        self.at += 1;
        let character = match self.bytes.get(self.at) {
            Some(b'u') => {
                self.at += 1;
                return self.unicode(start);
            }
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(ReadError { position: start, message: "an unknown escape in a string".to_owned() }),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode(&mut self, start: usize) -> Result<char, ReadError> {
        let half = ReadError { position: start, message: "half of a surrogate pair in a string".to_owned() };
        let first = self.four_digits(start)?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).ok_or(half);
        }
        if first >= 0xdc00 || !self.bytes[self.at..].starts_with(b"\\u") {
            return Err(half);
        }
        self.at += 2;
        let second = self.four_digits(start)?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(half);
        }
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or(half)
    }

    fn four_digits(&mut self, start: usize) -> Result<u32, ReadError> {
        let digits = self.bytes.get(self.at..self.at + 4).unwrap_or_default();
        let value = digits.iter().try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?));
        self.at += digits.len();
        match value {
            Some(value) if digits.len() == 4 => Ok(value),
            _ => {
                Err(ReadError { position: start, message: "expected four hexadecimal digits behind '\\u'".to_owned() })
            }
        }
    }

    pub(crate) fn fault(&self, message: impl Into<String>) -> ReadError {
        ReadError { position: self.at, message: message.into() }
    }
}
