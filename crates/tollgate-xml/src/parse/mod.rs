//! From text to tree in one pass: `markup` finds the pieces, this module checks them against XML 1.0 (fifth edition)
//! and Namespaces in XML 1.0, and the tree's builder stores them.
//!
//! A document type is refused unless [`Doctype::InternalSubset`] asks for it; nothing outside the text is ever read.

mod attribute;
mod decode;
mod doctype;
mod document;
mod markup;
pub mod pull;
mod reference;
mod workspace;

use std::borrow::Cow;
use std::ops::Range;

use self::attribute::Attribute;
pub(crate) use self::decode::{decode, decode_as, utf8_declaration_length};
use self::doctype::Declarations;
use self::markup::{Ends, Markup, Markups, Seen};
pub use self::workspace::Workspace;
use crate::budget::{Budget, exceeded};
use crate::characters::{Bracket, first_forbidden, is_blank, is_plain_name, is_space, split_name};
use crate::error::{Error, ErrorKind};
use crate::names::{Name, Namespace, Prefix, XML_NAMESPACE, XMLNS_NAMESPACE};
use crate::tree::{Builder, Document, NodeId, NodeKind, Origin, Spare, Value};

/// Options for reading a document.
#[derive(Clone, Copy, Default)]
pub struct Options<'o> {
    /// Its limits; absent: the default.
    pub budget: Option<&'o Budget>,
    /// The treatment of a document type.
    pub doctype: Doctype,
    /// The texts of only white space that are left out; absent: none.
    pub whitespace: Option<&'o dyn Whitespace>,
}

/// The treatment of a document type declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Doctype {
    /// It is an error: most documents need none, and many attacks do.
    #[default]
    Refuse,
    /// Its internal subset is read: entities, defaults of attributes, types ID and NMTOKENS, unparsed entities.
    /// External resources that it refers to are not.
    InternalSubset,
}

/// Selects the elements whose texts of only white space are left out (XSLT 1.0, section 3.4).
///
/// `xml:space` goes before it.
pub trait Whitespace {
    /// Whether such texts directly in an element of this name are left out.
    fn strips(&self, namespace_uri: &str, local: &str) -> bool;
}

/// Reads a document.
pub(crate) fn parse<'s>(source: &'s str, options: &Options<'_>) -> Result<Document<'s>, Error> {
    parse_within(source, options, None)
}

fn parse_within<'s>(source: &'s str, options: &Options<'_>, spare: Option<Spare>) -> Result<Document<'s>, Error> {
    let default = Budget::default();
    let budget = options.budget.unwrap_or(&default);
    // Places in the tree are 32 bits wide.
    let bytes_max = budget.document_bytes_max.min(u32::MAX as usize);
    if source.len() > bytes_max {
        return Err(exceeded("bytes of a document", bytes_max as u64));
    }
    Parse::new(source, options, budget, spare).document()
}

/// Reads a document of any encoding.
pub(crate) fn parse_bytes<'s>(source: &'s [u8], options: &Options<'_>) -> Result<Document<'s>, Error> {
    parse_bytes_within(source, options, None)
}

fn parse_bytes_within<'s>(
    source: &'s [u8],
    options: &Options<'_>,
    spare: Option<Spare>,
) -> Result<Document<'s>, Error> {
    match decode(source)? {
        Cow::Borrowed(text) => parse_within(text, options, spare),
        Cow::Owned(text) => {
            let default = Budget::default();
            let budget = options.budget.unwrap_or(&default);
            if text.len() > budget.document_bytes_max {
                return Err(exceeded("bytes of a document", budget.document_bytes_max as u64));
            }
            Ok(parse_within(&text, options, spare)?.into_owned())
        }
    }
}

struct Parse<'s, 'o> {
    source: &'s str,
    budget: &'o Budget,
    doctype: Doctype,
    whitespace: Option<&'o dyn Whitespace>,
    builder: Builder<'s>,
    /// The text being gathered.
    text: Option<Value>,
    /// Attributes of one element, used again for the next.
    attributes: Vec<Attribute>,
    /// For each open element, the treatment of white space in it; empty if none is left out.
    spaces: Vec<Space>,
    declarations: Option<Declarations>,
    identifiers: Vec<(Box<str>, NodeId)>,
    seen_element: bool,
}

impl<'s, 'o> Parse<'s, 'o> {
    fn new(source: &'s str, options: &Options<'o>, budget: &'o Budget, spare: Option<Spare>) -> Parse<'s, 'o> {
        Parse {
            source,
            budget,
            doctype: options.doctype,
            whitespace: options.whitespace,
            builder: Builder::within(Cow::Borrowed(source), budget, spare),
            text: None,
            attributes: Vec::with_capacity(8),
            spaces: Vec::new(),
            declarations: None,
            identifiers: Vec::new(),
            seen_element: false,
        }
    }

    fn document(mut self) -> Result<Document<'s>, Error> {
        let content_start = if self.source.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        let mut markups = Markups::new(self.source, content_start);
        while let Some((markup, span)) = markups.next().map_err(|(at, message)| self.wrong(at, message))? {
            if !matches!(markup, Markup::Text(_) | Markup::Section | Markup::Reference) {
                self.end_text()?;
            }
            match markup {
                Markup::Text(seen) => self.characters(span, seen)?,
                Markup::Section => {
                    self.inside(span.start)?;
                    self.section(span.start + "<![CDATA[".len()..span.end - "]]>".len())?;
                }
                Markup::Reference => {
                    self.inside(span.start)?;
                    self.reference(&self.source[span.start + 1..span.end - 1], span.start)?;
                }
                Markup::Start { name_end, attributes_end, ends } => {
                    self.open(span.start, name_end, attributes_end)?;
                    if ends == Ends::Element {
                        self.close(span.end);
                    }
                }
                Markup::End { name_end } => {
                    self.check_end(span.start, name_end)?;
                    self.close(span.end);
                }
                Markup::Comment => self.comment(span.start + "<!--".len()..span.end - "-->".len())?,
                Markup::Instruction => self.instruction(span.start + "<?".len()..span.end - "?>".len())?,
                Markup::Declaration => self.declaration(span, content_start)?,
                Markup::DocumentType => self.document_type(span)?,
            }
        }
        if self.builder.depth() > 0 {
            let open = self.builder.document().local_name(self.builder.current()).to_owned();
            return Err(self.wrong(self.source.len(), format!("the document ends within `{open}`")));
        }
        if !self.seen_element {
            return Err(self.wrong(self.source.len(), "no element"));
        }
        self.identifiers.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.identifiers.dedup_by(|(later, _), (first, _)| later == first);
        let unparsed = self.declarations.take().map_or_else(Vec::new, Declarations::into_unparsed_entities);
        Ok(self.builder.finish(self.identifiers, unparsed))
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> Error {
        Error::at(ErrorKind::Document, self.source, at, message)
    }

    /// An error of the budget, at its place.
    fn too_much(&self, at: usize, error: &Error) -> Error {
        Error::at(error.kind(), self.source, at, error.message())
    }

    /// Checks that character data, a reference or a section is inside of an element.
    fn inside(&self, at: usize) -> Result<(), Error> {
        if self.builder.depth() == 0 {
            return Err(self.wrong(at, "character data outside of the document element"));
        }
        Ok(())
    }

    /// Text as it is, up to the next markup or reference.
    fn characters(&mut self, span: Range<usize>, seen: Seen) -> Result<(), Error> {
        let text = &self.source[span.clone()];
        if self.builder.depth() == 0 {
            if is_blank(text) {
                return Ok(());
            }
            let blank = text.bytes().take_while(|byte| is_space(*byte)).count();
            return Err(self.wrong(span.start + blank, "character data outside of the document element"));
        }
        if seen.has_suspects()
            && let Some(at) = first_forbidden(text, Bracket::MayNotEndSections)
        {
            return Err(self.forbidden(span.start + at));
        }
        self.add_text(span, seen.has_returns())
    }

    /// The content of a CDATA section.
    fn section(&mut self, span: Range<usize>) -> Result<(), Error> {
        if let Some(at) = first_forbidden(&self.source[span.clone()], Bracket::Harmless) {
            return Err(self.forbidden(span.start + at));
        }
        let has_returns = memchr::memchr(b'\r', self.source[span.clone()].as_bytes()).is_some();
        if span.is_empty() { Ok(()) } else { self.add_text(span, has_returns) }
    }

    fn forbidden(&self, at: usize) -> Error {
        if self.source[at..].starts_with("]]>") {
            return self.wrong(at, "`]]>` in character data: write `]]&gt;`");
        }
        let code = self.source[at..].chars().next().map_or(0, u32::from);
        self.wrong(at, format!("character U+{code:04X} may stand in no document"))
    }

    /// Adds a piece of the source to the text being gathered; line ends become newlines (section 2.11).
    fn add_text(&mut self, span: Range<usize>, has_returns: bool) -> Result<(), Error> {
        let piece = &self.source[span.clone()];
        if self.text.is_none() && !has_returns {
            self.text = Some(Value::Source(span.clone()));
        } else {
            self.move_text_beside();
            push_with_newlines(self.builder.beside(), piece);
            self.text_grew();
        }
        self.check_text(span.start)
    }

    /// The text being gathered continues where pieces can be put together.
    fn move_text_beside(&mut self) {
        let beside = self.builder.beside();
        let start = beside.len();
        match self.text.take() {
            Some(Value::Beside(span)) => self.text = Some(Value::Beside(span)),
            Some(Value::Source(span)) => {
                beside.push_str(&self.source[span]);
                self.text = Some(Value::Beside(start..beside.len()));
            }
            None => self.text = Some(Value::Beside(start..start)),
        }
    }

    fn text_grew(&mut self) {
        let end = self.builder.beside().len();
        if let Some(Value::Beside(span)) = &mut self.text {
            span.end = end;
        }
    }

    fn check_text(&self, at: usize) -> Result<(), Error> {
        let bytes = match &self.text {
            Some(Value::Source(span) | Value::Beside(span)) => span.len(),
            None => 0,
        };
        if bytes > self.budget.text_bytes_max {
            return Err(self.too_much(at, &exceeded("bytes of a text", self.budget.text_bytes_max as u64)));
        }
        Ok(())
    }

    /// `&name;` in content.
    fn reference(&mut self, name: &str, start: usize) -> Result<(), Error> {
        let resolved = reference::predefined(name).map_err(|message| self.wrong(start, message))?;
        match resolved {
            Some(character) => {
                self.move_text_beside();
                self.builder.beside().push(character);
                self.text_grew();
                self.check_text(start)
            }
            None => {
                let text = self.entity(name, start)?;
                self.builder.departs_from_source();
                self.move_text_beside();
                self.builder.beside().push_str(&text);
                self.text_grew();
                self.check_text(start)
            }
        }
    }

    /// The replacement of an entity of the document type, with references in it resolved.
    fn entity(&mut self, name: &str, at: usize) -> Result<String, Error> {
        let Some(declarations) = &mut self.declarations else {
            return Err(self.wrong(at, format!("entity `{name}` is not declared")));
        };
        match declarations.expand(name) {
            Ok(text) => Ok(text),
            Err(error) => Err(self.too_much(at, &error)),
        }
    }

    /// Ends the text being gathered.
    fn end_text(&mut self) -> Result<(), Error> {
        let Some(value) = self.text.take() else { return Ok(()) };
        let text = match &value {
            Value::Source(span) => &self.source[span.clone()],
            Value::Beside(span) => &self.builder.document().beside()[span.clone()],
        };
        if text.is_empty() {
            return Ok(());
        }
        if self.spaces.last().is_some_and(|space| space.strips) && is_blank(text) {
            self.builder.departs_from_source();
            return Ok(());
        }
        let unnamed = Name(0);
        self.builder.leaf(NodeKind::Text, unnamed, value)?;
        Ok(())
    }

    fn open(&mut self, start: usize, name_end: usize, attributes_end: usize) -> Result<(), Error> {
        if self.builder.depth() == 0 && std::mem::replace(&mut self.seen_element, true) {
            return Err(self.wrong(start, "a second document element"));
        }
        let name_start = start + 1;
        let written = &self.source[name_start..name_end];
        let Some((prefix, local)) = split_name(written) else {
            return Err(self.wrong(name_start, format!("`{written}` is no name of an element")));
        };
        self.builder.open_element(start, Origin::Source).map_err(|error| self.too_much(start, &error))?;
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.clear();
        if name_end < attributes_end {
            self.read_attributes(name_end..attributes_end, &mut attributes)?;
        }
        if self.declarations.is_some() {
            self.add_defaults(written, &mut attributes, start)?;
        }
        for attribute in &attributes {
            self.declare(attribute)?;
        }
        let prefix_id = self.builder.names().prefix(prefix);
        let namespace = self.resolve(prefix_id, prefix, name_start)?;
        let name = self.builder.names().name(namespace, local);
        self.builder.name_element(prefix_id, name)?;
        let mut preserves = None;
        for attribute in &mut attributes {
            self.add_attribute(attribute, written, &mut preserves)?;
        }
        if attributes.len() > 1 {
            self.check_twice(&attributes)?;
        }
        self.attributes = attributes;
        if self.whitespace.is_some() {
            self.begin_stripping(namespace, local, preserves);
        }
        Ok(())
    }

    /// An end tag names the innermost open element.
    fn check_end(&self, start: usize, name_end: usize) -> Result<(), Error> {
        let written = &self.source[start + "</".len()..name_end];
        if self.builder.depth() == 0 {
            return Err(self.wrong(start, format!("`</{written}>` closes nothing")));
        }
        let document = self.builder.document();
        let opened = document.source_offset(self.builder.current()).map_or("", |open| &self.source[open + 1..]);
        let is_same =
            opened.as_bytes().get(written.len()).is_some_and(|byte| is_space(*byte) || matches!(byte, b'>' | b'/'))
                && opened.starts_with(written);
        if is_same {
            return Ok(());
        }
        let expected = opened.split([' ', '\t', '\n', '\r', '>', '/']).next().unwrap_or_default();
        Err(self.wrong(start, format!("`</{written}>` where `</{expected}>` was expected")))
    }

    fn close(&mut self, end: usize) {
        self.builder.close_element(end);
        self.spaces.pop();
    }

    fn begin_stripping(&mut self, namespace: Namespace, local: &str, stated: Option<bool>) {
        let Some(whitespace) = self.whitespace else { return };
        // `xml:space` holds for all that is in its element, until one further in says otherwise (section 2.10).
        let preserves = stated.unwrap_or_else(|| self.spaces.last().is_some_and(|around| around.preserves));
        let uri = self.builder.document().namespace_text(namespace);
        self.spaces.push(Space { preserves, strips: !preserves && whitespace.strips(uri, local) });
    }

    fn resolve(&self, id: Prefix, prefix: &str, at: usize) -> Result<Namespace, Error> {
        match self.builder.resolve(id) {
            Some(namespace) => Ok(namespace),
            None => Err(self.wrong(at, format!("prefix `{prefix}` is not declared"))),
        }
    }

    /// Stores an attribute's declaration of a namespace, if it is one.
    fn declare(&mut self, attribute: &Attribute) -> Result<(), Error> {
        let prefix = match (attribute.prefix(self.source), attribute.local(self.source)) {
            ("", "xmlns") => "",
            ("xmlns", prefix) => prefix,
            _ => return Ok(()),
        };
        let made;
        let uri = match &attribute.value {
            Value::Source(span) => &self.source[span.clone()],
            Value::Beside(_) => {
                made = attribute.value(self.source, self.builder.document().beside()).to_owned();
                &made
            }
        };
        let wrong = |message: String| Err(self.wrong(attribute.name.start, message));
        match (prefix, uri) {
            ("xmlns", _) => return wrong("the prefix `xmlns` cannot be declared".to_owned()),
            ("xml", XML_NAMESPACE) => return Ok(()),
            ("xml", _) => return wrong("the prefix `xml` stands for its own namespace only".to_owned()),
            (_, XML_NAMESPACE | XMLNS_NAMESPACE) => return wrong(format!("`{uri}` cannot be declared")),
            ("", _) => {}
            (_, "") => return wrong(format!("prefix `{prefix}` is declared to be no namespace")),
            _ => {}
        }
        let prefix = self.builder.names().prefix(prefix);
        let namespace = self.builder.names().namespace(uri);
        self.builder.declare(prefix, namespace);
        Ok(())
    }

    fn add_attribute(
        &mut self,
        attribute: &mut Attribute,
        element: &str,
        preserves: &mut Option<bool>,
    ) -> Result<(), Error> {
        let (prefix, local) = (attribute.prefix(self.source), attribute.local(self.source));
        if prefix == "xmlns" || (prefix.is_empty() && local == "xmlns") {
            return Ok(());
        }
        let prefix_id = self.builder.names().prefix(prefix);
        // Without a prefix an attribute stands in no namespace, whatever the default is.
        let namespace = match prefix {
            "" => Namespace::NONE,
            _ => self.resolve(prefix_id, prefix, attribute.name.start)?,
        };
        let name = self.builder.names().name(namespace, local);
        let is_space = prefix == "xml" && local == "space";
        attribute.resolved = Some(name);
        let node = self.builder.attribute(prefix_id, name, attribute.value.clone())?;
        if is_space {
            *preserves = Some(self.builder.document().value(node) == "preserve");
        }
        if let Some(declarations) = &self.declarations
            && declarations.is_identifier(element, attribute.written(self.source))
        {
            let value = self.builder.document().value(node).into();
            self.identifiers.push((value, self.builder.current()));
        }
        Ok(())
    }

    /// Checks that no attribute occurs twice, even by two prefixes for one namespace (Namespaces in XML, section 6.3).
    fn check_twice(&self, attributes: &[Attribute]) -> Result<(), Error> {
        // Declarations have no expanded name: they are told apart by what is written.
        fn key<'a>(attribute: &'a Attribute, source: &'a str) -> (Option<Name>, &'a str) {
            match attribute.resolved {
                Some(name) => (Some(name), ""),
                None => (None, attribute.written(source)),
            }
        }
        let source = self.source;
        const FEW: usize = 16;
        let twice = if attributes.len() <= FEW {
            let has_before = |(index, attribute): &(usize, &Attribute)| {
                attributes[..*index].iter().any(|before| key(before, source) == key(attribute, source))
            };
            attributes.iter().enumerate().find(has_before).map(|(_, attribute)| attribute)
        } else {
            let mut sorted: Vec<&Attribute> = attributes.iter().collect();
            sorted.sort_by_key(|attribute| key(attribute, source));
            sorted.windows(2).find(|pair| key(pair[0], source) == key(pair[1], source)).map(|pair| pair[1])
        };
        match twice {
            None => Ok(()),
            Some(attribute) => {
                let name = attribute.written(self.source);
                Err(self.wrong(attribute.name.start, format!("attribute `{name}` stands twice")))
            }
        }
    }

    fn comment(&mut self, span: Range<usize>) -> Result<(), Error> {
        let text = &self.source[span.clone()];
        if let Some(at) = first_forbidden(text, Bracket::Harmless) {
            return Err(self.forbidden(span.start + at));
        }
        self.leaf(NodeKind::Comment, Name(0), span)
    }

    fn instruction(&mut self, span: Range<usize>) -> Result<(), Error> {
        let text = &self.source[span.clone()];
        let target_end = text.bytes().position(is_space).unwrap_or(text.len());
        let target = &text[..target_end];
        if !is_plain_name(target) {
            return Err(self.wrong(span.start, format!("`{target}` is no target of a processing instruction")));
        }
        if target.eq_ignore_ascii_case("xml") {
            return Err(self.wrong(span.start, "a declaration of XML stands at the very beginning only"));
        }
        if let Some(at) = first_forbidden(text, Bracket::Harmless) {
            return Err(self.forbidden(span.start + at));
        }
        let blank = text[target_end..].bytes().take_while(|byte| is_space(*byte)).count();
        let name = self.builder.names().name(Namespace::NONE, target);
        self.leaf(NodeKind::ProcessingInstruction, name, span.start + target_end + blank..span.end)
    }

    fn leaf(&mut self, kind: NodeKind, name: Name, span: Range<usize>) -> Result<(), Error> {
        let text = &self.source[span.clone()];
        let value = if memchr::memchr(b'\r', text.as_bytes()).is_some() {
            let beside = self.builder.beside();
            let start = beside.len();
            push_with_newlines(beside, text);
            Value::Beside(start..beside.len())
        } else {
            Value::Source(span)
        };
        self.builder.leaf(kind, name, value)?;
        Ok(())
    }

    /// `<?xml version="1.0"?>` (section 2.8); its encoding was judged before, or the text came decoded.
    fn declaration(&mut self, span: Range<usize>, content_start: usize) -> Result<(), Error> {
        if span.start != content_start {
            return Err(self.wrong(span.start, "a declaration of XML stands at the very beginning only"));
        }
        decode::check_declaration(&self.source[span.clone()])
            .map_err(|(at, message)| self.wrong(span.start + at, message))
    }

    fn document_type(&mut self, span: Range<usize>) -> Result<(), Error> {
        if self.doctype == Doctype::Refuse {
            return Err(self.wrong(span.start, "a document type is not allowed here"));
        }
        if self.seen_element || self.declarations.is_some() {
            return Err(self.wrong(span.start, "a document type stands once, before the document element"));
        }
        let declarations = Declarations::read(&self.source[span.clone()], self.budget)
            .map_err(|(at, message)| self.wrong(span.start + at, message))?;
        self.declarations = Some(declarations);
        Ok(())
    }
}

/// The treatment of texts of only white space in an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Space {
    /// `xml:space` around it says that it stays.
    preserves: bool,
    /// `Whitespace` leaves it out.
    strips: bool,
}

/// Line ends of the systems become newlines (section 2.11).
fn push_with_newlines(text: &mut String, piece: &str) {
    let mut rest = piece;
    while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        text.push('\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests;
