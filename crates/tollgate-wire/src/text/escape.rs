//! Text into XML and JSON: what must be escaped is, what is not allowed there (control characters in XML, bytes that are
//! no UTF-8) becomes U+FFFD.
//!
//! Nearly every value is short and plain, so the first look is eight bytes at a time and ends in a copy. It deliberately
//! does not write quotes or tags around the text.

/// Writes the content of an XML element.
#[inline]
pub fn xml_text(out: &mut Vec<u8>, text: &[u8]) {
    write::<XmlText>(out, text);
}

/// Writes the content of an XML attribute in double quotes.
#[inline]
pub fn xml_attribute(out: &mut Vec<u8>, text: &[u8]) {
    write::<XmlAttribute>(out, text);
}

/// Writes the content of a JSON string.
#[inline]
pub fn json_text(out: &mut Vec<u8>, text: &[u8]) {
    write::<JsonText>(out, text);
}

/// Writes `text` through `encode` unless it consists of characters that mean themselves in a URL path segment.
#[inline]
pub(crate) fn url_text(out: &mut Vec<u8>, text: &[u8], encode: impl FnOnce(&mut Vec<u8>, &[u8])) {
    if text.iter().all(|byte| UNRESERVED[usize::from(*byte)]) {
        out.extend_from_slice(text);
    } else {
        encode(out, text);
    }
}

/// Number of bytes from the front of a JSON document that surely belong to a string: neither quotes, backslashes nor
/// control characters.
#[inline]
pub(crate) fn json_plain_length(text: &[u8]) -> usize {
    let mut length = 0;
    for chunk in text.chunks_exact(8) {
        let word = word(chunk);
        // The lowest bit is exact: a borrow makes false ones only above a true one.
        let special = below(word, 0x20) | equal(word, b'"') | equal(word, b'\\');
        if special != 0 {
            return length + special.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = text[length..].iter().position(|byte| JsonText::SPECIAL[usize::from(*byte)]);
    rest.map_or(text.len(), |rest| length + rest)
}

/// Replacement of a character that cannot be written.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// RFC 3986, section 2.3.
const UNRESERVED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'-' | b'.' | b'_' | b'~');
        byte += 1;
    }
    table
};

/// A place for escaped text.
trait Escaping {
    /// For each byte of valid UTF-8: 0 if it means itself.
    const SPECIAL: [bool; 256];
    /// Non-zero if one of the eight bytes may need more than a copy: a special character or one beyond ASCII.
    fn suspects(word: u64) -> u64;
    /// Writes the special character at the front of `rest`; returns its length in `rest`, in bytes.
    fn replace(out: &mut Vec<u8>, rest: &[u8]) -> usize;
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// A byte that is special nowhere, in all eight places.
const PLAIN: u64 = ONES * b'a' as u64;

/// The high bit of each byte below `limit` (at most 128), exact as a yes or no for the whole word.
#[inline(always)]
const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * limit as u64) & !word & HIGHS
}

/// The same for bytes equal to `byte`.
#[inline(always)]
const fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * byte as u64);
    difference.wrapping_sub(ONES) & !difference & HIGHS
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}

#[inline(always)]
fn half_word(bytes: &[u8]) -> u64 {
    u64::from(u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")))
}

#[inline(always)]
fn write<P: Escaping>(out: &mut Vec<u8>, text: &[u8]) {
    let length = text.len();
    let end = out.len() + length;
    if length < 8 {
        // Up to seven bytes become one word: one check and one store of a fixed size, instead of a call that copies.
        let word = match length {
            4.. => half_word(text) | half_word(&text[length - 4..]) << (8 * (length - 4)),
            1.. => {
                let middle = length / 2;
                u64::from(text[0])
                    | u64::from(text[middle]) << (8 * middle)
                    | u64::from(text[length - 1]) << (8 * (length - 1))
            }
            0 => return,
        };
        if P::suspects(word | PLAIN << (8 * length)) == 0 {
            out.extend_from_slice(&word.to_le_bytes());
            out.truncate(end);
            return;
        }
    } else if length <= 16 {
        let (first, last) = (word(text), word(&text[length - 8..]));
        if P::suspects(first) | P::suspects(last) == 0 {
            out.extend_from_slice(&first.to_le_bytes());
            out.truncate(end - 8);
            out.extend_from_slice(&last.to_le_bytes());
            return;
        }
    } else {
        let suspects = text.chunks_exact(8).fold(0, |suspects, chunk| suspects | P::suspects(word(chunk)));
        if suspects | P::suspects(word(&text[length - 8..])) == 0 {
            out.extend_from_slice(text);
            return;
        }
    }
    write_special::<P>(out, text);
}

#[cold]
#[inline(never)]
fn write_special<P: Escaping>(out: &mut Vec<u8>, text: &[u8]) {
    for chunk in text.utf8_chunks() {
        let mut rest = chunk.valid().as_bytes();
        while let Some(at) = rest.iter().position(|byte| P::SPECIAL[usize::from(*byte)]) {
            out.extend_from_slice(&rest[..at]);
            let taken = P::replace(out, &rest[at..]);
            rest = &rest[at + taken..];
        }
        out.extend_from_slice(rest);
        if !chunk.invalid().is_empty() {
            out.extend_from_slice(REPLACEMENT);
        }
    }
}

struct XmlText;
struct XmlAttribute;
struct JsonText;

/// Markup, control characters, and the first byte of U+FFFE and U+FFFF.
const fn xml_special(more: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'&' as usize] = true;
    table[b'<' as usize] = true;
    table[b'>' as usize] = true;
    table[0xef] = true;
    let mut at = 0;
    while at < more.len() {
        table[more[at] as usize] = true;
        at += 1;
    }
    table
}

fn xml_replace(out: &mut Vec<u8>, rest: &[u8]) -> usize {
    let text: &[u8] = match rest {
        [b'&', ..] => b"&amp;",
        [b'<', ..] => b"&lt;",
        [b'>', ..] => b"&gt;",
        [b'"', ..] => b"&quot;",
        // A reader would take a bare carriage return for a line feed (XML 1.0, section 2.11).
        [b'\r', ..] => b"&#xD;",
        [0xef, 0xbf, 0xbe | 0xbf, ..] => {
            out.extend_from_slice(REPLACEMENT);
            return 3;
        }
        [byte @ (0xef | b'\t' | b'\n'), ..] => {
            out.push(*byte);
            return 1;
        }
        // XML 1.0 has no way to write the other control characters.
        _ => REPLACEMENT,
    };
    out.extend_from_slice(text);
    1
}

impl Escaping for XmlText {
    const SPECIAL: [bool; 256] = xml_special(b"");

    #[inline(always)]
    fn suspects(word: u64) -> u64 {
        // '<' and '>' differ in one bit: with it set, one comparison finds both.
        below(word, 0x20) | equal(word, b'&') | equal(word | (ONES * 2), b'>') | (word & HIGHS)
    }

    fn replace(out: &mut Vec<u8>, rest: &[u8]) -> usize {
        xml_replace(out, rest)
    }
}

impl Escaping for XmlAttribute {
    const SPECIAL: [bool; 256] = xml_special(b"\"");

    #[inline(always)]
    fn suspects(word: u64) -> u64 {
        XmlText::suspects(word) | equal(word, b'"')
    }

    fn replace(out: &mut Vec<u8>, rest: &[u8]) -> usize {
        // A reader would take a bare tab or line feed in an attribute for a space (XML 1.0, section 3.3.3).
        match rest[0] {
            b'\t' => out.extend_from_slice(b"&#x9;"),
            b'\n' => out.extend_from_slice(b"&#xA;"),
            _ => return xml_replace(out, rest),
        }
        1
    }
}

impl Escaping for JsonText {
    const SPECIAL: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 0x20 {
            table[byte] = true;
            byte += 1;
        }
        table[b'"' as usize] = true;
        table[b'\\' as usize] = true;
        table
    };

    #[inline(always)]
    fn suspects(word: u64) -> u64 {
        below(word, 0x20) | equal(word, b'"') | equal(word, b'\\') | (word & HIGHS)
    }

    fn replace(out: &mut Vec<u8>, rest: &[u8]) -> usize {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let byte = rest[0];
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            }
        }
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(write: fn(&mut Vec<u8>, &[u8]), text: &[u8]) -> String {
        let mut out = b"^".to_vec();
        write(&mut out, text);
        String::from_utf8(out).unwrap()[1..].to_owned()
    }

    #[test]
    fn special_characters_are_escaped_in_their_place() {
        for (text, xml, attribute, json) in [
            ("", "", "", ""),
            ("a<b>&\"'", "a&lt;b&gt;&amp;\"'", "a&lt;b&gt;&amp;&quot;'", "a<b>&\\\"'"),
            ("tab\tline\nreturn\r", "tab\tline\nreturn&#xD;", "tab&#x9;line&#xA;return&#xD;", "tab\\tline\\nreturn\\r"),
            (
                "nul\0 esc\u{1b} del\u{7f}",
                "nul\u{fffd} esc\u{fffd} del\u{7f}",
                "nul\u{fffd} esc\u{fffd} del\u{7f}",
                "nul\\u0000 esc\\u001b del\u{7f}",
            ),
            (
                "Zürich \u{fffe}\u{ffff}\u{fffd} 🛫",
                "Zürich \u{fffd}\u{fffd}\u{fffd} 🛫",
                "Zürich \u{fffd}\u{fffd}\u{fffd} 🛫",
                "Zürich \u{fffe}\u{ffff}\u{fffd} 🛫",
            ),
            ("C:\\flights", "C:\\flights", "C:\\flights", "C:\\\\flights"),
        ] {
            assert_eq!(written(xml_text, text.as_bytes()), xml);
            assert_eq!(written(xml_attribute, text.as_bytes()), attribute);
            assert_eq!(written(json_text, text.as_bytes()), json);
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        for write in [xml_text, xml_attribute, json_text] {
            assert_eq!(written(write, b"caf\xe9 au lait"), "caf\u{fffd} au lait");
            assert_eq!(written(write, b"\xff"), "\u{fffd}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_look_misses_nothing(text in proptest::collection::vec(prop_oneof![
            4 => 0x20u8..0x7f, 1 => any::<u8>(), 1 => proptest::sample::select(b"<>&\"\\\r\n".to_vec()),
        ], 0..40)) {
            fn slow<P: Escaping>(text: &[u8]) -> Vec<u8> {
                let mut out = Vec::new();
                write_special::<P>(&mut out, text);
                out
            }
            prop_assert_eq!(written(xml_text, &text).into_bytes(), slow::<XmlText>(&text));
            prop_assert_eq!(written(xml_attribute, &text).into_bytes(), slow::<XmlAttribute>(&text));
            prop_assert_eq!(written(json_text, &text).into_bytes(), slow::<JsonText>(&text));
        }
    }
}
