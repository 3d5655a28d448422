//! XML elements one after another, by the reader of tollgate-xml: names without prefixes, texts with their references
//! resolved.
//!
//! It refuses what no answer of a service needs and attacks do: document type declarations (and with them entities) and
//! deep nesting. Comments and processing instructions are passed over.

use super::ReadError;
use std::borrow::Cow;
use tollgate_xml::pull::{PullReader, Wrong};

pub(crate) use tollgate_xml::pull::{Event, StartTag as Tag, unescaped};

/// Open elements beyond which no document is read.
pub(crate) const DEPTH_MAX: usize = 64;
/// Bytes beyond which no document is read.
pub(crate) const BYTES_MAX: usize = 256 << 20;

/// Reads one document.
pub(crate) struct XmlReader<'a> {
    reader: PullReader<'a>,
}

impl<'a> XmlReader<'a> {
    pub(crate) fn new(document: &'a [u8]) -> Result<XmlReader<'a>, ReadError> {
        if document.len() > BYTES_MAX {
            let message = format!("the document has {} bytes, at most {BYTES_MAX} are read", document.len());
            return Err(ReadError { position: BYTES_MAX, message });
        }
        let text = std::str::from_utf8(document).map_err(|error| ReadError {
            position: error.valid_up_to(),
            message: "the document is no UTF-8".to_owned(),
        })?;
        Ok(XmlReader { reader: PullReader::new(text, DEPTH_MAX) })
    }

    /// Byte offset of what will be read next.
    pub(crate) fn position(&self) -> usize {
        self.reader.position()
    }

    /// The start tag of the root element.
    pub(crate) fn root(&mut self) -> Result<Tag<'a>, ReadError> {
        match self.next()? {
            Event::Begin(tag) => Ok(tag),
            Event::Text(_) | Event::End => Err(self.fault("expected an element")),
        }
    }

    /// Checks that only space follows.
    pub(crate) fn end(&mut self) -> Result<(), ReadError> {
        match self.reader.event().map_err(wrong)? {
            None => Ok(()),
            Some(_) => Err(self.fault("the document goes on behind its root element")),
        }
    }

    /// The next child of the innermost open element, or `None` at its end. Text between children is passed over.
    pub(crate) fn child(&mut self) -> Result<Option<Tag<'a>>, ReadError> {
        loop {
            match self.next()? {
                Event::Begin(tag) => return Ok(Some(tag)),
                Event::Text(_) => {}
                Event::End => return Ok(None),
            }
        }
    }

    /// The text of the innermost open element up to its end; elements inside of it are passed over.
    pub(crate) fn text(&mut self) -> Result<String, ReadError> {
        let mut text = String::new();
        loop {
            match self.next()? {
                Event::Begin(_) => self.skip()?,
                Event::Text(part) => text.push_str(&part),
                Event::End => return Ok(text),
            }
        }
    }

    /// As [`Self::text`], but elements inside of it are an error; `scratch` contains a text of several parts.
    pub(crate) fn text_in<'t>(&mut self, scratch: &'t mut String) -> Result<Cow<'t, str>, ReadError>
    where
        'a: 't,
    {
        let first = match self.next()? {
            Event::Begin(tag) => return Err(self.fault(format!("expected a text, found the element '{}'", tag.name()))),
            Event::Text(text) => text,
            Event::End => return Ok(Cow::Borrowed("")),
        };
        let mut part = self.next()?;
        if matches!(part, Event::End) {
            return Ok(first);
        }
        scratch.clear();
        scratch.push_str(&first);
        loop {
            match part {
                Event::Begin(tag) => {
                    return Err(self.fault(format!("expected a text, found the element '{}'", tag.name())));
                }
                Event::Text(text) => scratch.push_str(&text),
                Event::End => return Ok(Cow::Borrowed(scratch)),
            }
            part = self.next()?;
        }
    }

    /// Passes over the rest of the innermost open element.
    pub(crate) fn skip(&mut self) -> Result<(), ReadError> {
        let depth = self.reader.depth();
        while self.reader.depth() >= depth {
            self.next()?;
        }
        Ok(())
    }

    /// The next event.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Event<'a>, ReadError> {
        match self.reader.event().map_err(wrong)? {
            Some(event) => Ok(event),
            None => Err(self.fault("the document is over")),
        }
    }

    fn fault(&self, message: impl Into<String>) -> ReadError {
        ReadError { position: self.position(), message: message.into() }
    }
}

#[cold]
fn wrong((position, message): Wrong) -> ReadError {
    ReadError { position, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of_root(document: &str) -> Result<String, ReadError> {
        let mut reader = XmlReader::new(document.as_bytes())?;
        reader.root()?;
        let text = reader.text()?;
        reader.end()?;
        Ok(text)
    }

    #[test]
    fn texts_come_with_their_references_resolved() {
        let check =
            |document: &str, expected: &str| assert_eq!(text_of_root(document).unwrap(), expected, "{document}");
        check("<?xml version='1.0'?><!-- x --><a>1 &lt;&amp;&#xD;&#8364;<b>no</b><![CDATA[<&>]]></a> ", "1 <&\r€<&>");
        check("<x:a/>", "");
    }

    #[test]
    fn what_attacks_need_is_refused() {
        let check = |document: &str, message: &str| {
            let error = text_of_root(document).unwrap_err();
            assert!(error.message.contains(message), "{document}: {error}");
        };
        check("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "a document type is not allowed here");
        check("<a>&b;</a>", "entity `b` is not declared");
        check("<a>", "the document ends within `a`");
        check("<a></a><a/>", "a second document element");
        check("<a></b>", "`</b>` where `</a>` was expected");
        check("a", "character data outside of the document element");
        assert_eq!(XmlReader::new(b"<a>\xff</a>").err().map(|error| error.position), Some(3));
    }

    #[test]
    fn the_depth_holds_at_the_limit_and_one_above() {
        let nested = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
        assert!(text_of_root(&nested(DEPTH_MAX)).is_ok());
        let error = text_of_root(&nested(DEPTH_MAX + 1)).unwrap_err();
        assert_eq!(error.message, "elements are nested deeper than 64");
    }
}
