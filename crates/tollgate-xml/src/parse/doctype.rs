//! The internal subset of a document type (XML 1.0, section 2.8), for those who ask for it: entities, types and defaults of
//! attributes, unparsed entities.
//!
//! Nothing that it refers to outside is read, and parameter entities are refused: both are what attacks are made of.
//! Declarations of elements and notations are passed over, since nothing is validated.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::reference;
use crate::budget::{Budget, ENTITY_DEPTH_MAX, exceeded};
use crate::characters::{is_character, is_name_part, is_name_start, is_space};
use crate::error::{Error, ErrorKind};

/// The declarations of a document type.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    entities: HashMap<Box<str>, Entity>,
    /// Elements with declared attributes, by name.
    elements: HashMap<Box<str>, Element>,
    /// Bytes that entities may still expand to.
    bytes_left: usize,
    bytes_max: usize,
}

#[derive(Debug, Clone)]
enum Entity {
    /// Its replacement text, references to characters resolved.
    Internal(Rc<str>),
    /// Its replacement text contains markup.
    Markup,
    /// It is in another resource and would be parsed: never read.
    External,
    /// It is in another resource, in a notation of its own: its system identifier.
    Unparsed(Box<str>),
}

/// The attributes that are declared of an element.
#[derive(Debug, Default)]
struct Element {
    kinds: HashMap<Box<str>, AttributeKind>,
    /// Attributes that have a default, in the order of their declarations.
    defaults: Vec<DefaultValue>,
}

/// The default of an attribute.
#[derive(Debug)]
pub(super) struct DefaultValue {
    pub(super) name: Rc<str>,
    pub(super) value: Box<str>,
    /// Its place among the texts of the document, once an element has it.
    pub(super) stored: Option<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttributeKind {
    Text,
    Tokens,
    Identifier,
}

impl Declarations {
    /// Reads `<!DOCTYPE … >`.
    ///
    /// # Errors
    /// The place in `text`, and what is wrong there.
    pub(super) fn read(text: &str, budget: &Budget) -> Result<Declarations, (usize, String)> {
        let bytes_max = budget.entity_bytes_max;
        let declarations = Declarations { bytes_left: bytes_max, bytes_max, ..Declarations::default() };
        let mut subset = Subset { text, at: 0, declarations };
        subset.document_type().map_err(|message| (subset.at, message))?;
        Ok(subset.declarations)
    }

    /// The replacement of `&name;`, with references in it resolved.
    ///
    /// # Errors
    /// It is not declared, refers to itself, is in another resource, or the budget is exceeded.
    pub(super) fn expand(&mut self, name: &str) -> Result<String, Error> {
        let mut expanded = String::new();
        self.expand_into(name, &mut expanded, 0)?;
        Ok(expanded)
    }

    fn expand_into(&mut self, name: &str, expanded: &mut String, depth: usize) -> Result<(), Error> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Document, message));
        if depth >= ENTITY_DEPTH_MAX {
            return Err(exceeded("entities within entities", ENTITY_DEPTH_MAX as u64));
        }
        // A reference is work even where nothing comes of it.
        self.spend(name.len() + 1)?;
        let text = match self.entities.get(name).cloned() {
            None => return wrong(format!("entity `{name}` is not declared")),
            Some(Entity::External) => return wrong(format!("entity `{name}` stands outside, which is never read")),
            Some(Entity::Unparsed(_)) => return wrong(format!("entity `{name}` is unparsed: only attributes name it")),
            Some(Entity::Markup) => {
                return wrong(format!("entity `{name}` holds markup, which is not supported"));
            }
            Some(Entity::Internal(text)) => text,
        };
        let mut rest = &*text;
        while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
            self.spend(at)?;
            expanded.push_str(&rest[..at]);
            let Some(end) = memchr::memchr(b';', &rest.as_bytes()[at..]) else {
                return wrong(format!("entity `{name}` holds a `&` that begins no reference"));
            };
            let inner = &rest[at + 1..at + end];
            match reference::predefined(inner) {
                Ok(Some(character)) => {
                    self.spend(character.len_utf8())?;
                    expanded.push(character);
                }
                Ok(None) => self.expand_into(inner, expanded, depth + 1)?,
                Err(message) => return wrong(message),
            }
            rest = &rest[at + end + 1..];
        }
        self.spend(rest.len())?;
        expanded.push_str(rest);
        Ok(())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Error> {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => {
                self.bytes_left = left;
                Ok(())
            }
            None => Err(exceeded("bytes that entities expand to", self.bytes_max as u64)),
        }
    }

    /// Whether the value of an attribute is a list of tokens, whose white space means nothing (section 3.3.3).
    pub(super) fn is_tokens(&self, element: &str, attribute: &str) -> bool {
        self.kind(element, attribute).is_some_and(|kind| kind != AttributeKind::Text)
    }

    /// Whether an attribute identifies its element.
    pub(super) fn is_identifier(&self, element: &str, attribute: &str) -> bool {
        self.kind(element, attribute).is_some_and(|kind| kind == AttributeKind::Identifier)
    }

    /// Attributes that an element has where its tag does not say otherwise.
    pub(super) fn defaults(&mut self, element: &str) -> &mut [DefaultValue] {
        self.elements.get_mut(element).map_or(&mut [], |element| &mut element.defaults)
    }

    /// Name and system identifier of each unparsed entity.
    pub(super) fn into_unparsed_entities(self) -> Vec<(Box<str>, Box<str>)> {
        let unparsed = self.entities.into_iter().filter_map(|(name, entity)| match entity {
            Entity::Unparsed(system) => Some((name, system)),
            Entity::Internal(_) | Entity::Markup | Entity::External => None,
        });
        let mut unparsed: Vec<_> = unparsed.collect();
        unparsed.sort_unstable();
        unparsed
    }

    fn kind(&self, element: &str, attribute: &str) -> Option<AttributeKind> {
        self.elements.get(element)?.kinds.get(attribute).copied()
    }
}

/// Tokens with one space between them.
pub(super) fn tokens(text: &str) -> String {
    text.split(' ').filter(|token| !token.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A subset being read.
struct Subset<'t> {
    text: &'t str,
    at: usize,
    declarations: Declarations,
}

impl<'t> Subset<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn eats(&mut self, expected: &str) -> bool {
        let is_next = self.rest().starts_with(expected);
        if is_next {
            self.at += expected.len();
        }
        is_next
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        if self.eats(expected) { Ok(()) } else { Err(format!("`{expected}` was expected in the document type")) }
    }

    fn space(&mut self) -> bool {
        let blank = self.rest().bytes().take_while(|byte| is_space(*byte)).count();
        self.at += blank;
        blank > 0
    }

    fn expect_space(&mut self) -> Result<(), String> {
        if self.space() { Ok(()) } else { Err("white space was expected in the document type".to_owned()) }
    }

    fn name(&mut self) -> Result<&'t str, String> {
        let rest = self.rest();
        let is_part = |character: char| is_name_part(character) || character == ':';
        let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        let starts = rest.chars().next().is_some_and(|first| is_name_start(first) || first == ':');
        if !starts {
            return Err("a name was expected in the document type".to_owned());
        }
        self.at += end;
        Ok(&rest[..end])
    }

    fn quoted(&mut self) -> Result<&'t str, String> {
        let rest = self.rest();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''));
        let end = quote.and_then(|quote| rest[1..].find(quote));
        let Some(end) = end else { return Err("a text in quotes was expected in the document type".to_owned()) };
        self.at += end + 2;
        Ok(&rest[1..=end])
    }

    fn document_type(&mut self) -> Result<(), String> {
        self.expect("<!DOCTYPE")?;
        self.expect_space()?;
        self.name()?;
        if self.space() && !self.rest().starts_with(['[', '>']) {
            self.external_identifier()?;
            self.space();
        }
        if self.eats("[") {
            while !self.eats("]") {
                self.declaration()?;
            }
            self.space();
        }
        self.expect(">")
    }

    /// `SYSTEM "…"` or `PUBLIC "…" "…"`: the system identifier.
    fn external_identifier(&mut self) -> Result<&'t str, String> {
        if self.eats("PUBLIC") {
            self.expect_space()?;
            self.quoted()?;
        } else {
            self.expect("SYSTEM")?;
        }
        self.expect_space()?;
        self.quoted()
    }

    fn declaration(&mut self) -> Result<(), String> {
        if self.space() {
            return Ok(());
        }
        if self.rest().starts_with('%') {
            return Err("parameter entities are not read".to_owned());
        }
        for (start, end) in [("<!--", "-->"), ("<?", "?>")] {
            if self.rest().starts_with(start) {
                let found = self.rest()[start.len()..].find(end);
                let Some(found) = found else { return Err(format!("`{start}` is not closed")) };
                self.at += start.len() + found + end.len();
                return Ok(());
            }
        }
        if self.eats("<!ENTITY") {
            self.entity()
        } else if self.eats("<!ATTLIST") {
            self.attribute_list()
        } else if self.rest().starts_with("<!ELEMENT") || self.rest().starts_with("<!NOTATION") {
            self.pass_over()
        } else {
            Err("a declaration was expected in the document type".to_owned())
        }
    }

    /// Skips to the end of a declaration that has no effect here; `>` may occur in quotes.
    fn pass_over(&mut self) -> Result<(), String> {
        let mut quote = None;
        for (offset, byte) in self.rest().bytes().enumerate() {
            match (quote, byte) {
                (None, b'>') => {
                    self.at += offset + 1;
                    return Ok(());
                }
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), close) if open == close => quote = None,
                _ => {}
            }
        }
        Err("a declaration is not closed".to_owned())
    }

    fn entity(&mut self) -> Result<(), String> {
        self.expect_space()?;
        if self.rest().starts_with('%') {
            return Err("parameter entities are not read".to_owned());
        }
        let name = self.name()?;
        self.expect_space()?;
        let entity = if self.rest().starts_with(['"', '\'']) {
            let start = self.at;
            let value = self.quoted()?;
            let text = replacement(value).inspect_err(|_| self.at = start)?;
            // A `<` that a document refers to is a character; one that stands in an entity would be markup.
            if text.contains('<') { Entity::Markup } else { Entity::Internal(text.into()) }
        } else {
            let system = self.external_identifier()?;
            let has_space = self.space();
            if has_space && self.eats("NDATA") {
                self.expect_space()?;
                self.name()?;
                Entity::Unparsed(system.into())
            } else {
                Entity::External
            }
        };
        self.space();
        self.expect(">")?;
        // The first declaration binds (section 4.2).
        self.declarations.entities.entry(name.into()).or_insert(entity);
        Ok(())
    }

    fn attribute_list(&mut self) -> Result<(), String> {
        self.expect_space()?;
        let element = self.name()?;
        loop {
            let has_space = self.space();
            if self.eats(">") {
                return Ok(());
            }
            if !has_space {
                return Err("white space was expected in the document type".to_owned());
            }
            let attribute = self.name()?;
            self.expect_space()?;
            let kind = self.attribute_kind()?;
            self.expect_space()?;
            let default = if self.eats("#REQUIRED") || self.eats("#IMPLIED") {
                None
            } else {
                if self.eats("#FIXED") {
                    self.expect_space()?;
                }
                let start = self.at;
                let value = self.quoted()?;
                Some(self.default_value(value, kind).inspect_err(|_| self.at = start)?)
            };
            let declared = self.declarations.elements.entry(element.into()).or_default();
            // The first declaration counts (section 3.3).
            if !declared.kinds.contains_key(attribute) {
                declared.kinds.insert(attribute.into(), kind);
                let default = default.map(|value| DefaultValue { name: attribute.into(), value, stored: None });
                declared.defaults.extend(default);
            }
        }
    }

    fn attribute_kind(&mut self) -> Result<AttributeKind, String> {
        if self.eats("CDATA") {
            return Ok(AttributeKind::Text);
        }
        for tokens in ["IDREFS", "IDREF", "ENTITIES", "ENTITY", "NMTOKENS", "NMTOKEN"] {
            if self.eats(tokens) {
                return Ok(AttributeKind::Tokens);
            }
        }
        if self.eats("ID") {
            return Ok(AttributeKind::Identifier);
        }
        if self.eats("NOTATION") {
            self.expect_space()?;
        }
        self.expect("(")?;
        let Some(end) = self.rest().find(')') else { return Err("an enumeration is not closed".to_owned()) };
        self.at += end + 1;
        Ok(AttributeKind::Tokens)
    }

    fn default_value(&mut self, value: &str, kind: AttributeKind) -> Result<Box<str>, String> {
        let spaced: String = value
            .chars()
            .map(|character| if matches!(character, '\t' | '\n' | '\r') { ' ' } else { character })
            .collect();
        let mut text = String::new();
        let mut rest = &*spaced;
        while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
            text.push_str(&rest[..at]);
            let end = memchr::memchr(b';', &rest.as_bytes()[at..]).ok_or("`&` that begins no reference")?;
            let name = &rest[at + 1..at + end];
            match reference::predefined(name)? {
                Some(character) => text.push(character),
                None => text.push_str(&self.declarations.expand(name).map_err(|error| error.message().to_owned())?),
            }
            rest = &rest[at + end + 1..];
        }
        text.push_str(rest);
        Ok(if kind == AttributeKind::Text { text.into() } else { tokens(&text).into() })
    }
}

/// The replacement text of an entity's value: references to characters are resolved now, those to entities when it is used
/// (section 4.4).
fn replacement(value: &str) -> Result<Box<str>, String> {
    if let Some(character) = value.chars().find(|character| !is_character(*character)) {
        return Err(format!("character U+{:04X} may stand in no document", u32::from(character)));
    }
    if value.contains('%') {
        return Err("parameter entities are not read".to_owned());
    }
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("&#") {
        text.push_str(&rest[..at]);
        let end = rest[at..].find(';').ok_or("`&` that begins no reference")?;
        let character = reference::predefined(&rest[at + 1..at + end])?.ok_or("`&` that begins no reference")?;
        // `&#38;` means the character, not the beginning of a reference, unless it is written so to be one.
        text.push(character);
        rest = &rest[at + end + 1..];
    }
    text.push_str(rest);
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(subset: &str) -> Result<Declarations, (usize, String)> {
        Declarations::read(&format!("<!DOCTYPE a [{subset}]>"), &Budget::default())
    }

    #[test]
    fn entities_and_attributes_are_declared() {
        let mut declarations = read(
            "<!-- > --><?pi ]?><!ELEMENT a (#PCDATA)>\n<!ENTITY e 'x&#65;&f;'><!ENTITY f \"y\"><!ENTITY e 'later'>\
             <!NOTATION gif SYSTEM 'gif>'><!ENTITY pic SYSTEM 'pic.gif' NDATA gif><!ENTITY out SYSTEM 'file'>\
             <!ATTLIST a id ID #REQUIRED kind (one|two) 'two' list NMTOKENS ' a  b ' text CDATA #FIXED 'a\tb&f;'>",
        )
        .unwrap();
        assert_eq!(declarations.expand("e").unwrap(), "xAy");
        assert!(declarations.expand("out").unwrap_err().message().contains("outside"));
        assert!(declarations.expand("none").unwrap_err().message().contains("not declared"));
        let defaults = declarations.defaults("a").iter().map(|default| (&*default.name, &*default.value));
        let defaults: Vec<_> = defaults.collect();
        assert_eq!(defaults, [("kind", "two"), ("list", "a b"), ("text", "a by")]);
        assert!(declarations.is_identifier("a", "id") && declarations.is_tokens("a", "list"));
        assert!(!declarations.is_tokens("a", "text") && !declarations.is_identifier("b", "id"));
        assert_eq!(declarations.into_unparsed_entities(), [("pic".into(), "pic.gif".into())]);
    }

    #[test]
    fn loops_and_explosions_end_at_a_limit() {
        let mut loops = read("<!ENTITY a '&b;'><!ENTITY b '&a;'>").unwrap();
        assert_eq!(loops.expand("a").unwrap_err().kind(), ErrorKind::Budget);
        let mut laughs = String::from("<!ENTITY l0 'lollollollol'>");
        for level in 1..12 {
            let inner = format!("&l{};", level - 1).repeat(10);
            laughs.push_str(&format!("<!ENTITY l{level} '{inner}'>"));
        }
        // That nothing comes of them in the end makes them no less work.
        for laughs in [laughs.replace("lollollollol", ""), laughs] {
            let mut laughs = read(&laughs).unwrap();
            assert_eq!(laughs.expand("l11").unwrap_err().kind(), ErrorKind::Budget);
        }
    }

    #[test]
    fn what_is_no_declaration_is_refused_with_its_place() {
        for (subset, at) in [
            ("%p;", 0),
            ("<!ENTITY % p 'x'>", 9),
            ("<!ENTITY e>", 10),
            ("<!ENTITY e 'a&#0;'>", 11),
            ("<!ATTLIST a b>", 13),
            ("<!WHAT a>", 0),
            ("<!ELEMENT a 'x", 0),
        ] {
            let (place, message) = read(subset).unwrap_err();
            assert_eq!(place, "<!DOCTYPE a [".len() + at, "{subset}: {message}");
        }
    }
}
