//! `commonExpr`: operands between operators, paths, calls, literals, and values in the form of JSON.

use super::GrammarReader;
use crate::address::{Parsed, read_literal};
use crate::edm::Version;

/// Binary operators except `in`, which may be followed by a list.
const OPERATORS: &[&str] =
    &["or", "and", "eq", "ne", "gt", "ge", "lt", "le", "add", "sub", "mul", "div", "divby", "mod", "has"];

impl GrammarReader<'_> {
    pub(super) fn expression(&mut self) -> Parsed<()> {
        self.nested(GrammarReader::operands)
    }

    fn operands(&mut self) -> Parsed<()> {
        self.operand()?;
        loop {
            let before = self.position;
            self.space();
            let at = self.position;
            let word = self.word();
            let is_in = word.eq_ignore_ascii_case("in");
            if !is_in && !OPERATORS.iter().any(|operator| operator.eq_ignore_ascii_case(word)) {
                self.position = before;
                return Ok(());
            }
            if at == before {
                return Err(self.expected("a space before the operator"));
            }
            self.position += word.len();
            self.spaces()?;
            match is_in && self.rest().starts_with('(') {
                true => {
                    self.position += 1;
                    self.list(GrammarReader::expression)?;
                    self.need(")")?;
                }
                false => self.operand()?,
            }
        }
    }

    fn operand(&mut self) -> Parsed<()> {
        let word = self.word();
        if word.eq_ignore_ascii_case("not") && self.rest()[word.len()..].starts_with([' ', '\t', '(']) {
            self.position += word.len();
            self.space();
            return self.nested(GrammarReader::operand);
        }
        match self.rest().chars().next() {
            None => Err(self.expected("a property, a literal or a function, found the end")),
            Some('(') => {
                self.position += 1;
                self.space();
                self.expression()?;
                self.need(")")
            }
            Some('[' | '{') => self.nested(GrammarReader::json),
            Some('@') => {
                self.annotation()?;
                self.path_behind()
            }
            Some('$') => {
                self.position += 1;
                match self.word() {
                    "it" | "this" | "root" | "these" | "count" | "all" => self.position += self.word().len(),
                    _ => return Err(self.expected("it, this or root behind '$'")),
                }
                self.path_behind()
            }
            Some('-') if !self.rest()[1..].starts_with(|next: char| next.is_ascii_digit() || next == 'I') => {
                self.position += 1;
                self.space();
                self.nested(GrammarReader::operand)
            }
            Some(_) => self.literal_or_path(),
        }
    }

    fn literal_or_path(&mut self) -> Parsed<()> {
        let at = self.position;
        let is_path = |name: &str| name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        let word = self.word();
        if is_path(word) {
            let qualified = self.qualified();
            if qualified.is_ok() && self.rest().starts_with('\'') {
                return self.prefixed(at);
            }
            self.position = at;
        }
        // The years that no store can compare, and what else the grammar has and the values refuse, are no matter of
        // grammar.
        match read_literal(Version::V4, self.text, at) {
            Ok(Some((_, end))) => {
                self.position = end;
                Ok(())
            }
            Ok(None) if is_path(word) => self.segment().and_then(|()| self.path_behind()),
            Ok(None) => Err(self.expected("a property, a literal or a function")),
            Err(problem) => Err(problem),
        }
    }

    /// A quoted literal behind the name of its type; the reader is before its quote.
    fn prefixed(&mut self, at: usize) -> Parsed<()> {
        let name = &self.text[at..self.position];
        if name.eq_ignore_ascii_case("geography") || name.eq_ignore_ascii_case("geometry") {
            return self.geo();
        }
        if !name.contains('.') {
            self.position = match read_literal(Version::V4, self.text, at)? {
                Some((_, end)) => end,
                None => return Err(self.expected("a literal")),
            };
            return Ok(());
        }
        self.position += 1;
        // Members by name or number between commas.
        loop {
            self.space();
            let sign = self.take("-") || self.take("+");
            let word = self.word();
            if sign && !word.starts_with(|first: char| first.is_ascii_digit()) || word.is_empty() {
                return Err(self.expected("a member of an enumeration"));
            }
            self.position += word.len();
            if !self.take_behind_spaces(",") {
                return self.need("'");
            }
        }
    }

    /// A string between quotes, in which two mean one.
    pub(super) fn quoted_string(&mut self) -> Parsed<()> {
        match read_literal(Version::V4, self.text, self.position)? {
            Some((_, end)) => {
                self.position = end;
                Ok(())
            }
            None => Err(self.expected("a string")),
        }
    }

    /// Reads all path segments that follow, each behind a slash.
    pub(super) fn path_behind(&mut self) -> Parsed<()> {
        while self.take("/") {
            match self.rest().chars().next() {
                Some('@') => self.annotation()?,
                Some('$') => {
                    self.position += 1;
                    let word = self.word();
                    match word {
                        "count" | "filter" => self.position += word.len(),
                        _ => return Err(self.expected("count or filter behind '$'")),
                    }
                    if word == "filter" {
                        self.need("(")?;
                        self.space();
                        self.expression()?;
                        self.need(")")?;
                    } else if self.take("(") {
                        self.options()?;
                    }
                }
                _ => self.segment()?,
            }
        }
        Ok(())
    }

    /// A name, with arguments or a key where a parenthesis follows.
    fn segment(&mut self) -> Parsed<()> {
        let at = self.position;
        self.qualified()?;
        let name = &self.text[at..self.position];
        if !self.take("(") {
            return Ok(());
        }
        self.space();
        match name {
            _ if name.eq_ignore_ascii_case("any") || name.eq_ignore_ascii_case("all") => {
                let everywhere = name.eq_ignore_ascii_case("any") && self.rest().starts_with(')');
                if !everywhere {
                    self.identifier()?;
                    self.need(":")?;
                    self.space();
                    self.expression()?;
                }
                self.need(")")
            }
            _ if name.eq_ignore_ascii_case("case") => {
                self.list(|reader| {
                    reader.expression()?;
                    reader.need(":")?;
                    reader.space();
                    reader.expression()
                })?;
                self.need(")")
            }
            "aggregate" => {
                self.aggregates()?;
                self.need(")")
            }
            _ if !name.starts_with("rollup") && self.take(")") => Ok(()),
            _ => {
                self.list(GrammarReader::argument)?;
                self.need(")")
            }
        }
    }

    /// A value, or one behind the name of its parameter. `keep start` ends the hierarchical functions of aggregation.
    fn argument(&mut self) -> Parsed<()> {
        let at = self.position;
        if self.identifier().is_ok() && self.take_behind_spaces("=") {
            self.space();
        } else {
            self.position = at;
        }
        self.expression()?;
        let _ = &self.text[at..self.position] == "keep" && self.take_word("start");
        Ok(())
    }

    /// `@Name`: an alias, or an annotation with its qualifier.
    fn annotation(&mut self) -> Parsed<()> {
        self.position += 1;
        self.qualified()?;
        if self.take("#") { self.identifier() } else { Ok(()) }
    }

    /// An array or an object, which may contain expressions.
    fn json(&mut self) -> Parsed<()> {
        let (end, is_object) = if self.take("{") { ("}", true) } else { ("]", !self.take("[")) };
        self.space();
        if self.take(end) {
            return Ok(());
        }
        loop {
            self.space();
            if is_object {
                self.json_string()?;
                self.need(":")?;
                self.space();
            }
            match self.rest().starts_with('"') {
                true => self.json_string()?,
                false => self.expression()?,
            }
            if !self.take_behind_spaces(",") {
                return self.need(end);
            }
        }
    }

    fn json_string(&mut self) -> Parsed<()> {
        let at = self.position;
        let mut bytes = self.rest().bytes().enumerate();
        if !matches!(bytes.next(), Some((_, b'"'))) {
            return Err(self.expected("a string between quotation marks"));
        }
        while let Some((offset, byte)) = bytes.next() {
            match byte {
                b'"' => {
                    self.position = at + offset + 1;
                    return Ok(());
                }
                b'\\' => drop(bytes.next()),
                _ => {}
            }
        }
        Err(self.expected("a string that ends"))
    }
}
