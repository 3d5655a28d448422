//! A pull reader: the tags and texts of a document one after another, without a tree, for a caller that knows which
//! elements may come.
//!
//! A document is checked against XML 1.0 as by the reader of trees, but namespaces are resolved only on request: names
//! are without their prefix. It deliberately reads no document type, and keeps only the open tags.

use std::borrow::Cow;
use std::ops::Range;

use super::attribute::Written;
use super::markup::{Ends, Markup, Markups};
use super::{decode, push_with_newlines, reference};
use crate::characters::{Bracket, first_forbidden, is_blank, is_plain_name, is_space, split_name};
use crate::names::XML_NAMESPACE;

/// Attributes of one element.
const ATTRIBUTES_MAX: usize = 1024;

/// The place of an error, as a byte offset, and its message.
pub type Wrong = (usize, String);

/// Reads one document.
#[derive(Debug)]
pub struct PullReader<'s> {
    source: &'s str,
    markups: Markups<'s>,
    content_start: usize,
    /// Number of bytes read.
    position: usize,
    depth_max: usize,
    /// The names of the open elements and the places of their attributes, outermost first.
    open: Vec<(&'s str, Range<usize>)>,
    /// A document type is passed over, not refused.
    passes_document_type: bool,
    /// An empty element was begun; its end comes next.
    ends: bool,
    seen_element: bool,
}

/// The next event.
#[derive(Debug)]
pub enum Event<'s> {
    /// A start tag.
    Begin(StartTag<'s>),
    /// Text of the innermost open element, one of perhaps several parts, references resolved.
    Text(Cow<'s, str>),
    /// The end of the innermost open element.
    End,
}

/// A start tag.
#[derive(Debug, Clone)]
pub struct StartTag<'s> {
    source: &'s str,
    local: &'s str,
    /// The text behind the name, up to the end of the tag.
    attributes: Range<usize>,
}

impl<'s> StartTag<'s> {
    /// Its name behind the prefix.
    #[inline]
    pub fn name(&self) -> &'s str {
        self.local
    }

    /// The value of the first attribute of that name behind the prefix, white space and references resolved.
    pub fn attribute(&self, name: &str) -> Option<Cow<'s, str>> {
        let mut at = self.attributes.start;
        // They were checked when the tag was read.
        while let Ok(Some(Written { name: found, prefix_length, value })) =
            Written::next(self.source, at..self.attributes.end)
        {
            at = value.end + 1;
            let (prefix, local) = self.source[found].split_at(prefix_length);
            if local == name && prefix != "xmlns:" && local != "xmlns" {
                return normalized(self.source, value).ok();
            }
        }
        None
    }
}

impl<'s> PullReader<'s> {
    /// A reader of a document whose elements are nested at most this deep.
    pub fn new(source: &'s str, depth_max: usize) -> PullReader<'s> {
        let content_start = if source.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        PullReader {
            source,
            markups: Markups::new(source, content_start),
            content_start,
            position: content_start,
            depth_max,
            open: Vec::with_capacity(16),
            passes_document_type: false,
            ends: false,
            seen_element: false,
        }
    }

    /// Passes over a document type before the first element, unread: what it declares is unknown.
    #[must_use]
    pub fn passing_document_type(mut self) -> PullReader<'s> {
        self.passes_document_type = true;
        self
    }

    /// The namespace of the innermost open element; none where it is in no namespace or its prefix is not declared.
    ///
    /// Looks through the open tags from the innermost one outwards, so ask only about elements that matter.
    pub fn namespace(&self) -> Option<Cow<'s, str>> {
        let (prefix, _) = split_name(self.open.last()?.0)?;
        if prefix == "xml" {
            return Some(Cow::Borrowed(XML_NAMESPACE));
        }
        let declared = self.open.iter().rev().find_map(|(_, attributes)| declared(self.source, attributes, prefix))?;
        (!declared.is_empty()).then_some(declared)
    }

    /// Byte offset of what will be read next.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Number of open elements.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next event; `None` at the end of the document.
    ///
    /// # Errors
    /// The error, with its place.
    pub fn event(&mut self) -> Result<Option<Event<'s>>, Wrong> {
        if std::mem::take(&mut self.ends) {
            self.open.pop();
            return Ok(Some(Event::End));
        }
        loop {
            let Some((markup, span)) = self.markups.next().map_err(|(at, what)| (at, what.to_owned()))? else {
                return match self.open.last() {
                    Some((name, _)) => Err((self.position, format!("the document ends within `{name}`"))),
                    None if !self.seen_element => Err((self.position, "no element".to_owned())),
                    None => Ok(None),
                };
            };
            self.position = span.end;
            match markup {
                Markup::Text(seen) => {
                    let text = &self.source[span.clone()];
                    if self.open.is_empty() && is_blank(text) {
                        continue;
                    }
                    self.inside(span.start)?;
                    if seen.has_suspects()
                        && let Some(at) = first_forbidden(text, Bracket::MayNotEndSections)
                    {
                        return Err(forbidden(self.source, span.start + at));
                    }
                    return Ok(Some(Event::Text(with_newlines(text, seen.has_returns()))));
                }
                Markup::Section => {
                    self.inside(span.start)?;
                    let inside = span.start + "<![CDATA[".len()..span.end - "]]>".len();
                    let text = self.allowed(inside)?;
                    let has_returns = memchr::memchr(b'\r', text.as_bytes()).is_some();
                    return Ok(Some(Event::Text(with_newlines(text, has_returns))));
                }
                Markup::Reference => {
                    self.inside(span.start)?;
                    let character = resolved(self.source, span.start + 1..span.end - 1)?;
                    return Ok(Some(Event::Text(match character {
                        '<' => Cow::Borrowed("<"),
                        '>' => Cow::Borrowed(">"),
                        '&' => Cow::Borrowed("&"),
                        other => Cow::Owned(other.to_string()),
                    })));
                }
                Markup::Start { name_end, attributes_end, ends } => {
                    let tag = self.start(span.start, name_end, attributes_end)?;
                    self.ends = ends == Ends::Element;
                    return Ok(Some(Event::Begin(tag)));
                }
                Markup::End { name_end } => {
                    let written = &self.source[span.start + "</".len()..name_end];
                    return match self.open.pop() {
                        Some((opened, _)) if opened == written => Ok(Some(Event::End)),
                        Some((opened, _)) => {
                            Err((span.start, format!("`</{written}>` where `</{opened}>` was expected")))
                        }
                        None => Err((span.start, format!("`</{written}>` closes nothing"))),
                    };
                }
                Markup::Comment => {
                    self.allowed(span.start + "<!--".len()..span.end - "-->".len())?;
                }
                Markup::Instruction => self.instruction(span.start + "<?".len()..span.end - "?>".len())?,
                Markup::Declaration if span.start != self.content_start => {
                    return Err((span.start, "a declaration of XML stands at the very beginning only".to_owned()));
                }
                Markup::Declaration => decode::check_declaration(&self.source[span.clone()])
                    .map_err(|(at, message)| (span.start + at, message))?,
                Markup::DocumentType if self.passes_document_type && !self.seen_element => {}
                Markup::DocumentType => return Err((span.start, "a document type is not allowed here".to_owned())),
            }
        }
    }

    /// Checks that character data, a reference or a section is inside of an element.
    fn inside(&self, at: usize) -> Result<(), Wrong> {
        match self.open.is_empty() {
            true => Err((at, "character data outside of the document element".to_owned())),
            false => Ok(()),
        }
    }

    /// Checks that a piece of the document has only allowed characters.
    fn allowed(&self, span: Range<usize>) -> Result<&'s str, Wrong> {
        let text = &self.source[span.clone()];
        match first_forbidden(text, Bracket::Harmless) {
            None => Ok(text),
            Some(at) => Err(forbidden(self.source, span.start + at)),
        }
    }

    #[inline]
    fn start(&mut self, start: usize, name_end: usize, attributes_end: usize) -> Result<StartTag<'s>, Wrong> {
        let written = &self.source[start + 1..name_end];
        if self.open.is_empty() && std::mem::replace(&mut self.seen_element, true) {
            return Err((start, "a second document element".to_owned()));
        }
        let Some((_, local)) = split_name(written) else {
            return Err((start + 1, format!("`{written}` is no name of an element")));
        };
        if self.open.len() == self.depth_max {
            return Err((start, format!("elements are nested deeper than {}", self.depth_max)));
        }
        self.open.push((written, name_end..attributes_end));
        // Most elements have none.
        if name_end < attributes_end {
            self.check_attributes(name_end..attributes_end)?;
        }
        Ok(StartTag { source: self.source, local, attributes: name_end..attributes_end })
    }

    fn check_attributes(&self, span: Range<usize>) -> Result<(), Wrong> {
        let mut seen: Vec<&str> = Vec::new();
        let mut at = span.start;
        while let Some(Written { name, value, .. }) = Written::next(self.source, at..span.end)? {
            at = value.end + 1;
            if seen.len() == ATTRIBUTES_MAX {
                return Err((name.start, format!("more than {ATTRIBUTES_MAX} attributes of an element")));
            }
            self.allowed(value.clone())?;
            normalized(self.source, value)?;
            seen.push(&self.source[name]);
        }
        seen.sort_unstable();
        match seen.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err((span.start, format!("attribute `{}` stands twice", pair[0]))),
        }
    }

    fn instruction(&self, span: Range<usize>) -> Result<(), Wrong> {
        let text = self.allowed(span.clone())?;
        let target = &text[..text.bytes().position(is_space).unwrap_or(text.len())];
        match target {
            _ if !is_plain_name(target) => {
                Err((span.start, format!("`{target}` is no target of a processing instruction")))
            }
            _ if target.eq_ignore_ascii_case("xml") => {
                Err((span.start, "a declaration of XML stands at the very beginning only".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

/// The namespace that the attributes of a tag declare for a prefix; the empty prefix is that of the default namespace.
fn declared<'s>(source: &'s str, attributes: &Range<usize>, prefix: &str) -> Option<Cow<'s, str>> {
    let mut at = attributes.start;
    // They were checked when the tag was read.
    while let Ok(Some(Written { name, value, .. })) = Written::next(source, at..attributes.end) {
        at = value.end + 1;
        let of = source[name].strip_prefix("xmlns").and_then(|rest| match rest {
            "" => Some(""),
            _ => rest.strip_prefix(':'),
        });
        if of == Some(prefix) {
            return normalized(source, value).ok();
        }
    }
    None
}

/// A text from between tags, with its references resolved; line ends stay as they are.
///
/// # Errors
/// The error in a reference, with its place.
pub fn unescaped(text: &str) -> Result<Cow<'_, str>, Wrong> {
    let mut made = String::new();
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'&', &text.as_bytes()[at..]) {
        made.push_str(&text[at..at + offset]);
        at += offset;
        let Some(length) = memchr::memchr(b';', &text.as_bytes()[at..]) else {
            return Err((at, "`&` that begins no reference".to_owned()));
        };
        made.push(resolved(text, at + 1..at + length)?);
        at += length + 1;
    }
    match at {
        0 => Ok(Cow::Borrowed(text)),
        _ => Ok(Cow::Owned(made + &text[at..])),
    }
}

#[cold]
fn forbidden(source: &str, at: usize) -> Wrong {
    if source[at..].starts_with("]]>") {
        return (at, "`]]>` in character data: write `]]&gt;`".to_owned());
    }
    let code = source[at..].chars().next().map_or(0, u32::from);
    (at, format!("character U+{code:04X} may stand in no document"))
}

/// The character for the reference whose name is a piece of a text.
fn resolved(source: &str, name: Range<usize>) -> Result<char, Wrong> {
    let (at, name) = (name.start - 1, &source[name]);
    match reference::predefined(name) {
        Ok(Some(character)) => Ok(character),
        Ok(None) => Err((at, format!("entity `{name}` is not declared"))),
        Err(message) => Err((at, message)),
    }
}

fn with_newlines(text: &str, has_returns: bool) -> Cow<'_, str> {
    if !has_returns {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    push_with_newlines(&mut made, text);
    Cow::Owned(made)
}

/// An attribute's value: line ends and white space become spaces, references are resolved (section 3.3.3).
fn normalized(source: &str, value: Range<usize>) -> Result<Cow<'_, str>, Wrong> {
    let raw = &source[value.clone()];
    let is_special = |byte: u8| matches!(byte, b'&' | b'<' | b'\t' | b'\n' | b'\r');
    if !raw.bytes().any(is_special) {
        return Ok(Cow::Borrowed(raw));
    }
    let mut made = String::with_capacity(raw.len());
    let mut at = value.start;
    while let Some(offset) = source[at..value.end].bytes().position(is_special) {
        made.push_str(&source[at..at + offset]);
        at += offset;
        match &source.as_bytes()[at..value.end] {
            [b'<', ..] => return Err((at, "`<` in a value: write `&lt;`".to_owned())),
            [b'&', rest @ ..] => {
                let Some(length) = memchr::memchr(b';', rest) else {
                    return Err((at, "`&` that begins no reference".to_owned()));
                };
                made.push(resolved(source, at + 1..at + 1 + length)?);
                at += length + 2;
            }
            [b'\r', b'\n', ..] => {
                made.push(' ');
                at += 2;
            }
            _ => {
                made.push(' ');
                at += 1;
            }
        }
    }
    made.push_str(&source[at..value.end]);
    Ok(Cow::Owned(made))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events as a text: `<name`, texts in brackets, `>` for ends; or the place and what is wrong.
    fn events(source: &str) -> Result<String, Wrong> {
        let mut reader = PullReader::new(source, 4);
        let mut seen = String::new();
        while let Some(event) = reader.event()? {
            match event {
                Event::Begin(tag) => seen.push_str(&format!("<{}", tag.name())),
                Event::Text(text) => seen.push_str(&format!("[{text}]")),
                Event::End => seen.push('>'),
            }
        }
        Ok(seen)
    }

    #[test]
    fn tags_and_texts_come_one_after_another() {
        for (source, expected) in [
            ("\u{feff}<?xml version='1.0'?><!-- x --><p:a x='1'>b<c/>\r\nd</p:a> <?y?>", "<a[b]<c>[\nd]>"),
            ("<a>1&lt;&#65;<![CDATA[<&\r]]></a >", "<a[1][<][A][<&\n]>"),
            ("<größe></größe>", "<größe>"),
        ] {
            assert_eq!(events(source).as_deref(), Ok(expected), "{source}");
        }
    }

    #[test]
    fn attributes_are_found_behind_their_prefix_and_normalized() {
        let source = "<a xmlns:x='u' xmlns='v' m:b=' 1&amp;\r\n&#x9;2' b='3' c=''/>";
        let Ok(Some(Event::Begin(tag))) = PullReader::new(source, 1).event() else { panic!("a start tag") };
        assert_eq!(tag.attribute("b").as_deref(), Some(" 1& \t2"));
        assert_eq!(tag.attribute("c").as_deref(), Some(""));
        assert_eq!((tag.attribute("x"), tag.attribute("xmlns"), tag.attribute("d")), (None, None, None));
    }

    #[test]
    fn the_namespace_of_an_element_is_that_of_the_nearest_declaration() {
        for (source, expected) in [
            ("<p:a xmlns:p='u'><p:b xmlns:p='v'/><p:c/></p:a>", "a=u b=v c=u "),
            ("<a xmlns='u'><b xmlns=''><c/></b><d/></a>", "a=u b=- c=- d=u "),
            ("<a><p:b xmlns:p='u'/><p:c xmlns:p='v'/><p:d/></a>", "a=- b=u c=v d=- "),
            (
                "<xml:a xmlns='u'><p:b xmlns:pp='w' xmlns:p='x&amp;y'/></xml:a>",
                "a=http://www.w3.org/XML/1998/namespace b=x&y ",
            ),
            ("<!DOCTYPE a [<!ENTITY b '>'>]><a xmlns='u' />", "a=u "),
        ] {
            let (mut reader, mut seen) = (PullReader::new(source, 4).passing_document_type(), String::new());
            while let Some(event) = reader.event().unwrap() {
                if let Event::Begin(tag) = event {
                    seen.push_str(&format!("{}={} ", tag.name(), reader.namespace().as_deref().unwrap_or("-")));
                }
            }
            assert_eq!(seen, expected, "{source}");
        }
    }

    #[test]
    fn references_of_a_text_are_resolved() {
        assert_eq!(unescaped("a&lt;&#x42;c\r").as_deref(), Ok("a<Bc\r"));
        assert!(matches!(unescaped("plain"), Ok(Cow::Borrowed("plain"))));
        assert_eq!(unescaped("a&b;"), Err((1, "entity `b` is not declared".to_owned())));
        assert_eq!(unescaped("ab&lt"), Err((2, "`&` that begins no reference".to_owned())));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (source, place, message) in [
            ("", 0, "no element"),
            ("<a>", 3, "the document ends within `a`"),
            ("<a></b>", 3, "`</b>` where `</a>` was expected"),
            ("</b>", 0, "`</b>` closes nothing"),
            ("<a/><b/>", 4, "a second document element"),
            ("<a/>b", 4, "character data outside of the document element"),
            ("<a>&b;</a>", 3, "entity `b` is not declared"),
            ("<a>&#0;</a>", 3, "`&#0;` is a character that may stand in no document"),
            ("<a b='&c;'/>", 6, "entity `c` is not declared"),
            ("<a b='1' b='2'/>", 2, "attribute `b` stands twice"),
            ("<a b='<'/>", 6, "`<` in a value: write `&lt;`"),
            ("<a b=1/>", 5, "the value of `b` stands in no quotes"),
            ("<a>\u{1}</a>", 3, "character U+0001 may stand in no document"),
            ("<a>]]></a>", 3, "`]]>` in character data: write `]]&gt;`"),
            ("<a><!-- \u{2} --></a>", 8, "character U+0002 may stand in no document"),
            ("<!DOCTYPE a><a/>", 0, "a document type is not allowed here"),
            ("<a/><?xml version='1.0'?>", 4, "a declaration of XML stands at the very beginning only"),
            ("<1/>", 1, "`1` is no name of an element"),
            ("<a><a><a><a><a/></a></a></a></a>", 12, "elements are nested deeper than 4"),
            ("<a", 0, "markup that is not closed, or no markup at all"),
        ] {
            assert_eq!(events(source), Err((place, message.to_owned())), "{source}");
        }
    }
}
