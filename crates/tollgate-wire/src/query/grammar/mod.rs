//! The grammar of V4's query options by itself (OASIS ABNF, OData 4.01 and Data Aggregation 4.0), without a model: whether
//! a text can be OData at all, and where it stops being it.
//!
//! The parsers beside it refuse valid text that is not built as soon as they meet it. Only then this grammar is asked,
//! so that a text that no service could read is a 400 and not a 501. It deliberately knows neither names nor types, and
//! builds no tree. The methods end where their part of the grammar ends; their callers look at the rest.

mod apply;
mod expression;
mod geo;
mod items;
#[cfg(test)]
mod tests;

use super::limits::NESTING_MAX;
use crate::address::{Fault, Parsed, Problem, quoted};

/// Whether the text of an option, decoded and by its name with `$`, follows the grammar. Options without one of their own
/// do.
///
/// # Errors
/// The expected text, with its place.
pub(crate) fn check(option: &str, text: &str) -> Parsed<()> {
    let mut reader = GrammarReader { text, position: 0, nesting: 0 };
    reader.space();
    if !reader.option(option)? {
        return Ok(());
    }
    reader.space();
    match reader.rest() {
        "" => Ok(()),
        rest => Err(reader.expected(&format!("an operator or the end, found {}", quoted(rest)))),
    }
}

/// A place in a text.
struct GrammarReader<'t> {
    text: &'t str,
    position: usize,
    nesting: usize,
}

impl<'t> GrammarReader<'t> {
    /// The value of an option; `false`, without moving, if it is none with a grammar of its own.
    fn option(&mut self, name: &str) -> Parsed<bool> {
        match name {
            "$filter" => self.expression()?,
            "$orderby" => self.orders()?,
            "$compute" => self.list(GrammarReader::computed)?,
            "$apply" => self.transformations()?,
            "$select" => self.list(GrammarReader::selected)?,
            "$expand" => self.list(GrammarReader::expanded)?,
            "$search" => self.search()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parts between commas.
    fn list(&mut self, part: fn(&mut Self) -> Parsed<()>) -> Parsed<()> {
        loop {
            self.space();
            part(self)?;
            if !self.take_behind_spaces(",") {
                return Ok(());
            }
        }
    }

    fn orders(&mut self) -> Parsed<()> {
        self.list(|reader| {
            reader.expression()?;
            let _ = reader.take_word("asc") || reader.take_word("desc");
            Ok(())
        })
    }

    fn computed(&mut self) -> Parsed<()> {
        self.expression()?;
        self.named()
    }

    /// `as Name`.
    fn named(&mut self) -> Parsed<()> {
        match self.take_word("as") {
            true => self.spaces().and_then(|()| self.identifier()),
            false => Err(self.expected("a name, as in 'as Total'")),
        }
    }

    /// Runs a part that costs stack.
    fn nested(&mut self, part: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if self.nesting == NESTING_MAX {
            let what = format!("nested more than {NESTING_MAX} deep");
            return Err(Problem::new(Fault::Limit, self.position, what));
        }
        self.nesting += 1;
        part(self)?;
        self.nesting -= 1;
        Ok(())
    }

    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    fn take(&mut self, text: &str) -> bool {
        let taken = self.rest().starts_with(text);
        self.position += if taken { text.len() } else { 0 };
        taken
    }

    fn need(&mut self, text: &str) -> Parsed<()> {
        self.space();
        match self.take(text) {
            true => Ok(()),
            false => Err(self.expected(&format!("'{text}'"))),
        }
    }

    /// Takes a text and the spaces before it, or nothing.
    fn take_behind_spaces(&mut self, text: &str) -> bool {
        let before = self.position;
        self.space();
        let taken = self.take(text);
        self.position = if taken { self.position } else { before };
        taken
    }

    /// Takes a word with spaces before it, in upper or lower case, or nothing.
    fn take_word(&mut self, word: &str) -> bool {
        let before = self.position;
        let taken = self.spaces().is_ok() && self.word().eq_ignore_ascii_case(word);
        self.position = if taken { self.position + word.len() } else { before };
        taken
    }

    /// The letters, digits and underscores that follow.
    fn word(&self) -> &'t str {
        let rest = self.rest();
        let is_name = |character: char| character.is_alphanumeric() || character == '_';
        &rest[..rest.find(|character| !is_name(character)).unwrap_or(rest.len())]
    }

    fn identifier(&mut self) -> Parsed<()> {
        let word = self.word();
        if word.is_empty() || word.starts_with(char::is_numeric) {
            return Err(self.expected("a name"));
        }
        if word.chars().count() > IDENTIFIER_CHARS_MAX {
            return Err(self.expected(&format!("a name of at most {IDENTIFIER_CHARS_MAX} characters")));
        }
        self.position += word.len();
        Ok(())
    }

    /// Names between dots.
    fn qualified(&mut self) -> Parsed<()> {
        self.identifier()?;
        while self.rest().starts_with('.') && !self.rest().starts_with(".*") {
            self.position += 1;
            self.identifier()?;
        }
        Ok(())
    }

    fn space(&mut self) {
        self.position += self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }

    /// Takes at least one space.
    fn spaces(&mut self) -> Parsed<()> {
        let before = self.position;
        self.space();
        match self.position > before {
            true => Ok(()),
            false if self.rest().is_empty() => Err(self.expected("more, found the end")),
            false => Err(self.expected("a space")),
        }
    }

    fn expected(&self, what: &str) -> Box<Problem> {
        Problem::syntax(self.position, format!("expected {what}"))
    }
}

/// Characters of a name (`odataIdentifier` of the ABNF).
const IDENTIFIER_CHARS_MAX: usize = 128;
