//! XML elements one after another, on top of quick-xml: names without prefixes, texts with their references resolved.
//!
//! It refuses what no answer of a service needs and attacks do: document type declarations (and with them entities) and
//! deep nesting. Comments and processing instructions are passed over.

use super::ReadError;
use quick_xml::events;
use quick_xml::events::BytesStart;
use quick_xml::events::attributes::Attribute;
use std::borrow::Cow;

/// Open elements beyond which no document is read.
pub(crate) const DEPTH_MAX: usize = 64;
/// Bytes beyond which no document is read.
pub(crate) const BYTES_MAX: usize = 256 << 20;

/// Reads one document.
pub(crate) struct Reader<'a> {
    reader: quick_xml::Reader<&'a [u8]>,
    depth: usize,
    /// An empty element was begun; its end comes next.
    pending_end: bool,
}

/// What stands next inside of an element.
pub(crate) enum Event<'a> {
    /// A start tag.
    Begin(Tag<'a>),
    /// Text, one of perhaps several parts.
    Text(Cow<'a, str>),
    /// The end tag of the innermost open element.
    End,
}

/// A start tag: local name and attributes by local name.
pub(crate) struct Tag<'a>(BytesStart<'a>);

impl Tag<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        if self.0.attributes_raw().is_empty() {
            return None;
        }
        // They were checked when the tag was read.
        let mut attributes = self.0.attributes();
        let mut attributes = attributes.with_checks(false).flatten();
        let is_it = |found: &Attribute<'_>| {
            found.key.local_name().as_ref() == name && found.key.as_namespace_binding().is_none()
        };
        attributes.find(is_it)?.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok()
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(document: &'a [u8]) -> Result<Reader<'a>, ReadError> {
        if document.len() > BYTES_MAX {
            let message = format!("the document has {} bytes, at most {BYTES_MAX} are read", document.len());
            return Err(ReadError { position: BYTES_MAX, message });
        }
        let text = std::str::from_utf8(document).map_err(|error| ReadError {
            position: error.valid_up_to(),
            message: "the document is no UTF-8".to_owned(),
        })?;
        Ok(Reader { reader: quick_xml::Reader::from_str(text), depth: 0, pending_end: false })
    }

    /// Byte offset of what will be read next.
    pub(crate) fn position(&self) -> usize {
        self.reader.buffer_position() as usize
    }

    /// The start tag of the root element.
    pub(crate) fn root(&mut self) -> Result<Tag<'a>, ReadError> {
        loop {
            match self.next()? {
                Event::Begin(tag) => return Ok(tag),
                Event::Text(text) if text.trim().is_empty() => {}
                Event::Text(_) | Event::End => return Err(self.fault("expected an element")),
            }
        }
    }

    /// Nothing but space may follow.
    pub(crate) fn end(&mut self) -> Result<(), ReadError> {
        loop {
            match self.reader.read_event() {
                Ok(events::Event::Eof) => return Ok(()),
                Ok(events::Event::Comment(_) | events::Event::PI(_)) => {}
                Ok(events::Event::Text(text)) if text.xml10_content().trim().is_empty() => {}
                Ok(_) => return Err(self.fault("the document goes on behind its root element")),
                Err(error) => return Err(self.syntax(&error)),
            }
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

    /// The same, where elements inside of it are an error; `scratch` holds a text of several parts.
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
        let depth = self.depth;
        while self.depth >= depth {
            self.next()?;
        }
        Ok(())
    }

    /// What stands next.
    pub(crate) fn next(&mut self) -> Result<Event<'a>, ReadError> {
        if std::mem::take(&mut self.pending_end) {
            self.depth -= 1;
            return Ok(Event::End);
        }
        loop {
            let event = self.reader.read_event().map_err(|error| self.syntax(&error))?;
            match event {
                events::Event::Start(start) => return self.begin(start),
                events::Event::Empty(start) => {
                    self.pending_end = true;
                    return self.begin(start);
                }
                events::Event::End(_) => {
                    self.depth -= 1;
                    return Ok(Event::End);
                }
                events::Event::Text(text) => return Ok(Event::Text(text.xml10_content())),
                events::Event::CData(text) => return Ok(Event::Text(text.xml10_content())),
                events::Event::GeneralRef(reference) => {
                    if let Some(character) = reference.resolve_char_ref().map_err(|error| self.syntax(&error))? {
                        return Ok(Event::Text(Cow::Owned(character.to_string())));
                    }
                    let name = reference.xml10_content();
                    let text = quick_xml::escape::resolve_predefined_entity(&name);
                    let text = text.ok_or_else(|| self.fault(format!("unknown entity '{name}'")))?;
                    return Ok(Event::Text(Cow::Borrowed(text)));
                }
                events::Event::DocType(_) => return Err(self.fault("a document type declaration is not read")),
                events::Event::Comment(_) | events::Event::PI(_) | events::Event::Decl(_) => {}
                events::Event::Eof => return Err(self.fault("the document ends within an element")),
            }
        }
    }

    fn begin(&mut self, start: BytesStart<'a>) -> Result<Event<'a>, ReadError> {
        if self.depth == DEPTH_MAX {
            return Err(self.fault(format!("elements are nested deeper than {DEPTH_MAX}")));
        }
        self.depth += 1;
        // Most elements of a body have none.
        if !start.attributes_raw().is_empty() {
            for attribute in start.attributes() {
                let attribute = attribute.map_err(|error| self.fault(error.to_string()))?;
                // Only a reference can be wrong in a value.
                if attribute.value.contains('&') {
                    let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0);
                    value.map_err(|error| self.syntax(&error))?;
                }
            }
        }
        Ok(Event::Begin(Tag(start)))
    }

    fn syntax(&self, error: &quick_xml::Error) -> ReadError {
        self.fault(error.to_string())
    }

    fn fault(&self, message: impl Into<String>) -> ReadError {
        ReadError { position: self.position(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of_root(document: &str) -> Result<String, ReadError> {
        let mut reader = Reader::new(document.as_bytes())?;
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
        check("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "a document type declaration is not read");
        check("<a>&b;</a>", "unknown entity 'b'");
        check("<a>", "the document ends within an element");
        check("<a></a><a/>", "the document goes on behind its root element");
        check("<a></b>", "");
        check("a", "expected an element");
        assert_eq!(Reader::new(b"<a>\xff</a>").err().map(|error| error.position), Some(3));
    }

    #[test]
    fn the_depth_holds_at_the_limit_and_one_above() {
        let nested = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
        assert!(text_of_root(&nested(DEPTH_MAX)).is_ok());
        let error = text_of_root(&nested(DEPTH_MAX + 1)).unwrap_err();
        assert_eq!(error.message, "elements are nested deeper than 64");
    }
}
