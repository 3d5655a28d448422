//! Markup in a text: the begin and end of each tag, text, reference, comment and so on (XML 1.0, section 2.4).
//!
//! It only looks for ends: its neighbours judge the text between them. A pass over character data also finds what else
//! has to be looked at, so that the usual text is read once.

use std::ops::Range;

use memchr::{memchr, memchr3, memmem};

use crate::characters::is_space;

/// The pieces of a document, one behind the other.
#[derive(Debug)]
pub(super) struct Markups<'s> {
    source: &'s str,
    at: usize,
}

/// A piece of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// Character data up to the next markup or reference.
    Text(Seen),
    /// `&name;`
    Reference,
    /// `<![CDATA[ … ]]>`
    Section,
    /// A start tag: where its name ends and where its attributes do.
    Start {
        name_end: usize,
        attributes_end: usize,
        ends: Ends,
    },
    /// An end tag: where its name ends.
    End {
        name_end: usize,
    },
    Comment,
    /// A processing instruction.
    Instruction,
    /// `<?xml … ?>`
    Declaration,
    DocumentType,
}

/// Whether a start tag is also the end of its element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Tag,
    Element,
}

/// Bytes that were seen in character data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen(u8);

impl Seen {
    const END: u8 = 1;
    const SUSPECT: u8 = 2;
    const RETURN: u8 = 4;

    /// Whether there was a byte that may belong to a character that no document may contain.
    pub(super) fn has_suspects(self) -> bool {
        self.0 & Seen::SUSPECT != 0
    }

    /// Whether there are carriage returns.
    pub(super) fn has_returns(self) -> bool {
        self.0 & Seen::RETURN != 0
    }
}

/// The place of a piece without an end, and its kind.
type Unended = (usize, &'static str);

const UNENDED_TAG: &str = "markup that is not closed, or no markup at all";

impl<'s> Markups<'s> {
    pub(super) fn new(source: &'s str, start: usize) -> Markups<'s> {
        Markups { source, at: start }
    }

    /// The next piece and its place.
    ///
    /// # Errors
    /// A piece has no end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(Markup, Range<usize>)>, Unended> {
        let start = self.at;
        let rest = &self.source.as_bytes()[start..];
        let (markup, length) = match rest {
            [] => return Ok(None),
            [b'<', b'/', ..] => self.end_tag(rest)?,
            [b'<', b'!', ..] => self.exclamation(rest)?,
            [b'<', b'?', ..] => self.question(rest)?,
            [b'<', ..] => self.start_tag(rest)?,
            [b'&', ..] => match memchr3(b';', b'<', b'&', &rest[1..]) {
                Some(end) if rest[1 + end] == b';' => (Markup::Reference, end + 2),
                _ => return Err((start, "`&` that begins no reference")),
            },
            _ => text(rest),
        };
        self.at = start + length;
        Ok(Some((markup, start..self.at)))
    }

    #[inline]
    fn start_tag(&self, rest: &[u8]) -> Result<(Markup, usize), Unended> {
        let mut at = 1;
        // `>` ends a tag outside of quotes only.
        let end = loop {
            match rest[at..].iter().position(|byte| matches!(byte, b'>' | b'"' | b'\'')) {
                None => return Err((self.at, UNENDED_TAG)),
                Some(offset) if rest[at + offset] == b'>' => break at + offset,
                Some(offset) => {
                    let behind = at + offset + 1;
                    match memchr(rest[behind - 1], &rest[behind..]) {
                        Some(length) => at = behind + length + 1,
                        None => return Err((self.at, UNENDED_TAG)),
                    }
                }
            }
        };
        let (content_end, ends) = if rest[end - 1] == b'/' { (end - 1, Ends::Element) } else { (end, Ends::Tag) };
        let content = &rest[1..content_end];
        let name_length = content.iter().position(|byte| is_space(*byte)).unwrap_or(content.len());
        let start = self.at;
        let markup = Markup::Start { name_end: start + 1 + name_length, attributes_end: start + content_end, ends };
        Ok((markup, end + 1))
    }

    #[inline]
    fn end_tag(&self, rest: &[u8]) -> Result<(Markup, usize), Unended> {
        let Some(end) = rest.iter().position(|byte| *byte == b'>') else { return Err((self.at, UNENDED_TAG)) };
        let blank = rest[2..end].iter().rev().take_while(|byte| is_space(**byte)).count();
        Ok((Markup::End { name_end: self.at + end - blank }, end + 1))
    }

    /// A comment, a CDATA section or a document type.
    fn exclamation(&self, rest: &[u8]) -> Result<(Markup, usize), Unended> {
        const COMMENT: &[u8] = b"<!--";
        const SECTION: &[u8] = b"<![CDATA[";
        if rest.starts_with(COMMENT) {
            // `--` ends a comment, and may stand in it nowhere else.
            let inside = &rest[COMMENT.len()..];
            return match memmem::find(inside, b"--") {
                None => Err((self.at, "a comment is not closed")),
                Some(end) if inside.get(end + 2) == Some(&b'>') => {
                    Ok((Markup::Comment, COMMENT.len() + end + b"-->".len()))
                }
                Some(at) => Err((self.at + COMMENT.len() + at, "`--` in a comment")),
            };
        }
        if rest.starts_with(SECTION) {
            return match memmem::find(&rest[SECTION.len()..], b"]]>") {
                None => Err((self.at, "a CDATA section is not closed")),
                Some(end) => Ok((Markup::Section, SECTION.len() + end + b"]]>".len())),
            };
        }
        if !rest.starts_with(b"<!DOCTYPE") {
            return Err((self.at, UNENDED_TAG));
        }
        match document_type_length(rest) {
            None => Err((self.at, "the document type is not closed")),
            Some(length) => Ok((Markup::DocumentType, length)),
        }
    }

    /// The declaration of XML, or a processing instruction.
    fn question(&self, rest: &[u8]) -> Result<(Markup, usize), Unended> {
        let inside = &rest[b"<?".len()..];
        let Some(end) = memmem::find(inside, b"?>") else { return Err((self.at, UNENDED_TAG)) };
        let is_declaration = inside.starts_with(b"xml") && (end == 3 || is_space(inside[3]));
        let markup = if is_declaration { Markup::Declaration } else { Markup::Instruction };
        Ok((markup, end + b"<??>".len()))
    }
}

/// Character data up to `<`, `&` or the end.
#[inline]
fn text(rest: &[u8]) -> (Markup, usize) {
    let mut seen = 0;
    for (at, byte) in rest.iter().enumerate() {
        let class = CLASSES[usize::from(*byte)];
        if class & Seen::END != 0 {
            return (Markup::Text(Seen(seen)), at);
        }
        seen |= class;
    }
    (Markup::Text(Seen(seen)), rest.len())
}

/// Bytes of a document type: to the `>` outside of quotes, comments, instructions and its internal subset.
fn document_type_length(rest: &[u8]) -> Option<usize> {
    let mut at = b"<!DOCTYPE".len();
    let mut is_inside = false;
    loop {
        let behind = at + 1;
        at = match rest.get(at)? {
            b'>' if !is_inside => return Some(behind),
            quote @ (b'"' | b'\'') => behind + memchr(*quote, &rest[behind..])? + 1,
            b'<' if rest[behind..].starts_with(b"!--") => behind + 3 + memmem::find(&rest[behind + 3..], b"-->")? + 3,
            b'<' if rest[behind..].starts_with(b"?") => behind + memmem::find(&rest[behind..], b"?>")? + 2,
            bracket @ (b'[' | b']') => {
                is_inside = *bracket == b'[';
                behind
            }
            _ => behind,
        };
    }
}

/// The class of each byte in character data.
const CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'<' | b'&' => Seen::END,
            b'\r' => Seen::RETURN,
            b'\t' | b'\n' => 0,
            // `]]>` may not stand there; behind EF there may be U+FFFE.
            0..0x20 | b']' | 0xEF => Seen::SUSPECT,
            _ => 0,
        };
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[(&str, &str)]) {
        let mut markups = Markups::new(source, 0);
        let mut found = Vec::new();
        while let Some((markup, span)) = markups.next().unwrap() {
            let kind = format!("{markup:?}");
            found.push((kind.split([' ', '(']).next().unwrap().to_owned(), &source[span]));
        }
        let found: Vec<_> = found.iter().map(|(kind, text)| (&**kind, *text)).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn pieces_end_where_they_end() {
        check(
            "<a b='>' c=\"'>\">x&y;z</a >",
            &[("Start", "<a b='>' c=\"'>\">"), ("Text", "x"), ("Reference", "&y;"), ("Text", "z"), ("End", "</a >")],
        );
        check(
            "<?xml?><?xmlx ?><!---->]]><![CDATA[>]]]>",
            &[
                ("Declaration", "<?xml?>"),
                ("Instruction", "<?xmlx ?>"),
                ("Comment", "<!---->"),
                ("Text", "]]>"),
                ("Section", "<![CDATA[>]]]>"),
            ],
        );
        check(
            "<!DOCTYPE a SYSTEM '>' [<!ENTITY b ']>'><!-- '>]> --><?p ]>?>%c;] ><a/>",
            &[
                ("DocumentType", "<!DOCTYPE a SYSTEM '>' [<!ENTITY b ']>'><!-- '>]> --><?p ]>?>%c;] >"),
                ("Start", "<a/>"),
            ],
        );
    }

    #[test]
    fn what_does_not_end_is_told_with_its_place() {
        for (source, place) in [
            ("<a", 0),
            ("<a b='>", 0),
            ("</a", 0),
            ("<!-- a", 0),
            ("<!-- a -- -->", 7),
            ("<!-- a --->", 7),
            ("<!-->", 0),
            ("<![CDATA[ ]]", 0),
            ("<!ELEMENT a>", 0),
            ("<!doctype a>", 0),
            ("<!DOCTYPE a [>", 0),
            ("<?a >", 0),
            ("&a", 0),
            ("&a<b/>;", 0),
            ("&a&b;", 0),
        ] {
            assert_eq!(Markups::new(source, 0).next().unwrap_err().0, place, "{source}");
        }
    }
}
