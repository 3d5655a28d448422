//! The scope of an expression: variables of its template and of the stylesheet, prefixes, functions.

use std::cell::Cell;

use super::{Compiler, SourceNode};
use crate::error::{Error, ErrorKind};
use crate::names::number;
use crate::tree::Document;
use crate::xpath::expression::Expression;
use crate::xpath::{Foreign, StaticContext, parser};
use crate::xslt::functions;
use crate::xslt::pattern::Pattern;
use crate::xslt::program::{ExpandedName, GLOBAL, Part, ValueTemplate};

/// The variables of a template while its body is compiled.
#[derive(Debug, Clone)]
pub(super) struct BodyScope {
    variables: Vec<(ExpandedName, u32)>,
    next_slot: u32,
    pub(super) slots_max: u32,
    /// Whether unknown elements may be from a later version (section 2.5).
    pub(super) forwards: bool,
}

/// The end of a body's variables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(usize, u32);

impl BodyScope {
    pub(super) fn new(forwards: bool) -> BodyScope {
        BodyScope { variables: Vec::new(), next_slot: 0, slots_max: 0, forwards }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.variables.len(), self.next_slot)
    }

    /// Ends the variables of an element.
    pub(super) fn reset(&mut self, mark: Mark) {
        self.variables.truncate(mark.0);
        self.next_slot = mark.1;
    }

    /// Whether a variable of this name is visible already; another must not hide it (section 11.5).
    pub(super) fn has(&self, name: &ExpandedName) -> bool {
        self.variables.iter().any(|(known, _)| known == name)
    }

    pub(super) fn declare(&mut self, name: ExpandedName) -> u32 {
        let slot = self.next_slot;
        self.variables.push((name, slot));
        self.next_slot += 1;
        self.slots_max = self.slots_max.max(self.next_slot);
        slot
    }
}

/// The context in which one expression is compiled.
struct ExpressionScope<'c> {
    document: &'c Document<'static>,
    place: SourceNode,
    variables: &'c [(ExpandedName, u32)],
    globals: &'c std::collections::HashMap<ExpandedName, (u32, u32)>,
    scope: u32,
    /// The number that a function gets that is looked for only when it is called.
    unknown: u32,
    meets_unknown: Cell<bool>,
}

impl StaticContext for ExpressionScope<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.document.lookup(self.place.node, prefix)
    }

    fn variable(&self, uri: &str, local: &str) -> Option<u32> {
        let is_name = |name: &ExpandedName| *name.1 == *local && *name.0 == *uri;
        let own = self.variables.iter().rev().find(|(name, _)| is_name(name)).map(|(_, slot)| *slot);
        own.or_else(|| self.globals.get(&(uri.into(), local.into())).map(|(slot, _)| slot | GLOBAL))
    }

    fn function(&self, uri: &str, local: &str, arguments: usize) -> Foreign {
        match functions::named(uri, local, arguments) {
            Foreign::Known(function) => Foreign::Known(functions::in_scope(function, self.scope)),
            // An extension function is looked for when it is called (section 14.2).
            Foreign::Unknown if !uri.is_empty() => {
                self.meets_unknown.set(true);
                Foreign::Known(self.unknown)
            }
            other => other,
        }
    }
}

impl Compiler<'_> {
    /// Compiles the expression in an attribute.
    pub(super) fn expression(
        &mut self,
        place: SourceNode,
        attribute: &str,
        text: &str,
        scope: &BodyScope,
    ) -> Result<Expression, Error> {
        let offset = self.attribute_offset(place, attribute);
        self.expression_at(place, text, offset, scope)
    }

    /// Compiles an expression `offset` bytes behind the beginning of the module.
    fn expression_at(
        &mut self,
        place: SourceNode,
        text: &str,
        offset: Option<usize>,
        scope: &BodyScope,
    ) -> Result<Expression, Error> {
        match self.parsed(place, text, &scope.variables) {
            Ok(expression) => Ok(expression),
            Err(error) => {
                let error = self.moved(&error, place, offset);
                if scope.forwards {
                    return Ok(Expression::Foreign(self.deferred(error), Vec::new()));
                }
                Err(error)
            }
        }
    }

    fn parsed(
        &mut self,
        place: SourceNode,
        text: &str,
        variables: &[(ExpandedName, u32)],
    ) -> Result<Expression, Error> {
        let scope = self.scope_number(place);
        let mut names = std::mem::take(&mut self.program.names);
        let context = ExpressionScope {
            document: self.document(place),
            place,
            variables,
            globals: &self.globals,
            scope,
            unknown: functions::DEFERRED | number(self.program.deferred.len()),
            meets_unknown: Cell::new(false),
        };
        let parsed = parser::parse(text, &context, &mut names);
        let meets_unknown = context.meets_unknown.get();
        self.program.names = names;
        if meets_unknown {
            let message = format!("a function in `{text}` is not known here");
            let error = Error::new(ErrorKind::Dynamic, message);
            self.program.deferred.push(self.program.located(error, self.spot(place)));
        }
        parsed
    }

    /// Keeps an error that is only raised on evaluation, and returns its number.
    pub(super) fn deferred(&mut self, error: Error) -> u32 {
        self.program.deferred.push(error);
        functions::DEFERRED | number(self.program.deferred.len() - 1)
    }

    /// An error of an expression at its place in the stylesheet.
    fn moved(&self, error: &Error, place: SourceNode, offset: Option<usize>) -> Error {
        let within = error.position().map_or(0, |position| position.offset);
        let module = &self.program.modules[place.module as usize];
        let offset = match offset {
            Some(offset) => offset + within,
            // The value does not stand in the source as it is: the element is near enough.
            None => self.spot(place).offset as usize,
        };
        Error::new(error.kind(), error.message()).or_at(&module.name, &module.text, offset)
    }

    /// Compiles a pattern in an attribute.
    pub(super) fn pattern(&mut self, place: SourceNode, attribute: &str, text: &str) -> Result<Pattern, Error> {
        let offset = self.attribute_offset(place, attribute);
        let parsed = self.parsed(place, text, &[]).and_then(Pattern::of);
        parsed.map_err(|error| self.moved(&error, place, offset))
    }

    /// Compiles a pattern that is not in an attribute.
    pub(super) fn pattern_text(&mut self, text: &str, place: SourceNode) -> Result<Pattern, Error> {
        self.parsed(place, text, &[]).and_then(Pattern::of).map_err(|error| self.moved(&error, place, None))
    }

    /// Compiles an attribute value template.
    pub(super) fn value_template(
        &mut self,
        place: SourceNode,
        text: &str,
        offset: Option<usize>,
        scope: &BodyScope,
    ) -> Result<ValueTemplate, Error> {
        if !text.contains(['{', '}']) {
            return Ok(ValueTemplate::Fixed(text.into()));
        }
        let mut parts = Vec::new();
        let mut fixed = String::new();
        let mut at = 0;
        let bytes = text.as_bytes();
        while at < bytes.len() {
            match bytes[at] {
                brace @ (b'{' | b'}') if bytes.get(at + 1) == Some(&brace) => {
                    fixed.push(char::from(brace));
                    at += 2;
                }
                b'{' => {
                    let Some(end) = expression_end(text, at + 1) else {
                        return Err(self.wrong_at(place, offset, at, "`{` is not closed"));
                    };
                    if !fixed.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut fixed).into()));
                    }
                    let inside = offset.map(|offset| offset + at + 1);
                    parts.push(Part::Value(self.expression_at(place, &text[at + 1..end], inside, scope)?));
                    at = end + 1;
                }
                b'}' => return Err(self.wrong_at(place, offset, at, "`}` closes nothing: write `}}`")),
                _ => {
                    let end = text[at..].find(['{', '}']).map_or(text.len(), |end| at + end);
                    fixed.push_str(&text[at..end]);
                    at = end;
                }
            }
        }
        if parts.is_empty() {
            return Ok(ValueTemplate::Fixed(fixed.into()));
        }
        if !fixed.is_empty() {
            parts.push(Part::Text(fixed.into()));
        }
        Ok(ValueTemplate::Parts(parts))
    }

    fn wrong_at(&self, place: SourceNode, offset: Option<usize>, at: usize, message: &str) -> Error {
        let error = Error::new(ErrorKind::Static, message);
        self.moved(&error, place, offset.map(|offset| offset + at))
    }
}

/// The end of the expression that begins at `start`: braces in its texts do not count.
fn expression_end(text: &str, start: usize) -> Option<usize> {
    let mut quote = None;
    for (index, byte) in text.bytes().enumerate().skip(start) {
        match (quote, byte) {
            (None, b'}') => return Some(index),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}
