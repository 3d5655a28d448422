//! Escapes of characters that mean something else in their place, and of those that an encoding does not have.

use super::Bytes;

/// The place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Between tags.
    Content,
    /// In an attribute of XML, in double quotes.
    Attribute,
    /// In an attribute of HTML: `<` stays, and `&` before `{` (XSLT 1.0, section 16.2).
    HtmlAttribute,
}

const CONTENT: [bool; 256] = special(b"&<>\r");
const ATTRIBUTE: [bool; 256] = special(b"&<>\"\t\n\r");
const HTML_ATTRIBUTE: [bool; 256] = special(b"&\"");

const fn special(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
}

/// Writes a text.
pub(super) fn escaped(bytes: &mut Bytes, text: &str, place: Slot) {
    let table = match place {
        Slot::Content => &CONTENT,
        Slot::Attribute => &ATTRIBUTE,
        Slot::HtmlAttribute => &HTML_ATTRIBUTE,
    };
    if !bytes.has_all() && !text.is_ascii() {
        return escaped_by_character(bytes, text, table, place);
    }
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| table[usize::from(byte)]) {
        bytes.push(&rest[..at]);
        bytes.push(reference(rest, at, place));
        rest = &rest[at + 1..];
    }
    bytes.push(rest);
}

fn reference(text: &str, at: usize, place: Slot) -> &'static str {
    match text.as_bytes()[at] {
        b'&' if place == Slot::HtmlAttribute && text.as_bytes().get(at + 1) == Some(&b'{') => "&",
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        b'"' => "&quot;",
        b'\t' => "&#9;",
        b'\n' => "&#10;",
        _ => "&#13;",
    }
}

fn escaped_by_character(bytes: &mut Bytes, text: &str, table: &[bool; 256], place: Slot) {
    for (at, character) in text.char_indices() {
        if character.is_ascii() && table[character as usize] {
            bytes.push(reference(text, at, place));
        } else if bytes.has(character) {
            bytes.push(character.encode_utf8(&mut [0; 4]));
        } else {
            bytes.push(&format!("&#{};", u32::from(character)));
        }
    }
}

/// Writes a text as CDATA sections: `]]>`, characters that the encoding does not have, and carriage returns, which a
/// reader would take for line feeds, are written outside of them.
pub(super) fn sections(bytes: &mut Bytes, text: &str) {
    bytes.push("<![CDATA[");
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memmem::find(rest.as_bytes(), b"]]>").map(|at| at + 2);
        let strange = rest.find(|character| character == '\r' || !bytes.has(character));
        match (end, strange) {
            (_, Some(at)) if end.is_none_or(|end| at < end) => {
                let character = rest[at..].chars().next().unwrap_or_default();
                bytes.push(&rest[..at]);
                bytes.push(&format!("]]>&#{};<![CDATA[", u32::from(character)));
                rest = &rest[at + character.len_utf8()..];
            }
            (Some(end), _) => {
                bytes.push(&rest[..end]);
                bytes.push("]]><![CDATA[");
                rest = &rest[end..];
            }
            _ => {
                bytes.push(rest);
                rest = "";
            }
        }
    }
    bytes.push("]]>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(encoding: &str, text: &str, place: Option<Slot>, expected: &str) {
        let mut bytes = Bytes::new(encoding, usize::MAX).unwrap();
        match place {
            Some(place) => escaped(&mut bytes, text, place),
            None => sections(&mut bytes, text),
        }
        assert_eq!(String::from_utf8(bytes.text).unwrap(), expected);
    }

    #[test]
    fn each_place_has_its_own_special_characters() {
        check("UTF-8", "a<&>\"'\n\r", Some(Slot::Content), "a&lt;&amp;&gt;\"'\n&#13;");
        check("UTF-8", "a<&>\"'\n", Some(Slot::Attribute), "a&lt;&amp;&gt;&quot;'&#10;");
        check("UTF-8", "a<&\"&{x}", Some(Slot::HtmlAttribute), "a<&amp;&quot;&{x}");
        check("US-ASCII", "é€<", Some(Slot::Content), "&#233;&#8364;&lt;");
        check("ISO-8859-1", "é\u{2603}", Some(Slot::Content), "é&#9731;");
        check("UTF-8", "a]]>b", None, "<![CDATA[a]]]]><![CDATA[>b]]>");
        check("UTF-8", "a\r", None, "<![CDATA[a]]>&#13;<![CDATA[]]>");
        check("US-ASCII", "aéb", None, "<![CDATA[a]]>&#233;<![CDATA[b]]>");
    }
}
