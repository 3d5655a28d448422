//! Percent coding of paths and query strings (RFC 3986), with what OData adds: a slash inside a quoted key is data.
//!
//! It deliberately does not split anything; that is done on the decoded path and on the raw query.

use super::error::{Parsed, Problem};
use std::borrow::Cow;

/// Message about the character that no database stores in a text.
pub(crate) const NUL: &str = "the character U+0000, which no text of a database has";

/// The meaning of a plus sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plus {
    /// Itself, as RFC 3986 says.
    Plus,
    /// A space, as HTML forms and most client libraries write it in query strings.
    Space,
}

/// Decodes a path. Borrowed where there is nothing to decode.
pub(crate) fn decode_path(raw: &str) -> Parsed<Cow<'_, str>> {
    let decoded = decode(raw, Plus::Plus)?;
    // An encoded slash is data only inside of quotes: elsewhere it would split a segment that the client did not split.
    if matches!(decoded, Cow::Borrowed(_)) || !raw.contains("%2F") && !raw.contains("%2f") {
        return Ok(decoded);
    }
    let mut quotes = Quotes::default();
    let mut raw_at = 0;
    for (at, byte) in decoded.bytes().enumerate() {
        let coded = raw.as_bytes()[raw_at] == b'%';
        raw_at += if coded { 3 } else { 1 };
        if quotes.outside(byte) && byte == b'/' && coded {
            return Err(Problem::syntax(at, "an encoded slash outside of quotes").hint("write '/' between segments"));
        }
    }
    Ok(decoded)
}

/// Decodes a name or value of a query string. Borrowed where there is nothing to decode.
pub(crate) fn decode(raw: &str, plus: Plus) -> Parsed<Cow<'_, str>> {
    let is_coded = |byte: u8| byte == b'%' || (byte == b'+' && plus == Plus::Space);
    if !raw.bytes().any(is_coded) {
        // Addresses stand in bodies, too, where the character needs no escape.
        return match memchr::memchr(0, raw.as_bytes()) {
            None => Ok(Cow::Borrowed(raw)),
            Some(at) => Err(Problem::syntax(at, NUL)),
        };
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut bytes = raw.as_bytes();
    while let Some(coded) = bytes.iter().position(|byte| is_coded(*byte)) {
        let (plain, rest) = bytes.split_at(coded);
        out.extend_from_slice(plain);
        bytes = match rest {
            [b'+', rest @ ..] => {
                out.push(b' ');
                rest
            }
            [_, high, low, rest @ ..] if let Some((high, low)) = hex(*high).zip(hex(*low)) => {
                out.push(high << 4 | low);
                rest
            }
            _ => {
                return Err(Problem::syntax(out.len(), "'%' is not followed by two hexadecimal digits")
                    .hint("write a percent sign as %25"));
            }
        };
    }
    out.extend_from_slice(bytes);
    if let Some(at) = out.iter().position(|byte| *byte == 0) {
        return Err(Problem::syntax(at, NUL));
    }
    match String::from_utf8(out) {
        Ok(text) => Ok(Cow::Owned(text)),
        Err(error) => Err(Problem::syntax(error.utf8_error().valid_up_to(), "percent-encoded bytes are not UTF-8")),
    }
}

/// Writes a byte of a key predicate so that it is valid in a path, in an XML attribute and in a JSON string.
pub(crate) fn encode(out: &mut Vec<u8>, bytes: &[u8]) {
    // pchar of RFC 3986 without '&' (XML) and '+' (which some servers read as a space).
    encode_beside(out, bytes, b"-._~!$'()*,;=:@");
}

/// Writes bytes so that they are valid in a URL: letters, digits and those of `plain` as they are, all others escaped.
pub fn encode_beside(out: &mut Vec<u8>, bytes: &[u8], plain: &[u8]) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(&escape(byte));
        }
    }
}

/// The percent-encoded form of a byte that a URL must not contain as it is.
pub fn escape(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

/// Decodes a segment of a path that is not OData's; `None` if its escapes are broken or not UTF-8.
pub fn decode_segment(raw: &str) -> Option<Cow<'_, str>> {
    decode(raw, Plus::Plus).ok()
}

/// Follows a path byte by byte and knows what is inside of a quoted literal: quotes count only inside parentheses.
#[derive(Default)]
pub(crate) struct Quotes {
    parentheses: usize,
    quoted: bool,
}

impl Quotes {
    /// Takes the next byte and reports whether it is outside of quotes.
    pub(crate) fn outside(&mut self, byte: u8) -> bool {
        match byte {
            b'\'' if self.parentheses > 0 => self.quoted = !self.quoted,
            b'(' if !self.quoted => self.parentheses += 1,
            b')' if !self.quoted => self.parentheses = self.parentheses.saturating_sub(1),
            _ => {}
        }
        !self.quoted
    }
}

pub(crate) fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_decode_and_faults_have_their_place() {
        let check = |raw: &str, expected: Result<&str, usize>| {
            assert_eq!(decode_path(raw).as_deref().map_err(|problem| problem.at.unwrap()), expected, "{raw}");
        };
        check("Customers%28%27O%27%27Neil%27%29", Ok("Customers('O''Neil')"));
        check("A('x%2Fy')/b", Ok("A('x/y')/b"));
        check("A+b", Ok("A+b"));
        check("A%2Fb", Err(1));
        check("A%2", Err(1));
        check("%zz", Err(0));
        check("a%ff", Err(1));
        check("a%00", Err(1));
        check("%CE%94", Ok("Δ"));
    }

    #[test]
    fn a_plus_in_a_query_is_a_space_unless_told_otherwise() {
        assert_eq!(decode("a+b%2Bc", Plus::Space).unwrap(), "a b+c");
        assert_eq!(decode("a+b", Plus::Plus).unwrap(), "a+b");
    }

    proptest! {
        #[test]
        fn encode_then_decode_is_identity(text in "\\PC*") {
            let mut out = Vec::new();
            encode(&mut out, text.as_bytes());
            let coded = String::from_utf8(out).unwrap();
            prop_assert_eq!(decode(&coded, Plus::Space).unwrap(), text.as_str());
            prop_assert_eq!(decode(&coded, Plus::Plus).unwrap(), text.as_str());
        }
    }
}
