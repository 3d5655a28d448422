//! The attributes of one start tag: found, checked and normalized (XML 1.0, section 3.3.3), not yet resolved.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use super::doctype::DefaultValue;
use super::{Parse, doctype, reference};
use crate::budget::exceeded;
use crate::characters::{Bracket, first_forbidden, is_space, split_name};
use crate::error::Error;
use crate::names::Name;
use crate::tree::Value;

/// One attribute, or the declaration of a namespace.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    /// The place of its name. For a default of the document type: the begin of the tag.
    pub(super) name: Range<usize>,
    /// The prefix's length, its colon included.
    prefix_length: usize,
    /// The name of a default, which is in no tag.
    default_name: Option<Rc<str>>,
    pub(super) value: Value,
    /// Its expanded name; absent of declarations of namespaces.
    pub(super) resolved: Option<Name>,
}

impl Attribute {
    /// The name as written.
    pub(super) fn written<'a>(&'a self, source: &'a str) -> &'a str {
        self.default_name.as_deref().unwrap_or_else(|| &source[self.name.clone()])
    }

    pub(super) fn prefix<'a>(&'a self, source: &'a str) -> &'a str {
        &self.written(source)[..self.prefix_length.saturating_sub(1)]
    }

    pub(super) fn local<'a>(&'a self, source: &'a str) -> &'a str {
        &self.written(source)[self.prefix_length..]
    }

    pub(super) fn value<'a>(&'a self, source: &'a str, beside: &'a str) -> &'a str {
        match &self.value {
            Value::Source(span) => &source[span.clone()],
            Value::Beside(span) => &beside[span.clone()],
        }
    }
}

/// An attribute as written in a tag.
pub(super) struct Written {
    pub(super) name: Range<usize>,
    /// The prefix's length, its colon included.
    pub(super) prefix_length: usize,
    /// The text between its quotes.
    pub(super) value: Range<usize>,
}

impl Written {
    /// The first attribute in `span` of a text, which begins behind a name or a value.
    ///
    /// # Errors
    /// There is none, with the reason.
    pub(super) fn next(source: &str, span: Range<usize>) -> Result<Option<Written>, (usize, String)> {
        let bytes = source.as_bytes();
        let blank = |mut at: usize| {
            while at < span.end && is_space(bytes[at]) {
                at += 1;
            }
            at
        };
        let name_start = blank(span.start);
        if name_start == span.end {
            return Ok(None);
        }
        if name_start == span.start {
            return Err((name_start, "white space was expected before an attribute".to_owned()));
        }
        let mut at = name_start;
        while at < span.end && !is_space(bytes[at]) && bytes[at] != b'=' {
            at += 1;
        }
        let name = name_start..at;
        let written = &source[name.clone()];
        let Some((prefix, _)) = split_name(written) else {
            return Err((name_start, format!("`{written}` is no name of an attribute")));
        };
        let prefix_length = if prefix.is_empty() { 0 } else { prefix.len() + 1 };
        at = blank(at);
        if at == span.end || bytes[at] != b'=' {
            return Err((name_start, format!("attribute `{written}` has no value")));
        }
        at = blank(at + 1);
        let quote = if at < span.end { bytes[at] } else { 0 };
        if !matches!(quote, b'"' | b'\'') {
            return Err((at, format!("the value of `{written}` stands in no quotes")));
        }
        let start = at + 1;
        match memchr::memchr(quote, &bytes[start..span.end]) {
            Some(length) => Ok(Some(Written { name, prefix_length, value: start..start + length })),
            None => Err((at, format!("the value of `{written}` is not closed"))),
        }
    }
}

impl<'s> Parse<'s, '_> {
    /// Finds the attributes in `span`, which begins behind the element's name.
    pub(super) fn read_attributes(&mut self, span: Range<usize>, found: &mut Vec<Attribute>) -> Result<(), Error> {
        let mut at = span.start;
        let element = if self.declarations.is_some() { self.element_name(span.start) } else { "" };
        while let Some(next) =
            Written::next(self.source, at..span.end).map_err(|(at, message)| self.wrong(at, message))?
        {
            if found.len() >= self.budget.attributes_max {
                let error = exceeded("attributes of an element", self.budget.attributes_max as u64);
                return Err(self.too_much(next.name.start, &error));
            }
            let Written { name, prefix_length, value } = next;
            at = value.end + 1;
            let is_tokens = match &self.declarations {
                Some(declarations) => declarations.is_tokens(element, &self.source[name.clone()]),
                None => false,
            };
            let value = self.value(value, is_tokens)?;
            found.push(Attribute { name, prefix_length, default_name: None, value, resolved: None });
        }
        Ok(())
    }

    /// The name of the element whose attributes begin at `end`.
    fn element_name(&self, end: usize) -> &'s str {
        let start = self.source[..end].rfind('<').map_or(0, |open| open + 1);
        &self.source[start..end]
    }

    /// An attribute's value: line ends and white space become spaces, references are resolved.
    fn value(&mut self, span: Range<usize>, is_tokens: bool) -> Result<Value, Error> {
        let raw = &self.source[span.clone()];
        if raw.len() > self.budget.text_bytes_max {
            let error = exceeded("bytes of a value", self.budget.text_bytes_max as u64);
            return Err(self.too_much(span.start, &error));
        }
        let is_plain = !raw.bytes().any(|byte| matches!(byte, b'&' | b'<' | b'\t' | b'\n' | b'\r'));
        if let Some(at) = first_forbidden(raw, Bracket::Harmless) {
            return Err(self.forbidden(span.start + at));
        }
        if is_plain && !is_tokens {
            return Ok(Value::Source(span));
        }
        let mut text = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'&' | b'<' | b'\t' | b'\n' | b'\r')) {
            let place = span.end - rest.len() + at;
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            match rest.as_bytes()[0] {
                b'<' => return Err(self.wrong(place, "`<` in a value: write `&lt;`")),
                b'&' => {
                    let Some(end) = memchr::memchr(b';', rest.as_bytes()) else {
                        return Err(self.wrong(place, "`&` that begins no reference"));
                    };
                    let name = &rest[1..end];
                    match reference::predefined(name).map_err(|message| self.wrong(place, message))? {
                        Some(character) => text.push(character),
                        None => {
                            let entity = self.entity(name, place)?;
                            self.builder.departs_from_source();
                            text.extend(entity.chars().map(|character| match character {
                                '\t' | '\n' | '\r' => ' ',
                                other => other,
                            }));
                        }
                    }
                    rest = &rest[end + 1..];
                }
                b'\r' if rest.as_bytes().get(1) == Some(&b'\n') => {
                    text.push(' ');
                    rest = &rest[2..];
                }
                _ => {
                    text.push(' ');
                    rest = &rest[1..];
                }
            }
        }
        text.push_str(rest);
        if is_tokens {
            text = doctype::tokens(&text);
        }
        if text.len() > self.budget.text_bytes_max {
            let error = exceeded("bytes of a value", self.budget.text_bytes_max as u64);
            return Err(self.too_much(span.start, &error));
        }
        Ok(self.store(&text))
    }

    fn store(&mut self, text: &str) -> Value {
        let beside = self.builder.beside();
        let start = beside.len();
        beside.push_str(text);
        Value::Beside(start..beside.len())
    }

    /// Adds what the document type says an element has where its tag does not.
    pub(super) fn add_defaults(&mut self, element: &str, found: &mut Vec<Attribute>, at: usize) -> Result<(), Error> {
        let Some(mut declarations) = self.declarations.take() else { return Ok(()) };
        let outcome = self.add_missing(declarations.defaults(element), element, found, at);
        self.declarations = Some(declarations);
        outcome
    }

    fn add_missing(
        &mut self,
        defaults: &mut [DefaultValue],
        element: &str,
        found: &mut Vec<Attribute>,
        at: usize,
    ) -> Result<(), Error> {
        if defaults.is_empty() {
            return Ok(());
        }
        let source = self.source;
        let stated: HashSet<&str> = found.iter().map(|attribute| &source[attribute.name.clone()]).collect();
        let missing: Vec<&mut DefaultValue> =
            defaults.iter_mut().filter(|default| !stated.contains(&*default.name)).collect();
        for default in missing {
            if found.len() >= self.budget.attributes_max {
                let error = exceeded("attributes of an element", self.budget.attributes_max as u64);
                return Err(self.too_much(at, &error));
            }
            let name = Rc::clone(&default.name);
            let Some((prefix, _)) = split_name(&name) else {
                return Err(self.wrong(at, format!("the document type gives `{element}` an attribute `{name}`")));
            };
            let prefix_length = if prefix.is_empty() { 0 } else { prefix.len() + 1 };
            // All elements share the one text.
            let span = match &default.stored {
                Some(span) => span.clone(),
                None => {
                    let beside = self.builder.beside();
                    let start = beside.len();
                    beside.push_str(&default.value);
                    default.stored.insert(start..beside.len()).clone()
                }
            };
            self.builder.departs_from_source();
            found.push(Attribute {
                name: at..at,
                prefix_length,
                default_name: Some(name),
                value: Value::Beside(span),
                resolved: None,
            });
        }
        Ok(())
    }
}
