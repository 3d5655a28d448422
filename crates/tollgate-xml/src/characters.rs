//! The characters that XML 1.0 (fifth edition) allows: sections 2.2 and 2.3, and names of Namespaces in XML.
//!
//! It judges single characters and names, those of encodings among them; their meaning is not known here.

/// Whether a document may contain this character (production `Char`).
pub(crate) fn is_character(character: char) -> bool {
    matches!(character,
        '\u{9}' | '\u{A}' | '\u{D}' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

/// Whether it is white space (production `S`).
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether all of a text is white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(is_space)
}

/// Whether a name is one of those of ISO-8859-1.
pub(crate) fn is_latin1(encoding: &str) -> bool {
    ["ISO-8859-1", "ISO_8859-1", "LATIN1", "L1"].iter().any(|name| encoding.eq_ignore_ascii_case(name))
}

/// Whether a name may begin with it, the colon aside.
pub(crate) fn is_name_start(character: char) -> bool {
    matches!(character,
        'A'..='Z' | '_' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Whether a name may contain it behind its first character, the colon aside.
pub(crate) fn is_name_part(character: char) -> bool {
    is_name_start(character)
        || matches!(character,
            '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// Whether a text is a name without a colon (production `NCName`).
pub(crate) fn is_plain_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.iter().all(|byte| NAME_BYTES[usize::from(*byte)]) {
        // All ASCII: the usual name.
        return !bytes.is_empty() && !matches!(bytes[0], b'-' | b'.' | b'0'..=b'9');
    }
    let mut characters = text.chars();
    characters.next().is_some_and(is_name_start) && characters.all(is_name_part)
}

/// Splits `prefix:local`; `None` where either is no name or there is more than one colon.
pub(crate) fn split_name(text: &str) -> Option<(&str, &str)> {
    let (prefix, local) = match memchr::memchr(b':', text.as_bytes()) {
        Some(colon) => (&text[..colon], &text[colon + 1..]),
        None => return is_plain_name(text).then_some(("", text)),
    };
    (is_plain_name(prefix) && is_plain_name(local)).then_some((prefix, local))
}

const NAME_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = matches!(byte as u8, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.');
        byte += 1;
    }
    table
};

/// The place of the first character that no document may contain, or of `]]>` if `bracket` forbids it.
pub(crate) fn first_forbidden(text: &str, bracket: Bracket) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|byte| SUSPECT[usize::from(*byte)]) {
        at += offset;
        match bytes[at] {
            b']' => {
                if bracket == Bracket::MayNotEndSections && bytes[at..].starts_with(b"]]>") {
                    return Some(at);
                }
            }
            // U+FFFE and U+FFFF are the only characters behind the surrogates that are none.
            0xEF => {
                if matches!(bytes[at..], [0xEF, 0xBF, 0xBE | 0xBF, ..]) {
                    return Some(at);
                }
            }
            _ => return Some(at),
        }
        at += 1;
    }
    None
}

/// The meaning of `]]>` in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    /// Forbidden: it would end a CDATA section (section 2.4).
    MayNotEndSections,
    /// Nothing special, as in comments.
    Harmless,
}

const SUSPECT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = !is_space(byte as u8);
        byte += 1;
    }
    table[b']' as usize] = true;
    table[0xEF] = true;
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_their_one_colon() {
        for (text, expected) in [
            ("a", Some(("", "a"))),
            ("p:a-1.b", Some(("p", "a-1.b"))),
            ("größe:été", Some(("größe", "été"))),
            ("", None),
            (":a", None),
            ("a:", None),
            ("a:b:c", None),
            ("1a", None),
            ("p:-a", None),
            ("a b", None),
            ("a\u{D7}", None),
        ] {
            assert_eq!(split_name(text), expected, "{text}");
        }
    }

    #[test]
    fn characters_that_no_document_may_hold_are_found() {
        for (text, expected) in [
            ("plain text\t\r\n", None),
            ("a\u{1}", Some(1)),
            ("é\u{FFFE}", Some(2)),
            ("\u{FFFD}\u{10FFFF}", None),
            ("a]]b]>", None),
            ("a]]]>", Some(2)),
        ] {
            assert_eq!(first_forbidden(text, Bracket::MayNotEndSections), expected, "{text:?}");
        }
        assert_eq!(first_forbidden("]]>", Bracket::Harmless), None);
    }
}
