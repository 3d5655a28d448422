//! The items of `$select` and `$expand` with their options, and `$search`.

use super::GrammarReader;
use crate::address::{Parsed, quoted};

impl GrammarReader<'_> {
    pub(super) fn selected(&mut self) -> Parsed<()> {
        if self.take("*") {
            return Ok(());
        }
        loop {
            match self.rest().starts_with('@') {
                true => self.term()?,
                false => self.qualified()?,
            }
            if self.take(".*") {
                return Ok(());
            }
            if !self.take("/") {
                break;
            }
            if self.take("*") {
                return Ok(());
            }
        }
        match self.take("(") {
            // Options, or the names of a function's parameters.
            true if self.rest().starts_with(['$', '@']) || self.names_an_option() => self.options(),
            true => {
                if !self.take_behind_spaces(")") {
                    self.list(GrammarReader::identifier)?;
                    self.need(")")?;
                }
                Ok(())
            }
            false => Ok(()),
        }
    }

    pub(super) fn expanded(&mut self) -> Parsed<()> {
        if self.take("$value") {
            return Ok(());
        }
        if self.take("*") {
            let _ = self.take("/$ref");
            return if self.take("(") { self.options() } else { Ok(()) };
        }
        loop {
            match self.rest().starts_with('@') {
                true => self.term()?,
                false => self.qualified()?,
            }
            if !self.take("/") {
                break;
            }
            if self.take("$ref") || self.take("$count") || self.take("*") {
                break;
            }
        }
        if self.take("(") { self.options() } else { Ok(()) }
    }

    /// An annotation, by the name of its term and perhaps a qualifier.
    fn term(&mut self) -> Parsed<()> {
        self.position += 1;
        self.qualified()?;
        if self.take("#") { self.identifier() } else { Ok(()) }
    }

    /// Whether a name and an equals sign follow.
    fn names_an_option(&self) -> bool {
        let behind = self.rest()[self.word().len()..].trim_start();
        !self.word().is_empty() && behind.starts_with('=')
    }

    /// Options between semicolons, and the parenthesis that closes them.
    pub(super) fn options(&mut self) -> Parsed<()> {
        self.nested(|reader| {
            loop {
                reader.space();
                if reader.take("@") {
                    reader.identifier()?;
                    reader.need("=")?;
                    reader.space();
                    reader.expression()?;
                } else {
                    reader.named_option()?;
                }
                if !reader.take_behind_spaces(";") {
                    return reader.need(")");
                }
            }
        })
    }

    fn named_option(&mut self) -> Parsed<()> {
        let at = self.position;
        let _ = self.take("$");
        let name = format!("${}", self.word().to_ascii_lowercase());
        self.position += name.len() - 1;
        let known = ["$filter", "$orderby", "$compute", "$apply", "$select", "$expand", "$search"];
        let plain = ["$levels", "$top", "$skip", "$count"];
        if !known.contains(&&*name) && !plain.contains(&&*name) {
            self.position = at;
            return Err(self.expected("an option such as $select=…"));
        }
        self.need("=")?;
        self.space();
        if self.option(&name)? {
            return Ok(());
        }
        let word = self.word();
        let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let right = match &*name {
            "$count" => word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("false"),
            "$levels" => digits || word.eq_ignore_ascii_case("max"),
            _ => digits,
        };
        match right {
            true => self.position += word.len(),
            false => return Err(self.expected(&format!("a value of {name}, found {}", quoted(word)))),
        }
        Ok(())
    }

    /// Words and phrases, up to what ends the option.
    pub(super) fn search(&mut self) -> Parsed<()> {
        if self.rest().starts_with('\'') {
            return self.quoted_string();
        }
        self.nested(|reader| {
            let mut terms = 0;
            loop {
                reader.space();
                match reader.rest().chars().next() {
                    Some('(') => {
                        reader.position += 1;
                        reader.search()?;
                        reader.need(")")?;
                    }
                    Some('"') => {
                        let end = reader.phrase();
                        reader.position += end.ok_or_else(|| reader.expected("a phrase that ends"))?;
                    }
                    Some(')' | ';') | None if terms > 0 => return Ok(()),
                    Some(')' | ';') | None => return Err(reader.expected("a word, a phrase or '('")),
                    Some(_) => {
                        let rest = reader.rest();
                        let ends =
                            |character: char| character.is_whitespace() || matches!(character, '(' | ')' | '"' | ';');
                        reader.position += rest.find(ends).unwrap_or(rest.len());
                    }
                }
                terms += 1;
            }
        })
    }

    /// The length of the phrase that follows.
    fn phrase(&self) -> Option<usize> {
        let mut bytes = self.rest().bytes().enumerate().skip(1);
        while let Some((offset, byte)) = bytes.next() {
            match byte {
                b'"' => return Some(offset + 1),
                b'\\' => drop(bytes.next()),
                _ => {}
            }
        }
        None
    }
}
